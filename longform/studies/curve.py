"""Scores of summaries that were written over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.metrics.measure import Measure
from longform.results.aggregate import Averaging, by_measure, by_system, marks_of, mean_of
from longform.results.evidence import Evidence, rows_of
from longform.tables.table import CUT, NAMED, Axes, Column, Table

Row = Mapping[str, Any]
SNAPSHOT_MINUTES = 10.0  # SummHay, appendix A.4: a human's summary is saved every ten minutes
_AVERAGED = Averaging("per_summary", seed=0, resamples=100)  # no interval is shown


class Curve:
    """Scores of each system after so many minutes of writing."""

    name = "curve"
    needs = ("scores", "summaries")

    def result(self, evidence: Evidence) -> Table | None:
        """Return the points of every judge and data set, of the measures in points that the configuration lists."""
        measures = [measure for measure in evidence.measures if measure.unit == "points"]
        names = [measure.name for measure in measures]
        rows = rows_of(evidence, names, lambda own: curve(own.scores, own.facts, measures, judge=own.judge))
        return table(rows) if rows else None


def table(rows: Sequence[Row]) -> Table:
    """Return the points as a table that describes itself."""
    return Table(
        "curve",
        [
            *NAMED,
            Column("minutes", "count"),
            Column("n_summaries", "count", "summaries"),
            Column("measure"),
            Column("score", "points", "score", unknown="no summary has a value"),
            CUT,
        ],
        (),
        title="Scores over minutes of writing",
        told="Scores of what was written after so many minutes.",
        key=["dataset", "judge", "summarizer", "setting", "minutes", "measure"],
        plot=Axes("line", "minutes", "score", by="measure", apart=["summarizer", "setting", "judge", "dataset"]),
        across="measure",
        page="scores",
    ).having(
        sorted(rows, key=lambda row: (*(str(row[name]) for name in ("summarizer", "setting", "judge")), row["minutes"]))
    )


def curve(scores: pl.DataFrame, facts: pl.DataFrame, measures: Sequence[Measure], *, judge: str | None) -> list[Row]:
    """
    Scores of summaries written over time (SummHay, figure 3): a point each ten minutes.

    A session counts with its latest snapshot up to the point's minute; one that ended earlier keeps its last.
    """
    snapshots = facts.filter(pl.col("elapsed_minutes").is_not_null())
    known = by_measure(means(with_facts(scores, facts.select("summary_id"))))
    points: list[Row] = []
    for (setting, summarizer), group in by_system(snapshots).items():
        end = float(group.select(pl.col("elapsed_minutes").max()).item())
        for step in range(1, ceil(end / SNAPSHOT_MINUTES) + 1):
            minute = step * SNAPSHOT_MINUTES
            reached = final(group.filter(pl.col("elapsed_minutes") <= minute))
            if reached.height:
                points += [
                    {
                        "summarizer": summarizer,
                        "setting": setting,
                        **marks_of(reached),
                        "judge": judge,
                        "dataset": reached["dataset"][0],
                        "minutes": minute,
                        "n_summaries": reached.height,
                        "measure": measure.name,
                        "score": mean_of(with_facts(own, reached), _AVERAGED).scaled(measure.factor).value,
                        "cut_share": reached["cut_share"].mean(),
                        "in_sample": [],
                    }
                    for measure in measures
                    if (own := known.get(measure.name)) is not None
                ]
    return points
