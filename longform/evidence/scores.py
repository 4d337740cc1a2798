"""
The scores of a run as a frame: a row for each judge, summary, measure and repeat of the judge.

Its ids are categories in the order of the summaries, so that sorting by them is sorting by that order. A measure that
is undefined for its summary has a total and n of 0, and adds nothing to a mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

import pyarrow as pa

from longform.evidence.scan import as_frame, pl
from longform.rows import ScoreRow
from longform.schemas import SCORES

SCORE_COLUMNS = ["judge", "summary_id", "measure", "total", "n", "n_unjudged", "reason", "repeat"]
_ROWS_AT_ONCE = 2**15  # that are made a frame together: a part alone is too few, and the whole table too much


def score_frame(parts: Iterable[pa.Table], summary_ids: Iterable[str]) -> pl.DataFrame:
    """
    Return the scores of the summaries *summary_ids*, in the order read; rows of others are left out.

    *parts* are rows of the scores table, with SCORE_COLUMNS. *summary_ids* are distinct, in the order of the summaries.
    """
    columns: dict[str, str | pl.Expr] = {
        "judge": "judge",
        "summary_id": pl.col("summary_id").cast(pl.Enum(list(summary_ids)), strict=False),
        "measure": "measure",
        "repeat": pl.col("repeat").fill_null(0).cast(pl.Int32),
        "total": pl.col("total").fill_null(0.0),
        "n": pl.col("n").fill_null(0).cast(pl.Int32),
        "unjudged": pl.col("n_unjudged").cast(pl.Int32),
        "reason": pl.when(pl.col("reason") != "").then("reason"),
    }
    return pl.concat(as_frame(some).select(**columns).drop_nulls("summary_id") for some in _together(parts))


def _together(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    held = [rows_table([])]
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= _ROWS_AT_ONCE:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def rows_table(rows: Iterable[ScoreRow]) -> pa.Table:
    """Return rows of the scores table as Arrow; a column that they lack is null."""
    return pa.Table.from_pylist(list(rows), schema=pa.schema([SCORES.field(name) for name in SCORE_COLUMNS]))


def in_order(scores: pl.DataFrame) -> pl.DataFrame:
    """
    Return scores by summary, those of a judge and measure together, its repeats in order.

    Of two rows of a judge, its repeat, measure and summary the later counts.
    """
    key = [pl.col(name) for name in ("summary_id", "judge", "measure", "repeat")]
    ordered = scores.sort(*(one.to_physical() for one in key), maintain_order=True)
    replaced = pl.all_horizontal(one.eq_missing(one.shift(-1)) for one in key)
    return ordered.filter(~replaced | (pl.int_range(pl.len()) == pl.len() - 1))


def names_of(scores: pl.DataFrame, judges: Sequence[str]) -> dict[str | None, list[str]]:
    """
    Judge -> its measures, in order of appearance; None: of measures without a judge.

    Judges stand in the order of *judges*; one that is not among them comes first, like scores without a judge.
    """
    found: dict[str | None, list[str]] = {}
    for judge, measure in scores.select("judge", "measure").unique(maintain_order=True).iter_rows():
        found.setdefault(judge, []).append(measure)
    order = {judge: place for place, judge in enumerate(judges)}
    return {judge: found[judge] for judge in sorted(found, key=lambda one: -1 if one is None else order.get(one, -1))}


def of_judge(scores: pl.DataFrame, judge: str | None) -> pl.DataFrame:
    """Return the scores of a judge, or those without one."""
    return scores.filter(pl.col("judge").is_null() if judge is None else pl.col("judge") == judge)


def under(scores: pl.DataFrame, judge: str | None) -> pl.DataFrame:
    """Return the scores of a judge, and those without a judge of the summaries that it has, all in order."""
    if judge is None:
        return of_judge(scores, None)
    own, free = pl.col("judge") == judge, pl.col("judge").is_null()
    having = scores.select("summary_id", "judge").filter(own)["summary_id"].to_physical().unique()
    found = scores.filter(own | (free & pl.col("summary_id").to_physical().is_in(having.to_list())))
    if found.select("measure", free=free).unique()["measure"].is_unique().all():
        return found
    apart = found.filter(free).join(found.filter(own), on=["summary_id", "measure"], how="anti", maintain_order="left")
    return pl.concat([found.filter(own), apart]).sort("summary_id", maintain_order=True)


def means(scores: pl.DataFrame) -> pl.DataFrame:
    """
    Return the means over the repeats of a judge: a row for each summary, and for each judge and measure that is told.

    Totals and counts are means of the repeats in which the measure is defined, the unjudged of all. A measure that some
    repeat has a value of has no reason. Facts of the summary stay.
    """
    if not scores["repeat"].max():
        return scores.drop("repeat")
    some = pl.col("n") > 0
    kept = some | ~some.any()
    of_one = [name for name in scores.columns if name in ("judge", "summary_id", "measure")]
    return scores.group_by(of_one, maintain_order=True).agg(
        pl.col("total", "n").filter(kept).mean(),
        pl.col("unjudged").mean(),
        pl.when(~some.any()).then(pl.col("reason").first()).alias("reason"),
        pl.exclude(*of_one, "repeat", "total", "n", "unjudged", "reason").first(),
    )


def final(summaries: pl.DataFrame) -> pl.DataFrame:
    """Return summaries without the snapshots that a later one of the same query and system replaces."""
    if summaries["elapsed_minutes"].is_null().all():
        return summaries
    alone = pl.when(pl.col("elapsed_minutes").is_null()).then("summary_id")
    latest = pl.all().sort_by(pl.col("elapsed_minutes").fill_null(0.0), maintain_order=True).last()
    return (
        summaries.group_by("summarizer", "setting", "query_id", alone.alias("alone"), maintain_order=True)
        .agg(latest)
        .select(summaries.columns)
    )


def samples(scores: pl.DataFrame, aggregate: str, *by: str, with_empty: bool = False) -> pl.DataFrame:
    """
    Return what each summary that has a measure adds to its mean, in order of appearance; `cluster` is resampled.

    The repeats of one query are one summary. It counts as often as it has insights, or once if *aggregate* is
    per_summary.

    *scores* are means over the repeats of a judge, with the columns `query_id`, `cluster` and `summary_repeat`; *by*
    are columns that tell means apart: the system, the measure. Summaries without the measure stand there, too,
    *with_empty*, as 0 of 0.
    """
    some = pl.col("n") > 0
    times = pl.lit(1) if aggregate == "pooled" else pl.col("n")
    alone = pl.when(pl.col("summary_repeat").is_null()).then("summary_id")  # written elsewhere: no repeat of another
    return (
        (scores if with_empty else scores.filter(some))
        .group_by(*by, "query_id", "cluster", alone.alias("alone"), maintain_order=True)
        .agg((pl.col(name) / times).filter(some).mean().fill_null(0.0).alias(name) for name in ("total", "n"))
        .drop("alone")
    )


def facts_of(scores: pl.DataFrame, summaries: pl.LazyFrame) -> pl.DataFrame:
    """Return the rows of *summaries* that have scores, in their order, with ids as the scores have them."""
    ids = scores.schema["summary_id"]
    known = summaries.with_columns(pl.col("summary_id").cast(ids, strict=False))
    return known.join(scores.lazy().select("summary_id"), on="summary_id", how="semi", maintain_order="left").collect()


def with_facts(scores: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Return scores in the order of *facts*, each with those of its summary before it; those of others are left out."""
    return facts.join(scores, on="summary_id", maintain_order="left_right")


class ScoreTable:
    """
    The scores of the summaries that are reported, *summary_ids*; rows of others are left out.

    Of two *rows* of a judge, its repeat, measure and summary the later counts. *judges* are in the report's order; one
    that is not among them comes first, like scores without a judge. Those *aside* have scores that are kept, and are
    not among `judges`. *parts* are further rows as Arrow, with SCORE_COLUMNS.
    """

    def __init__(
        self,
        rows: Iterable[ScoreRow],
        summary_ids: Iterable[str],
        judges: Sequence[str] = (),
        *,
        aside: Collection[str] = (),
        parts: Iterable[pa.Table] = (),
    ) -> None:
        scores = score_frame(chain([rows_table(rows)], parts), summary_ids)
        self.frame = in_order(scores)
        self._names, self._aside = names_of(scores, judges), aside

    @property
    def judges(self) -> Sequence[str | None]:
        """Return the judges that have scores; None: some scores have none."""
        return [judge for judge in self._names if judge is None or judge not in self._aside]

    @property
    def reported(self) -> pl.DataFrame:
        """Return the scores by `judges`."""
        return self.frame.filter(pl.col("judge").is_null() | ~pl.col("judge").is_in(list(self._aside)))

    def measures(self, judge: str | None) -> Sequence[str]:
        """Return the measures of a judge."""
        return self._names.get(judge, [])
