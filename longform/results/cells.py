"""The table of cells: one row a system and judge, one column a measure; what each mean rests on stands beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NotRequired

from longform.metrics.measure import Measure
from longform.results.aggregate import (
    Aggregate,
    Averaging,
    Group,
    axes_json,
    estimate,
    final_summaries,
    mean_cut_share,
    n_judge_repeats,
    n_repeats,
    systems_of,
)
from longform.results.columns import AxesColumns, SystemRow, with_columns
from longform.results.evidence import Evidence, Family, rows_of
from longform.results.spent import Spent, mean_spent
from longform.results.spread import SpreadColumns, spread


class CellRow(SystemRow):
    """
    A system under a judge; a column for each measure has its value.

    The counts are those of insights under a judge of coverage, of targets under one of another task.
    """

    axes: AxesColumns | None
    n_summaries: int
    n_repeats: int
    n_failed: int
    intervals: dict[str, list[float | None]]
    reasons: dict[str, str]  # by measure: why its value is unknown
    failures: NotRequired[dict[str, int]]  # why summaries failed, each reason with its number; absent: none did
    n_judge_repeats: NotRequired[int]  # answers of the judge to each question; absent: one
    spread: NotRequired[dict[str, SpreadColumns]]  # by measure, in its unit; absent: nothing was repeated
    n_insights: NotRequired[int]
    n_covered: NotRequired[int]
    n_unlinked: NotRequired[int]
    n_judged: NotRequired[int]
    n_unjudged: NotRequired[int]
    unjudged_share: NotRequired[float | None]


def measures_of(summaries: Group, measures: Iterable[Measure]) -> list[Measure]:
    """Return those of *measures* that any of the summaries was scored by."""
    scored = {name for one in summaries for name in one.measures}
    return [measure for measure in measures if measure.name in scored]


def all_cells(evidence: Evidence, aggregate: Aggregate) -> list[CellRow]:
    """Return the cells of every judge and data set, of the measures that the configuration lists."""
    how = evidence.averaging._replace(aggregate=aggregate)

    spent = evidence.spent

    def of_family(own: Family) -> list[CellRow]:
        rows = cells(own.summaries, measures_of(own.summaries, evidence.measures), how, judge=own.judge)
        return with_costs(rows, own.summaries, spent) if spent else rows

    return rows_of(evidence, [measure.name for measure in evidence.measures], of_family)


def cells(summaries: Group, measures: Sequence[Measure], how: Averaging, *, judge: str | None) -> list[CellRow]:
    """
    Return one cell for each (setting, summarizer), sorted by both: values with intervals, and counts.

    A value has the unit of its measure. One that is unknown has its reason.
    """
    rows = []
    for (setting, summarizer), group in sorted(systems_of(final_summaries(summaries)).items()):
        found = {m.name: estimate(group, m.name, how).scaled(m.factor) for m in measures}
        row: CellRow = {
            "setting": setting,
            "summarizer": summarizer,
            "twin_of": group[0].info.twin_of,
            "cited_by": group[0].info.cited_by,
            "axes": axes_json(group[0].info),
            "judge": judge,
            "dataset": group[0].info.dataset,
            "n_summaries": len(group),
            "n_repeats": n_repeats(group),
            "n_failed": sum(s.info.failure is not None for s in group),
            "intervals": {name: [one.low, one.high] for name, one in found.items()},
            "reasons": {name: why_unknown(group, name) for name, one in found.items() if one.value is None},
            "cut_share": mean_cut_share(group),
            "in_sample": [],
        }
        if group[0].info.elsewhere:
            row["elsewhere"] = True
        if row["n_failed"]:
            row["failures"] = _failures(group)
        if (n := n_judge_repeats(group, found)) > 1:
            row["n_judge_repeats"] = n
        if row["n_repeats"] > 1 or n > 1:
            row["spread"] = {m.name: spread(group, m.name, how.aggregate, m.factor) for m in measures}
        counts = _insight_counts(group) or _target_counts(group, measures)
        rows.append(with_columns(row, {**counts, **{name: one.value for name, one in found.items()}}))
    return rows


def with_costs(rows: Iterable[CellRow], summaries: Group, spent: Mapping[str, Spent]) -> list[CellRow]:
    """Add to each cell the mean cost of its summaries (`longform.results.spent.SpentColumns`), with reasons."""
    systems = systems_of(final_summaries(summaries))
    found: list[CellRow] = []
    for row in rows:
        means, reasons = mean_spent(systems[row["setting"], row["summarizer"]], spent)
        found.append(with_columns(row, {**means, "reasons": {**row["reasons"], **reasons}}))
    return found


def _failures(group: Group) -> dict[str, int]:
    """Count the reasons why summaries failed, the most frequent first; numbers behind a colon are no other reason."""
    found = Counter((s.info.cause or s.info.failure or "").partition(":")[0] for s in group if s.info.failure)
    return dict(found.most_common())


def _insight_counts(group: Group) -> dict[str, int | float | None]:
    """Count the insights that coverage rests on; a judge of another kind has none, and was not asked of no text."""
    if not any("coverage" in s.measures for s in group):
        return {}
    n_judged, n_unjudged = _count(group, "coverage", 1), _count(_with_text(group), "coverage", 2)
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
    n_judged, n_unjudged = _count(group, name, 1), _count(_with_text(group), name, 2)
    share = n_unjudged / (n_judged + n_unjudged) if n_judged + n_unjudged else None
    return {"n_judged": n_judged, "n_unjudged": n_unjudged, "unjudged_share": share}


def _with_text(group: Group) -> Group:
    """Return the summaries that a judge could read: a failed one is the system's failure, not the judge's."""
    return [one for one in group if one.info.failure is None]


def _count(group: Group, measure: str, place: int) -> int:
    return round(sum(s.measures[measure][place] for s in group if measure in s.measures))


def why_unknown(group: Group, measure: str) -> str:
    """Return the most frequent reason of the summaries."""
    if all(s.info.failure is not None for s in group):
        return "every summary failed"
    reasons = Counter(s.reasons[measure] for s in group if measure in s.reasons)
    return reasons.most_common(1)[0][0] if reasons else "no summary has a value"
