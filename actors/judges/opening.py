"""Judges that are not loaded yet: what makes their verdicts, and how each kind is loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from actors.chat.model import CallContext
from actors.chat.opening import Asking
from actors.judges.kinds import kind_of, with_kind
from actors.python_class import actor_of
from longform.chat.asking import Asks
from longform.chat.call import ChatRequest
from longform.judges.cards import Version
from longform.judges.kind import Group, Verdicts
from longform.settings.judges import JudgeSettings


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

    def requests(self, groups: Sequence[Group]) -> list[ChatRequest]:
        """Make the first requests for all pairs."""
        ...


class About(NamedTuple):
    """
    A served judge's description of itself.

    Attributes:
        version: Changes with all that can change its answers; None: the server states none.
        card: The judge's card in one line; None: it has none.
        card_reason: The reason for a missing card.
    """

    version: str | None
    card: str | None
    card_reason: str | None


class Judge(ABC):
    """
    A judge that is not loaded yet, one class a kind.

    Attributes:
        name: The judge's name in the configuration, for messages.
        settings: The judge's entry in the configuration.
        kind: The kind of answers that it gives.
        version: The prompts, model and code that its verdicts depend on.

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
    def about(cls, _name: str, _settings: Any, /) -> About | None:
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
