"""Judges that are not loaded yet: their kinds by name, what makes their verdicts, how each is loaded, their cards."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ParamSpec, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from actors.chat.model import CallContext
from actors.chat.opening import Asking
from actors.python_class import actor_of, named_value, user_code, version_of, wrong
from actors.storage.folder import file_place
from longform.chat.asking import Asks
from longform.errors import UsageError
from longform.given import Share, Text
from longform.judges.card_columns import Card
from longform.judges.cards import Version, read_card
from longform.judges.kind import Group, Kind, Verdicts
from longform.keys import content_key
from longform.records import TARGET_KINDS
from longform.settings.judge import LISTED
from longform.settings.judges import JudgeSettings

P = ParamSpec("P")
R = TypeVar("R")
_COUNTS = TypeAdapter[Mapping[str, float]](Mapping[Text, Share])


def kind_of(settings: JudgeSettings) -> Kind:
    """Return the kind of a judge, as `named_kind` says; a user's is tried with numbers and the judge's bounds."""
    kind = named_kind(settings.task, folder=settings.folder)
    if settings.task not in LISTED and settings.bounds:
        for tenths in range(11):
            kind.decide(tenths / 10, settings.bounds)
    return kind


def named_kind(path: str, *, folder: str | None) -> Kind:
    """
    Return the kind of a task, or of a user at an import path, whose module is looked for in *folder* first.

    Raises:
        UsageError: There is no such task, or the kind of a user cannot be loaded, is none, or has a field
            that no judge could work with.
    """
    found = named_value(path, LISTED, Kind, asked="task", folder=folder)
    if path in LISTED:
        return found
    _check_kind(path, found)
    guarded: dict[str, Any] = {
        name: _guarded(path, getattr(found, name), name) for name in ("unit", "show", "settle", "read")
    }
    return replace(found, task=path, decide=_deciding(path, found), **guarded)


def _check_kind(path: str, kind: Kind) -> None:
    """Refuse fields of a user's kind that no judge could work with."""
    wanted = {
        "targets: expected insight, key_point or reference; documents are judged by task support": (
            kind.targets,
            kind.targets in TARGET_KINDS,
        ),
        "shared: expected summary": (kind.shared, kind.shared == "summary"),
        "counts: expected a mapping from answers, which are texts, to numbers from 0 to 1": (
            kind.counts,
            _are_counts(kind.counts),
        ),
    }
    for expected, (value, is_met) in wanted.items():
        if not is_met:
            raise UsageError(f"{path}: {expected}, found {value!r}")


def _are_counts(counts: object) -> bool:
    with suppress(ValidationError):
        return bool(_COUNTS.validate_python(counts))
    return False


def _deciding(path: str, kind: Kind) -> Callable[[float, Sequence[float]], str]:
    """Return its `decide`, whose answers are those of its counts."""
    decide = _guarded(path, kind.decide, "decide")

    def decided(number: float, bounds: Sequence[float]) -> str:
        answer = decide(number, bounds)
        if not isinstance(answer, str) or answer not in kind.counts:
            raise wrong(path, "decide", f"one of {', '.join(kind.counts)} for {number} and bounds {bounds}", answer)
        return answer

    return decided


def with_kind(version: Version, settings: JudgeSettings) -> Version:
    """Return the version of what makes a judge's verdicts, its kind included if that is a user's."""
    if settings.task in LISTED:
        return version
    return version._replace(work=content_key(version.work, version_of(settings.task, folder=settings.folder)))


def _guarded(path: str, function: Callable[P, R], name: str) -> Callable[P, R]:
    """Return the same function; its errors name the user's file."""

    def call(*given: P.args, **named: P.kwargs) -> R:
        with user_code(path, name):
            return function(*given, **named)

    return call


# ---------------------------------------------------------------- judges


class JudgeBackend(Protocol):
    """A judge of one kind, loaded."""

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items). A pair that cannot be judged has no answer, and says why."""
        ...


class Asker(JudgeBackend, Protocol):
    """A judge that asks a chat model."""

    def plan(self, groups: Sequence[Group]) -> Asks[Verdicts]:
        """Return the plan that asks about all pairs."""
        ...


Described = dict[str, str | None]
"""
A served judge by itself: `version`, which changes with all that can change its answers (null: its server states none),
its `card` in one line (null: it has none), and the `card_reason` for a missing one.
"""


class Judge(ABC):
    """
    A judge that is not loaded yet, one class a kind.

    Its `version` stands for the prompts, model and code that its verdicts depend on.

    Raises:
        UsageError: A prompt, a class or a checkpoint is missing.
    """

    def __init__(self, name: str, judges: Mapping[str, JudgeSettings], prompts: str | None) -> None:
        self.name, self.settings, self.prompts = name, judges[name], prompts
        self.kind = kind_of(self.settings)
        self.members = [make_judge(member, judges, prompts=prompts) for member in self.settings.members]
        self.version = with_kind(self._version(), self.settings)

    @classmethod
    def check(cls, _settings: Any, /) -> None:
        """Find the weights that it reads, before anything is paid for; UsageError says how to name one's own."""
        return

    @classmethod
    def about(cls, _name: str, _settings: Any, /) -> Described | None:
        """
        Ask the server that judges who answers; None: no server judges.

        Raises:
            UsageError: The token is unset, this cluster serves no such judge, or the server serves others only.
            LongformError: Nobody answers, or the token is refused.
        """
        return None

    @abstractmethod
    def _version(self) -> Version: ...

    @abstractmethod
    def open(self, context: CallContext, threads: int, /) -> JudgeBackend:
        """Load it: on whose behalf a chat model is called, and the threads of a local model."""

    def asking(self, asking: Asking, /) -> Asker:
        """Make it ask a model that is given."""
        raise NotImplementedError(f"judge {self.name!r} asks no model")


def make_judge(name: str, judges: Mapping[str, JudgeSettings], *, prompts: str | None = None) -> Judge:
    """
    Return the judge *name* of *judges*, among which are those that a mean names; nothing is loaded.

    Files of a folder of *prompts* replace ours of the same name.

    Raises:
        UsageError: A prompt or a checkpoint is missing.
    """
    return actor_of(judges[name], Judge)(name, judges, prompts)


# ---------------------------------------------------------------- their cards, as files


def card_of_file(url: str, task: str, *, expected: str) -> Card:
    """
    Read the card of a judge of *task* from a file, a path or `s3://` URL; *expected* says what it should be, for
    messages.

    Raises:
        UsageError: The file is no card, or one of another task.
    """
    folder, name = file_place(url)
    try:
        return read_card(folder.read_bytes(name), task)
    except (OSError, ValueError) as error:
        raise UsageError(f"{url}: expected {expected}: {error}") from error


def write_card(card: Card, out: str) -> None:
    folder, name = file_place(out)
    folder.write_bytes(name, card_bytes(card))


def card_bytes(card: Card) -> bytes:
    return (json.dumps(card, indent=1, allow_nan=False) + "\n").encode()
