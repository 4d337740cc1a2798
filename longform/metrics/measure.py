"""
A measure: its name, what it reads, and the pure function from that to a score.

The level of a measure is one summary (`Measure`) or the ranking of one query (`RankingMeasure`).
`longform.measures` lists those that ship. A configuration chooses among them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from longform.given import Count, Number, Text
from longform.keys import in_groups
from longform.records import Document, Target
from longform.text.citations import Bullet, without_citations

Unit = Literal["points", "share", "words", "count", "rating"]
"""Units of the numbers that a report prints. Points are shares times 100, ratings go from 1 to 5."""
Better = Literal["higher", "lower"]
Need = Literal["text", "units", "targets", "references", "documents", "gold", "encoder", "released", "tokens"]
"""Beside verdicts: the summary's text, its bullets or sentences, targets and reference texts of its query, documents of
its haystack, qrels of its targets, the packaged encoder of sentences, the scores that a release has of the text, and
models that make vectors of tokens."""
Setting = Literal["partial_score"]
_HAYSTACKS_HELD = 4
Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts -> unit vectors, shape (texts, dimensions)."""


class TokenModel(NamedTuple):
    """A layer of a model that makes a vector of each token."""

    name: str  # a folder, package:NAME or a hub name
    layers: int  # vectors are those that this layer makes, from 1


class TokenVectors(NamedTuple):
    """The tokens of a text."""

    vectors: NDArray[np.float32]  # unit vectors, shape (tokens, width)
    counted: NDArray[np.bool_]  # False for special tokens
    cut: bool  # the text is longer than the model's window


class Score(NamedTuple):
    """A measure of one summary: `total / n`, kept apart so that means can be pooled over summaries."""

    measure: Text
    total: Number
    n: Count
    n_unjudged: Count = 0
    reason: Text | None = None  # why there is no value, if n is 0

    @property
    def value(self) -> float | None:
        """The mean; None if there is nothing to average."""
        return self.total / self.n if self.n else None


class Haystack(Protocol):
    """The documents and targets that a summary's query is about; each is read when a measure asks for it."""

    def __hash__(self) -> int: ...

    @property
    def haystack_id(self) -> str: ...

    def documents(self) -> Sequence[Document]: ...

    def targets(self) -> Sequence[Target]:
        """The targets of all queries of the haystack."""
        ...

    def gold_numbers(self) -> Mapping[str, Collection[int]] | None:
        """Target id -> numbers of the documents that state it; None if the documents are not shipped."""
        ...


class Verdict(NamedTuple):
    """A verdict, as far as measures read it."""

    target_id: str | None  # the target or document that is judged; None: unknown
    answer: str | None  # None: unjudged
    # the answer as a number, or the judge's own, in [0, 1]; None: unjudged, or no measure reads it
    number: float | None = None
    linked_unit: int | None = None  # the unit that says the target, from 0
    unit_index: int | None = None  # the unit that is judged, from 0; None: the summary as a whole
    # the place of the judged document in the prompt, from 0; None: all documents as one text
    doc_position: int | None = None


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything that a measure may read of one summary, under one judge or under none."""

    query_id: str = ""
    failure: str | None = None  # why there is no text; None: there is
    text: str | None = None  # None if the summary failed, or if the measure does not need it
    units: Sequence[Bullet] = ()  # bullets or sentences, in order
    verdicts: Sequence[Verdict] = ()  # those of one judge; empty for a measure without a judge
    haystack: Haystack | None = None  # documents and targets; None if nothing of the benchmark is known
    partial_score: float = 0.5  # the number that partial coverage counts
    encode: Encode | None = None  # the packaged encoder, which is loaded when it is first called; None: there is none
    # makes vectors of a text's tokens, by a model that is loaded when it is first asked
    tokens: Callable[[TokenModel, str], TokenVectors] | None = None
    released: Mapping[str, float] = field(default_factory=dict)  # name -> score that a release has of this text
    # sentences are checked against some documents of the prompt: their support is the best of these
    checked_some: bool = False

    def targets(self, kind: str | None = None) -> list[Target]:
        """Return the targets of the query, of one kind or of any."""
        found = () if self.haystack is None else _by_query(self.haystack).get(self.query_id, ())
        return [target for target in found if kind in (None, target.kind)]


@lru_cache(maxsize=_HAYSTACKS_HELD)
def _by_query(haystack: Haystack) -> Mapping[str, Sequence[Target]]:
    """Return the targets of each query: a corpus of many queries is gone through once."""
    return in_groups((target.query_id, target) for target in haystack.targets())


def beside_references(
    facts: Facts, name: str, compared: Callable[[str, Sequence[str]], float], *, cited: bool = False
) -> Score:
    """Compare a summary's text, without citations unless *cited*, with the reference texts of its query."""
    references = [target.text for target in facts.targets("reference")]
    if facts.text is None:
        return Score(name, 0.0, 0, reason=f"summary_failed: {facts.failure or 'no text'}")
    if not references:
        return Score(name, 0.0, 0, reason="the query has no reference text")
    text = facts.text if cited else "\n".join(map(without_citations, facts.text.split("\n")))
    return Score(name, compared(text, references), 1)


@dataclass(frozen=True)
class Described:
    """A report's words on a measure."""

    name: str  # key in the scores table and in a configuration, head of a column
    title: str = field(default="", kw_only=True)  # for the reader; empty: the name
    unit: Unit = field(default="points", kw_only=True)
    better: Better | None = field(default="higher", kw_only=True)  # None: neither
    # defines the measure in one sentence without the name; empty: the report's own text does
    told: str = field(default="", kw_only=True)

    @property
    def factor(self) -> float:
        """Return the factor by which a stored value is multiplied in print."""
        return 100.0 if self.unit == "points" else 1.0


@dataclass(frozen=True)
class Measure(Described):
    """A measure of one summary."""

    per_summary: Callable[[Facts], Score]  # pure; returns `total, n, n_unjudged`
    judged_by: str | None = None  # kind of judge whose verdicts it reads; None: it needs no judge
    needs: frozenset[Need] = frozenset()
    settings: frozenset[Setting] = frozenset()  # settings of a configuration that its numbers depend on
    work: str = "scores"  # first part of the keys of its stored scores
    # stored scores are found by it: change it with the numbers. Measures of one version that read the same are scored
    # together; empty: the measure is scored by itself
    version: str = ""
    beside: tuple[str, ...] = ()  # measures that stand beside it, whether or not they are listed


@dataclass(frozen=True)
class RankingMeasure(Described):
    """A measure of one query's ranking."""

    # ranking, its gold documents and a cutoff -> number; None if the query has no gold documents
    at: Callable[[Sequence[str], Collection[str], int], float | None]
    unit: Unit = field(default="share", kw_only=True)


class Description(TypedDict):
    """A report's words on a measure, in results."""

    name: str
    title: str
    unit: Unit
    better: Better | None
    told: str
    judged_by: str | None


def described(measure: Measure) -> Description:
    """Return the words of a report on a measure."""
    return {
        "name": measure.name,
        "title": measure.title or measure.name,
        "unit": measure.unit,
        "better": measure.better,
        "told": measure.told,
        "judged_by": measure.judged_by,
    }
