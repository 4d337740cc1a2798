"""The table of cells: one row a system and judge, one column a measure; what each mean rests on stands beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from longform.metrics.measure import Measure
from longform.results.aggregate import (
    Aggregate,
    Group,
    axes_json,
    estimate,
    final_summaries,
    mean_cut_share,
    n_repeats,
    systems_of,
    twin_names,
)
from longform.results.evidence import Evidence, Family, rows_of


def measures_of(summaries: Group, measures: Iterable[Measure]) -> list[Measure]:
    """Return those of *measures* that any of the summaries was scored by."""
    scored = {name for one in summaries for name in one.measures}
    return [measure for measure in measures if measure.name in scored]


def all_cells(evidence: Evidence, aggregate: Aggregate) -> list[dict[str, Any]]:
    """Return the cells of every judge and data set, of the measures that the configuration lists."""
    _, seed, resamples = evidence.averaging

    def of_family(own: Family) -> list[dict[str, Any]]:
        measures = measures_of(own.summaries, evidence.measures)
        return cells(own.summaries, measures, judge=own.judge, aggregate=aggregate, seed=seed, resamples=resamples)

    return rows_of(evidence, [measure.name for measure in evidence.measures], of_family)


def cells(
    summaries: Group,
    measures: Sequence[Measure],
    *,
    judge: str | None,
    aggregate: Aggregate,
    seed: int,
    resamples: int,
) -> list[dict[str, Any]]:
    """
    Return one cell for each (setting, summarizer), sorted by both: values with intervals, and counts.

    A value has the unit of its measure. One that is unknown has its reason.
    """
    resampled: dict[str, Any] = {"aggregate": aggregate, "seed": seed, "resamples": resamples}
    return [
        {
            "setting": setting,
            "summarizer": summarizer,
            **twin_names(group),
            "axes": axes_json(group[0].info),
            "judge": judge,
            "n_summaries": len(group),
            "n_repeats": n_repeats(group),
            "n_failed": sum(s.info.failure is not None for s in group),
            **(_insight_counts(group) or _target_counts(group, measures)),
            **_values(group, measures, resampled),
            "cut_share": mean_cut_share(group),
        }
        for (setting, summarizer), group in sorted(systems_of(final_summaries(summaries)).items())
    ]


def _values(group: Group, measures: Sequence[Measure], resampled: dict[str, Any]) -> dict[str, Any]:
    found = {m.name: estimate(group, m.name, **resampled).scaled(m.factor) for m in measures}
    return {
        **{name: one.value for name, one in found.items()},
        "intervals": {name: [one.low, one.high] for name, one in found.items()},
        "reasons": {name: _why_unknown(group, name) for name, one in found.items() if one.value is None},
    }


def _insight_counts(group: Group) -> dict[str, int | float | None]:
    """Count the insights that coverage rests on; a judge of another kind has none."""
    if not any("coverage" in s.measures for s in group):
        return {}
    n_judged, n_unjudged = _count(group, "coverage", 1), _count(group, "coverage", 2)
    return {
        "n_insights": n_judged,
        "n_covered": _count(group, "citation", 1),
        "n_unjudged": n_unjudged,
        "unjudged_share": n_unjudged / (n_judged + n_unjudged) if n_judged + n_unjudged else None,
        "n_unlinked": _count(group, "unlinked", 0),
    }


def _target_counts(group: Group, measures: Iterable[Measure]) -> dict[str, int | float | None]:
    """Count what a judge of another task than coverage and support judged, by the first measure of its verdicts."""
    others = (one.name for one in measures if one.judged_by not in (None, "coverage", "support"))
    if (name := next((one for one in others if any(one in s.measures for s in group)), None)) is None:
        return {}
    n_judged, n_unjudged = _count(group, name, 1), _count(group, name, 2)
    share = n_unjudged / (n_judged + n_unjudged) if n_judged + n_unjudged else None
    return {"n_judged": n_judged, "n_unjudged": n_unjudged, "unjudged_share": share}


def _count(group: Group, measure: str, place: int) -> int:
    return int(sum(s.measures[measure][place] for s in group if measure in s.measures))


def _why_unknown(group: Group, measure: str) -> str:
    """Return the most frequent reason of the summaries."""
    if all(s.info.failure is not None for s in group):
        return "every summary failed"
    reasons = Counter(s.reasons[measure] for s in group if measure in s.reasons)
    return reasons.most_common(1)[0][0] if reasons else "no summary has a value"
