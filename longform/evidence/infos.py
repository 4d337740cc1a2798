"""The facts of each summary beside its scores: its system, its query, and the unit that is resampled with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any, Literal, NamedTuple

from longform.axes import COLUMNS, Axes, axes_of
from longform.evidence.scan import NAMES, Read, pl
from longform.keys import content_key
from longform.records import Query
from longform.repair.twins import METHOD

ENOUGH_HAYSTACKS = 6
"""The fewest haystacks that are clusters: by sign changes, six can show a difference at 0.05 and five cannot."""
ClusterKind = Literal["query", "haystack"]


class SummaryInfo(NamedTuple):
    """
    A summary's data in the tables, besides its scores.

    Attributes:
        twin_of: The summarizer whose summary this one repeats with other citations; None if it is no twin.
        haystack_id: Holds the documents of its query.
        cluster_kind: The unit that is resampled, its query or its haystack.
    """

    summary_id: str
    query_id: str
    summarizer: str
    setting: str
    order: str | None
    elapsed_minutes: float | None
    cut_share: float | None
    failure: str | None
    twin_of: str | None = None
    haystack_id: str | None = None
    cluster_kind: ClusterKind = "query"
    axes: Axes | None = None  # None: not known
    dataset: str | None = None  # of its query; None: not stated
    text_key: str | None = None  # a hash of its text; None: failed, or not read
    model: str | None = None  # as answered by the provider; None: no language model, or unknown
    repeat: int | None = None  # of its context by its system, from 0; None: written elsewhere
    cause: str | None = None  # of its failure: why the step failed that failed first; None: `failure` says it
    cited_by: str | None = None  # of a twin: what chose its citations; None: not known, or no twin
    elsewhere: bool = False  # whether a run that writes, too, took it as it was shipped

    @property
    def cluster(self) -> str:
        """The unit that is independent of the rest of the sample."""
        return self.haystack_id if self.cluster_kind == "haystack" and self.haystack_id else self.query_id


_INFO_COLUMNS = [
    "summary_id", "query_id", "summarizer", "setting", "order", "elapsed_minutes", "cut_share", "failure",
    "haystack_id", "dataset", "model", "cause", "cited_by",
]  # fmt: skip


def summary_infos(read: Read, work_ids: Sequence[str], queries: Mapping[str, Query] | None) -> dict[str, SummaryInfo]:
    """
    Summary work id -> what the tables need of it, in the order of *work_ids*.

    With *queries*, those of the benchmark, data sets and keys of texts are known, too; else texts are not read.
    """
    more = ["method", "parents", "repeat", *COLUMNS, *(["text"] if queries is not None else [])]
    found: dict[str, SummaryInfo] = {}
    held: dict[Axes, Axes] = {}  # the same object for all equal ones
    originals: dict[str, str] = {}  # work id of a twin -> summary id of its original
    for batch in read(["work_id", "step", *_INFO_COLUMNS, *more]):
        for row in batch.to_pylist():
            if row["step"] is None:
                axes = held.setdefault(axes_of(row), axes_of(row))
                info = SummaryInfo(**{name: _interned(row[name]) for name in _INFO_COLUMNS}, axes=axes)
                if row["retriever"] is None:  # written elsewhere: orders of one setting are systems, too
                    info = info._replace(setting=intern(axes.words(with_budget=False)), repeat=row["repeat"])
                else:  # rows that were made before repeats were thought of do not say that they are the first
                    info = info._replace(repeat=row["repeat"] or 0)
                found[row["work_id"]] = info if queries is None else _with_text(info, row["text"], queries)
                if row["method"] == METHOD:
                    originals[row["work_id"]] = row["parents"][0]
    written = {info.summary_id: info for info in found.values()}
    for work_id, original in originals.items():
        before = written[original]
        found[work_id] = found[work_id]._replace(setting=before.setting, axes=before.axes, twin_of=before.summarizer)
    return {work_id: found[work_id] for work_id in work_ids if work_id in found}


def _interned(value: Any) -> Any:
    """Return a text that is one object for all that are equal; names of systems and queries stand in many rows."""
    return intern(value) if isinstance(value, str) else value


def _with_text(info: SummaryInfo, text: str | None, queries: Mapping[str, Query]) -> SummaryInfo:
    return info._replace(dataset=queries[info.query_id].dataset, text_key=None if text is None else content_key(text))


# ---------------------------------------------------------------- clusters


class Clusters(NamedTuple):
    """
    Units that intervals and tests take as independent.

    Attributes:
        kind: `haystack` if there are ENOUGH_HAYSTACKS of them and some hold several queries, else `query`.
        n_queries: Queries that have a summary.
    """

    dataset: str | None  # None: not stated
    kind: ClusterKind
    n_queries: int
    n_haystacks: int


def clusters_of(infos: Iterable[SummaryInfo]) -> list[Clusters]:
    """
    Clusters of each data set, in order of appearance.

    Queries of one haystack share its documents: they count as one cluster if there are enough haystacks.
    """
    datasets: dict[str | None, dict[str, str | None]] = {}
    for info in infos:
        datasets.setdefault(info.dataset, {})[info.query_id] = info.haystack_id
    return [_clusters(dataset, haystacks) for dataset, haystacks in datasets.items()]


def _clusters(dataset: str | None, haystacks: Mapping[str, str | None]) -> Clusters:
    """Clusters of one data set; *haystacks* are by query."""
    n = len(set(haystacks.values()))
    kind: ClusterKind = "haystack" if ENOUGH_HAYSTACKS <= n < len(haystacks) else "query"
    return Clusters(dataset, kind, len(haystacks), n)


def with_clusters(infos: Iterable[SummaryInfo]) -> tuple[dict[str, SummaryInfo], list[Clusters]]:
    """Return summaries by id, each with what is resampled of its data set; and what that is, for the reader."""
    found = list(infos)
    clusters = clusters_of(found)
    kinds = {row.dataset: row.kind for row in clusters}
    return {info.summary_id: info._replace(cluster_kind=kinds[info.dataset]) for info in found}, clusters


# ---------------------------------------------------------------- as a frame


_TEXTS = (
    "summary_id", "query_id", "dataset", "haystack_id", "cluster", "summarizer", "setting", "order", "twin_of",
    "cited_by", "model", "failure", "cause",
)  # fmt: skip
_NUMBERS = ("elapsed_minutes", "cut_share")


def summary_frame(infos: Iterable[SummaryInfo]) -> pl.DataFrame:
    """
    Return a row for each summary, in their order, with the axes of its system beside it.

    `summary_repeat` counts summaries of one context by one system, from 0; it is null if they were written elsewhere.
    """
    found = list(infos)

    def column(name: str, values: Iterable[object], kind: type[pl.DataType]) -> pl.Series:
        return pl.Series(name, list(values), dtype=pl.Categorical if name in NAMES else kind)

    columns = [column(name, (getattr(one, name) for one in found), pl.String) for name in _TEXTS]
    columns += [column(name, (getattr(one, name) for one in found), pl.Float64) for name in _NUMBERS]
    columns.append(column("elsewhere", (one.elsewhere for one in found), pl.Boolean))
    columns.append(column("summary_repeat", (one.repeat for one in found), pl.Int32))
    for name in (name for name in Axes._fields if name != "order"):
        values = (None if one.axes is None else getattr(one.axes, name) for one in found)
        columns.append(column(name, values, pl.Int64))
    return pl.DataFrame(columns)
