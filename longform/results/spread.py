"""
The spread between repeats: how far a system's mean moves if its summaries are written again, or judged again.

Repeats are averaged within a query, and intervals resample queries with the means of their repeats. The variance
between n repeats is in them so, divided by n: resampling repeats within the resampled queries besides would count it
twice (Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from longform.results.aggregate import Aggregate, Group, Scored, averaged


class SpreadColumns(TypedDict):
    """Standard deviations of a system's mean over repeats, in the unit of the measure; null: fewer than two."""

    summaries: float | None  # over repeats of its summaries
    judge: float | None  # over repeats of the judge's answers


def spread(group: Group, measure: str, aggregate: Aggregate, factor: float) -> SpreadColumns:
    """
    Return the spread of one system's mean by a measure.

    Only queries, or summaries, that have a value in every repeat count, so that all repeats are of the same ones.
    """
    return {
        "summaries": _deviation(_by_summary_repeat(group, measure), measure, aggregate, factor),
        "judge": _deviation(_by_judge_repeat(group, measure), measure, aggregate, factor),
    }


def _by_summary_repeat(group: Group, measure: str) -> list[list[Scored]]:
    valued = [one for one in group if one.has(measure)]
    found: dict[int, dict[str, Scored]] = {}
    for one in valued:
        found.setdefault(one.info.repeat or 0, {})[one.info.query_id] = one
    if len(found) < 2:
        return []
    common = set.intersection(*(set(by_query) for by_query in found.values()))
    return [[one for query, one in by_query.items() if query in common] for _, by_query in sorted(found.items())]


def _by_judge_repeat(group: Group, measure: str) -> list[list[Scored]]:
    n = max((len(one.repeats[measure]) for one in group if measure in one.repeats), default=1)
    if n < 2:
        return []
    whole = [one for one in group if measure in one.repeats and _has_all(one, measure, n)]
    return [[one._replace(measures={measure: one.repeats[measure][repeat]}) for one in whole] for repeat in range(n)]


def _has_all(one: Scored, measure: str, n: int) -> bool:
    cells = one.repeats[measure]
    return len(cells) == n and all(cell[1] for cell in cells)


def _deviation(repeats: Sequence[Group], measure: str, aggregate: Aggregate, factor: float) -> float | None:
    means = [mean for one in repeats if (mean := _mean(one, measure, aggregate)) is not None]
    return factor * float(np.std(means, ddof=1)) if len(means) > 1 else None


def _mean(group: Group, measure: str, aggregate: Aggregate) -> float | None:
    rows = averaged(group, measure, aggregate)
    n = sum(row.n for row in rows)
    return sum(row.total for row in rows) / n if n else None
