"""
The type of every kind of synthesis: its settings, its steps, the plans that carry them out, and what comes of them.

A recipe is a value without I/O. A command (`longform synthesize-models`) carries out its works step by step, keeps a
piece for each, and writes the benchmark that the pieces come to. It knows no kind by name; `kinds.py` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from longform.formats.rows import HaystackRows
from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict
from longform.synthesis.written.asking import Attempt, Log, Plan
from longform.synthesis.written.call_bounds import StepCalls
from longform.synthesis.written.replies import Form
from longform.synthesis.written.settings import Role

Read = Callable[[str], bytes]
"""Reads the file at a path or URL; raises UsageError if that cannot be done."""

Embed = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""(model, texts) -> unit vectors, shape (texts, dimensions)."""


class SynthesisSettings(Protocol):
    """A configuration of any kind of synthesis."""

    @property
    def name(self) -> str: ...

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
    """
    A step of a synthesis; its works do not depend on each other.

    Attributes:
        name: As progress and the ledger have it.
        unit: What it makes, in the plural.
    """

    name: str
    unit: str


class Work(NamedTuple):
    """
    A plan that is to be carried out.

    Attributes:
        key: A hash of everything that decides the piece.
        haystack_id: Of the piece.
        payload: What the plan is made from, besides the recipe and the pieces that it needs.
        needs: Keys of pieces of earlier steps.
        doc_index: The document that the plan writes; None: another thing.
        group: Prompts of one group are about as long.
    """

    key: str
    haystack_id: str
    payload: JsonValue
    needs: tuple[str, ...] = ()
    doc_index: int | None = None
    group: str = ""


class Piece(NamedTuple):
    """The value that a plan came to, with its verdicts."""

    haystack_id: str
    doc_index: int | None
    content: Any
    attempts: Sequence[Attempt]


Pieces = Mapping[str, Piece]
"""Key of a work -> its piece."""


class Job(NamedTuple):
    """
    A work as its plan is given it.

    Attributes:
        step: The name of its step.
        payload: Of the work.
        needed: The contents of the pieces that it needs, in their order.
        embed: Embeds texts.
    """

    step: str
    payload: Any
    needed: Sequence[Any]
    embed: Embed


class PlannedCalls(NamedTuple):
    """The calls of a step to one prompt, for works of one group."""

    step: str
    group: str
    calls: StepCalls


class SynthesisWords(NamedTuple):
    """
    A synthesis in words.

    Attributes:
        first: Counts, for the first line.
        table: Heads and rows, one a haystack.
        notes: On the table.
        is_short: True if less was made than asked for.
    """

    first: str
    table: Sequence[Sequence[str]]
    notes: Sequence[str]
    is_short: bool


class Recipe(Protocol):
    """One configuration of one kind. It pickles."""

    @property
    def settings(self) -> SynthesisSettings:
        """The configuration, with what its files hold as far as the account shows it."""
        ...

    @property
    def steps(self) -> Sequence[Step]: ...

    @property
    def checked_chats(self) -> Sequence[ChatSettings]:
        """The models as they are asked; each must accept its settings."""
        ...

    @property
    def encoders(self) -> Sequence[str]:
        """The models that embed texts."""
        ...

    @property
    def sources(self) -> list[dict[str, str]]:
        """Return the names and hashes of all that the benchmark is made from: {"name", "sha256"} each."""
        ...

    def check(self) -> None:
        """
        Raises:
            UsageError: It can be known before the first call that this cannot be made.
        """
        ...

    def works(self, step: str, pieces: Pieces) -> list[Work]:
        """
        Return the works of a step as far as the pieces of earlier steps decide them.

        Raises:
            LongformError: So little was accepted that nothing can follow.
        """
        ...

    def plan(self, job: Job, log: Log) -> Plan[JsonValue]:
        """Return the plan of a work; its value is the content of the piece."""
        ...

    def rows(self, pieces: Pieces) -> Iterator[HaystackRows]:
        """Return the benchmark's tables."""
        ...

    def accounts(self, pieces: Pieces) -> list[dict[str, Any]]:
        """Count for each haystack, by its `haystack_id`, what was made of what was asked."""
        ...

    def told(self, haystacks: Sequence[Mapping[str, Any]]) -> SynthesisWords:
        """Tell the accounts in words."""
        ...

    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        """Bound the calls that are yet to be made; *left*: step -> works that are known and not done."""
        ...

    def rehearsed(self) -> Recipe:
        """Return a recipe whose prompts are as long, for scripted models; smaller if that does."""
        ...


class SynthesisKind(NamedTuple):
    """
    A kind of synthesis.

    Attributes:
        settings: The model of its configuration.
        forms: Prompt -> the form of its reply; all prompts that its plans name; None: plain text.
        checks: Check -> when it accepts, in the order of the work.
        make: (settings, read, versions of the prompts) -> the recipe.
        is_audited: True if its gold map lists insights in documents, which `audit.json` and SummHay's files tell of.
        scripted: Models that rehearse it: one without a fault, and others for prompts that it never leads to.
    """

    settings: type[Strict]
    forms: Mapping[str, type[Form] | None]
    checks: Mapping[str, str]
    make: Callable[[Any, Read, Sequence[str]], Recipe]
    is_audited: bool
    scripted: tuple[str, ...]
