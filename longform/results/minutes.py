"""Scores of summaries that were written over time."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from longform.metrics.measure import Measure
from longform.results.aggregate import (
    Averaging,
    Group,
    estimate,
    final_summaries,
    mean_cut_share,
    systems_of,
    twin_names,
)
from longform.results.cells import measures_of
from longform.results.columns import SystemRow, with_columns
from longform.results.evidence import Evidence, Family, rows_of

SNAPSHOT_MINUTES = 10.0  # SummHay, appendix A.4: a human's summary is saved every ten minutes
_AVERAGED = Averaging("per_summary", seed=0, resamples=100)  # no interval is shown


class MinutesRow(SystemRow):
    """Scores of a system after so many minutes; a column for each measure."""

    minutes: float
    n_summaries: int


def over_minutes(evidence: Evidence) -> list[MinutesRow]:
    """Return the points of every judge and data set, of the measures that the configuration lists."""
    measures = [measure for measure in evidence.measures if measure.unit == "points"]
    names = [measure.name for measure in measures]

    def of_family(own: Family) -> list[MinutesRow]:
        return curve(own.summaries, measures_of(own.summaries, measures), judge=own.judge)

    return rows_of(evidence, names, of_family)


def curve(summaries: Group, measures: Sequence[Measure], *, judge: str | None) -> list[MinutesRow]:
    """
    Scores of summaries written over time (SummHay, figure 3): a point each ten minutes.

    A session counts with its latest snapshot up to the point's minute; one that ended earlier keeps its last.
    """
    snapshots = [s for s in summaries if s.info.elapsed_minutes is not None]
    points: list[MinutesRow] = []
    for (setting, summarizer), group in sorted(systems_of(snapshots).items()):
        end = max(s.info.elapsed_minutes or 0.0 for s in group)
        for step in range(1, ceil(end / SNAPSHOT_MINUTES) + 1):
            minute = step * SNAPSHOT_MINUTES
            reached = final_summaries([s for s in group if (s.info.elapsed_minutes or 0.0) <= minute])
            if reached:
                means = {m.name: estimate(reached, m.name, _AVERAGED).scaled(m.factor).value for m in measures}
                row: MinutesRow = {
                    "summarizer": summarizer,
                    "setting": setting,
                    **twin_names(reached),
                    "judge": judge,
                    "dataset": reached[0].info.dataset,
                    "minutes": minute,
                    "n_summaries": len(reached),
                    "cut_share": mean_cut_share(reached),
                    "in_sample": [],
                }
                points.append(with_columns(row, means))
    return points
