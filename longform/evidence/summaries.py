"""The summaries of a run as a frame: a row for each, with its system, its query and the unit that is resampled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from longform.axes import COLUMNS, SystemAxes, axes_of
from longform.evidence.scan import NAMES, Read, pl
from longform.keys import content_key
from longform.records import Query
from longform.repair.twins import METHOD

ENOUGH_HAYSTACKS = 6
"""The fewest haystacks that are clusters: by sign changes, six can show a difference at 0.05 and five cannot."""
ClusterKind = Literal["query", "haystack"]

_AS_READ = (
    "work_id", "summary_id", "query_id", "dataset", "haystack_id", "summarizer", "setting", "order", "cited_by",
    "model", "failure", "cause", "elapsed_minutes", "cut_share",
)  # fmt: skip
_OF_SYSTEM = ("setting", *(name for name in SystemAxes._fields if name != "order"))
_NUMBERS = ("elapsed_minutes", "cut_share")
_COUNTS = ("summary_repeat", "budget_tokens", "n_documents", "length_tokens", "permutation", "document_tokens")
_MADE = ("text_key", "original", "summary_repeat")
_AT_ONCE = 256  # that are rows of Python together
OF_STORAGE = ("work_id", "text_key")
"""Columns of `summaries` that no study reads: the work that wrote it, and a hash of its text, null if not read."""


def summaries(read: Read, work_ids: Iterable[str], queries: Mapping[str, Query] | None = None) -> pl.DataFrame:
    """
    Return a row for each summary, in the order of *work_ids*, with the axes of its system beside it.

    `summary_repeat` counts summaries of one context by one system, from 0; it is null if they were written elsewhere.
    A twin repeats the summary `original`, by the summarizer `twin_of`, with other citations. With *queries*, those of
    the benchmark, data sets and keys of texts are known, too; else texts are not read.
    """
    columns = [*_AS_READ, "step", "method", "parents", "repeat", *COLUMNS, *(["text"] if queries is not None else [])]
    parts = [
        frame_of(_row(row, queries) for row in batch.slice(start, _AT_ONCE).to_pylist() if row["step"] is None)
        for batch in read(columns)
        for start in range(0, len(batch), _AT_ONCE)
    ]
    ordered = pl.DataFrame({"work_id": list(dict.fromkeys(work_ids))}, schema={"work_id": pl.String})
    found = ordered.join(pl.concat([frame_of([]), *parts]), on="work_id", maintain_order="left")
    return _with_originals(found).with_columns(elsewhere=pl.lit(value=False))


def _row(row: Mapping[str, Any], queries: Mapping[str, Query] | None) -> dict[str, Any]:
    axes, repeat, text = axes_of(row), row["repeat"], row.get("text")
    found = {
        **{name: row[name] for name in _AS_READ},
        **axes._asdict(),
        "summary_repeat": repeat or 0,  # rows that were made before repeats were thought of do not say so
        "original": row["parents"][0] if row["method"] == METHOD else None,
        "text_key": None if text is None else content_key(text),
    }
    if row["retriever"] is None:  # written elsewhere: orders of one setting are systems, too
        found |= {"setting": axes.words(with_budget=False), "summary_repeat": repeat}
    return found if queries is None else {**found, "dataset": queries[row["query_id"]].dataset}


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows as a frame with the columns of `summaries` that are read; the others of a row are left out."""

    def kind(name: str) -> type[pl.DataType]:
        if name in NAMES:
            return pl.Categorical
        return pl.Float64 if name in _NUMBERS else pl.Int64 if name in _COUNTS else pl.String

    names = dict.fromkeys([*_AS_READ, *SystemAxes._fields, *_MADE])
    return pl.DataFrame(list(rows), schema={name: kind(name) for name in names}, orient="row")


def _with_originals(found: pl.DataFrame) -> pl.DataFrame:
    """Let a twin be of its original's system."""
    own = found.select(pl.col("summary_id").alias("original"), "summarizer", *_OF_SYSTEM)
    joined = found.join(own, on="original", how="left", suffix="_before", maintain_order="left")
    is_twin = pl.col("original").is_not_null()
    of_original = [
        pl.when(is_twin).then(pl.col(f"{name}_before")).otherwise(pl.col(name)).alias(name) for name in _OF_SYSTEM
    ]
    return joined.with_columns(*of_original, twin_of="summarizer_before").select(*found.columns, "twin_of")


# ---------------------------------------------------------------- clusters


def clusters_of(*sides: pl.DataFrame) -> pl.DataFrame:
    """
    Return the clusters of each data set of *sides*, in order of appearance: `kind`, `n_queries` and `n_haystacks`.

    Queries of one haystack share its documents: they count as one cluster if there are enough haystacks.
    """
    columns = ("dataset", "query_id", "haystack_id")
    queries = pl.concat(side.select(columns) for side in sides).unique(columns[:2], keep="first", maintain_order=True)
    counted = queries.group_by("dataset", maintain_order=True).agg(
        n_queries=pl.len(), n_haystacks=pl.col("haystack_id").n_unique()
    )
    enough = pl.col("n_haystacks").is_between(ENOUGH_HAYSTACKS, pl.col("n_queries"), closed="left")
    return counted.with_columns(kind=pl.when(enough).then(pl.lit("haystack")).otherwise(pl.lit("query")))


def clustered(*sides: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Return the summaries of runs with what is resampled as `cluster`, of one kind in a data set of all runs."""
    kinds = clusters_of(*sides).select("dataset", "kind")
    cluster = pl.coalesce(pl.when(pl.col("kind") == "haystack").then("haystack_id"), "query_id")
    return [
        side.join(kinds, on="dataset", how="left", nulls_equal=True, maintain_order="left")
        .with_columns(cluster=cluster)
        .drop("kind")
        for side in sides
    ]
