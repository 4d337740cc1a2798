"""Everything that cells, studies and drill-down pages may read of a run. Each table is read when it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, NotRequired, TypedDict, TypeVar

from longform.errors import LongformError
from longform.evidence.frames import Frames
from longform.evidence.scan import pl
from longform.evidence.scores import ScoreTable, facts_of, final, means, of_judge, under, with_facts
from longform.metrics.agreement import RepeatedPair
from longform.metrics.measure import Measure, RankingMeasure
from longform.records import Document
from longform.repair.twins import LABEL, MATRIX, How
from longform.results.aggregate import Averaging
from longform.results.calls import CallsRow
from longform.settings.experiment import Experiment
from longform.settings.readings import Fidelity


class TwinDriver(TypedDict):
    """The driver of the citations of twins."""

    by: str  # matrix, or the support judge
    label: str  # of the twins
    bullets: NotRequired[dict[How, int]]  # counts by the origin of their citations, with a support judge


BY_MATRIX: TwinDriver = {"by": MATRIX, "label": LABEL}
"""Words of the report on citations that the words of bullets and documents drove."""


class AskedAgain(NamedTuple):
    """The questions of one data set that a judge was asked several times."""

    judge: str
    dataset: str | None
    pairs: Sequence[RepeatedPair]


@dataclass(frozen=True, kw_only=True)
class Evidence(ABC):
    """A run that is reported."""

    averaging: Averaging
    measures: Sequence[Measure]  # those that the configuration lists
    ranking_measures: Sequence[RankingMeasure] = ()
    compare_with: str | None = None  # the system that all others are compared with; None: the best one
    sensitivity: Fidelity = "ours"  # the rule of sensitivity to the order of documents
    cutoffs: Sequence[int] = ()  # the K of measures of rankings
    experiment: Experiment | None = None  # what support judges were asked for; None: none was
    budget_ended: bool = False  # before all was done
    driver: TwinDriver = field(default_factory=lambda: BY_MATRIX)
    calls: Sequence[CallsRow] | None = None  # a row for each stage and model that was called; None: none was asked

    # the tables of the run, to be queried with polars; without summaries that repeat another order's
    @property
    @abstractmethod
    def frames(self) -> Frames: ...
    @property
    @abstractmethod
    def score_table(self) -> ScoreTable: ...  # the scores in a few bytes each
    # for each `summary_id`, a `content` that is equal for summaries of the same text and citations
    @property
    @abstractmethod
    def contents(self) -> pl.DataFrame: ...
    @property
    @abstractmethod
    def datasets(self) -> Mapping[str, str | None]: ...  # query id -> its data set; None: not stated
    @property
    @abstractmethod
    def facets(self) -> Mapping[str, Mapping[str, str]]: ...  # query id -> name -> value, of the queries that state any
    # query id -> target id -> the documents that state it
    @property
    @abstractmethod
    def gold(self) -> Mapping[str, Mapping[str, frozenset[str]]]: ...
    # a row for each support judge and summary, with the cells of its verdicts and where they put sentences, by
    # `longform.metrics.position_bias.SummaryPlaces`; None: no such judge was asked
    @property
    @abstractmethod
    def checked(self) -> pl.DataFrame | None: ...
    # `summary_id`, and what its calls took in the columns SPENT; empty: the run knows of no cost
    @property
    @abstractmethod
    def spent(self) -> pl.DataFrame: ...

    @abstractmethod
    def rankings(self) -> pl.DataFrame:
        """Return a row for each ranking: `retriever`, `reranker`, `system` in words, `query_id` and its `doc_ids`."""
        ...

    @abstractmethod
    def contexts(self) -> pl.DataFrame:
        """Return a row for each prompt: the same columns, `budget_tokens` and `cut_share`."""
        ...

    @abstractmethod
    def documents(self, haystack_id: str) -> Sequence[Document]: ...

    @abstractmethod
    def asked_again(self) -> Iterator[AskedAgain]:
        """Yield the questions of each judge with repeats; those of one judge are in memory at a time."""
        ...

    @abstractmethod
    def query(self, query_id: str) -> QueryFacts:
        """Return a query as the report unfolds it."""
        ...

    @abstractmethod
    def unfolded(self, summary_ids: Iterable[str]) -> Iterator[SummaryFacts]:
        """Yield summaries as the report unfolds them; some are in memory at a time."""
        ...


@dataclass(frozen=True)
class Family:
    """The summaries of one data set under one judge, or under none."""

    judge: str | None
    dataset: str | None
    evidence: Evidence

    @cached_property
    def scores(self) -> pl.DataFrame:
        """
        The scores by the judge, and those without a judge of the summaries that it has, a row for each repeat.

        They stand in the order of summaries; `longform.evidence.scores.with_facts` joins `facts` to them.
        """
        return under(self.evidence.score_table.frame, self.judge)

    @cached_property
    def facts(self) -> pl.DataFrame:
        """A row for each summary, as in `evidence.frames.summaries`."""
        return summaries_under(self.evidence, self.judge).filter(
            pl.col("dataset").eq_missing(pl.lit(self.dataset, pl.Categorical))
        )

    @cached_property
    def final(self) -> pl.DataFrame:
        """`facts` without the snapshots that a later one of the same query and system replaces."""
        return final(self.facts)

    def by(self, *measures: str) -> pl.DataFrame:
        """Return means over the repeats of the judge by some measures, a row a summary of `final`, with its facts."""
        return with_facts(means(self.scores.filter(pl.col("measure").is_in(measures))), self.final)


def families(evidence: Evidence, *measures: str) -> Iterator[Family]:
    """
    Yield the summaries of each judge that has scores of any of *measures*, those of each data set by themselves.

    Measures without a judge stand under None if no judge has such scores.
    """
    table, wanted = evidence.score_table, frozenset(measures)
    having = [judge for judge in table.judges if wanted.intersection(table.measures(judge))]
    for judge in [judge for judge in having if judge is not None or having == [None]]:
        for dataset in summaries_under(evidence, judge)["dataset"].unique(maintain_order=True):
            yield Family(judge, dataset, evidence)


def summaries_under(evidence: Evidence, judge: str | None) -> pl.DataFrame:
    """Return a row for each summary that a judge has scores of."""
    scored = of_judge(evidence.score_table.frame.select("judge", "summary_id"), judge).unique("summary_id")
    return facts_of(scored, evidence.frames.summaries)


Made = TypeVar("Made")


def rows_of(evidence: Evidence, measures: Sequence[str], make: Callable[[Family], list[Made]]) -> list[Made]:
    """Return the rows that *make* makes of each family."""
    return [row for family in families(evidence, *measures) for row in make(family)]


QueryFacts = Mapping[str, Any]
"""
A query: `haystack`, `topic`, `subtopic`, `text`, `dataset`, and its `targets`, each with `target_id`, `name`, `text`,
`kind` (insight if left out), `gold` (numbers of the documents that state it) and `passages` of these. Older runs store
neither data sets nor passages.
"""

SummaryFacts = dict[str, Any]
"""
A summary: its ids and axes, its `failure`, its `scores` by judge ("": none) and measure, and two lists.

- `bullets`: `text`, `citations` (numbers of documents), `passages` of these, and `support`, the answers of each support
  judge: on each document that is `cited` (null: not asked, or unjudged), the best `answer` over the `n` documents that
  were checked, and the number of the `best` of them (null: none supports it). For documents judged as one text both are
  null.
- `verdicts`: `judge`, `target_id`, `answer`, `linked_unit`, `probability`, `reply`, `failure`.
"""


class Unfolded(NamedTuple):
    """A summary with its query."""

    summary: SummaryFacts
    query: QueryFacts


def unfolded_of(drilldown: Mapping[str, Any]) -> Iterator[Unfolded]:
    """
    Yield the summaries of a drill-down that is in memory, as older runs have it.

    Raises:
        LongformError: A summary names a query that is not there.
    """
    queries = drilldown["queries"]
    for summary in drilldown["summaries"]:
        if (query_id := summary["query_id"]) not in queries:
            raise unlisted(summary, "query", query_id, len(queries))
        yield Unfolded(summary, queries[query_id])


def unlisted(summary: SummaryFacts, what: str, key: str, n: int) -> LongformError:
    """Return the error that a summary names a thing that stands nowhere, where *n* do."""
    where = f"drilldown: summary {summary['summary_id']}: {what}"
    return LongformError(f"{where}: expected one of {n} known ids, found {key!r}; list it under its query")
