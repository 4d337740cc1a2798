"""
The type of every kind of synthesis: its settings, its steps, the plans that carry them out, and what comes of them.

A recipe is a value without I/O. A command (`longform synthesize-models`) carries out its works step by step, keeps a
piece for each, and writes the benchmark that the pieces come to. `jobs.synthesis.model_synthesis` lists the kinds.
"""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from longform.errors import UsageError
from longform.formats.rows import HaystackRows
from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict
from longform.synthesis.asking import Attempt, Form, Log, Plan, Role
from longform.tables.table import Column, Table

Read = Callable[[str], bytes]
"""Reads the file at a path or URL; raises UsageError if that cannot be done."""


def unpacked(name: str, read: Read) -> bytes:
    """
    Return the content of a file, gzipped or not.

    Raises:
        UsageError: It cannot be read or unpacked.
    """
    content = read(name)
    try:
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (OSError, EOFError) as error:
        raise UsageError(f"{name}: expected a gzipped file: {error}") from error


Embed = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""(model, texts) -> unit vectors, shape (texts, dimensions)."""


class SynthesisSettings(Protocol):
    """A configuration of any kind of synthesis."""

    @property
    def seed(self) -> int: ...

    @property
    def prompts(self) -> str | None:
        """The folder whose files replace our prompts of the same name."""
        ...

    @property
    def chats(self) -> Mapping[Role, ChatSettings]:
        """The model of each role; nobody is asked in a role that is not there."""
        ...

    def model_dump(self, *, mode: str) -> dict[str, Any]: ...


class Step(NamedTuple):
    """A step of a synthesis; its works do not depend on each other."""

    name: str  # as progress and the ledger have it
    unit: str  # things that it makes, in the plural


class Work(NamedTuple):
    """A plan that is to be carried out."""

    key: str  # a hash of everything that decides the piece
    haystack_id: str
    payload: JsonValue  # the input of the plan, besides the recipe and the pieces that it needs
    needs: tuple[str, ...] = ()  # keys of pieces of earlier steps
    doc_index: int | None = None  # the document that the plan writes; None: another thing
    group: str = ""  # prompts of one group are about as long


class Piece(NamedTuple):
    """The value that a plan came to, with its verdicts."""

    haystack_id: str
    doc_index: int | None
    content: Any
    attempts: Sequence[Attempt]


Pieces = Mapping[str, Piece]
"""Key of a work -> its piece."""


class Job(NamedTuple):
    """A work as its plan is given it, with the contents of the pieces that it needs, in their order."""

    step: str
    payload: Any
    needed: Sequence[Any]
    embed: Embed


class PlannedCalls(NamedTuple):
    """
    Bounds on the calls of a step to one prompt, for works of one group.

    Lowest: every first attempt is accepted. Highest: every loop goes round to its cap, and every reply has to be asked
    for up to its cap. What is given up saves calls of later steps; neither number knows of that.
    """

    step: str
    prompt: str
    does: str  # the purpose of the calls, in words
    role: Role
    lowest: int
    highest: int
    cap: str  # the caps of the loops, as arithmetic for one thing
    group: str = ""


Loop = tuple[int, str]
"""Rounds of a loop at most, and the name of its rounds, in the plural."""


def bounded(
    step: str,
    prompt: str,
    does: str,
    role: Role,
    n: int,
    *loops: Loop,
    each: str = "",
    least: int | None = None,
    group: str = "",
) -> PlannedCalls:
    """Return the calls for *n* things within *loops*, the outermost first; at least one for each thing, or *least*."""
    cap = f"{' x '.join(f'{rounds} {name}' for rounds, name in loops)} {each}".strip()
    highest = n * prod(rounds for rounds, _ in loops)
    return PlannedCalls(step, prompt, does, role, n if least is None else least, highest, cap, group)


class SynthesisWords(NamedTuple):
    """The accounts of a synthesis in words."""

    first: str  # counts, for the first line
    table: Table  # `made`, a row a haystack or a group of them
    columns: Sequence[str]  # those of the table that a terminal has room for
    notes: Sequence[str]  # lines below the table
    is_short: bool  # less was made than asked for


def made_table(titles: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table `made` of counts under *titles*; the first column is a text that tells rows apart."""
    first, *counts = (Column(name, "count", title) for name, title in titles.items())
    columns = [first._replace(unit="text"), *counts]
    shown = [{column.name: row[column.name] for column in columns} for row in rows]
    return Table("made", columns, shown, key=[first.name])


Settings = TypeVar("Settings", bound=SynthesisSettings)


class Recipe(ABC, Generic[Settings]):
    """One configuration of one kind, with what its files hold as far as the account shows it. It pickles."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @property
    @abstractmethod
    def steps(self) -> Sequence[Step]: ...

    @property
    def checked_chats(self) -> Sequence[ChatSettings]:
        """The models as they are asked; each must accept its settings."""
        return list(self.settings.chats.values())

    @property
    def encoders(self) -> Sequence[str]:
        """The models that embed texts."""
        return ()

    @property
    @abstractmethod
    def sources(self) -> list[dict[str, str]]:
        """Return the names and hashes of all that the benchmark is made from: {"name", "sha256"} each."""

    def check(self) -> None:
        """
        Refuse what is known before the first call to fail.

        Raises:
            UsageError: This cannot be made.
        """
        return

    @abstractmethod
    def works(self, step: str, pieces: Pieces) -> list[Work]:
        """
        Return the works of a step as far as the pieces of earlier steps decide them.

        Raises:
            LongformError: So little was accepted that nothing can follow.
        """

    @abstractmethod
    def plan(self, job: Job, log: Log) -> Plan[JsonValue]:
        """Return the plan of a work; its value is the content of the piece."""

    @abstractmethod
    def rows(self, pieces: Pieces) -> Iterator[HaystackRows]:
        """Return the benchmark's tables."""

    @abstractmethod
    def accounts(self, pieces: Pieces) -> list[dict[str, Any]]:
        """Count for each haystack, by its `haystack_id`, what was made of what was asked."""

    @abstractmethod
    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        """Bound the calls that are yet to be made; *left*: step -> works that are known and not done."""

    def rehearsed(self) -> Recipe[Settings]:
        """Return a recipe whose prompts are as long, for scripted models; smaller if that does."""
        return self


class SynthesisKind(NamedTuple):
    """A kind of synthesis."""

    settings: type[Strict]
    # prompt -> the form of its reply, for all prompts that its plans name; None: plain text
    forms: Mapping[str, type[Form] | None]
    checks: Mapping[str, str]  # check -> the condition on which it accepts, in the order of the work
    make: Callable[[Any, Read, Sequence[str]], Recipe[Any]]  # (settings, read, versions of the prompts) -> recipe
    told: Callable[[Sequence[Mapping[str, Any]]], SynthesisWords]  # accounts of haystacks -> the same in words
    is_audited: bool  # its gold map lists insights in documents, which `audit.json` and SummHay's files tell of
    # models that rehearse it: one without a fault, and others for prompts that it never leads to
    scripted: tuple[str, ...]
