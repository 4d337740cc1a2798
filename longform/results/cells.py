"""The table of cells: one row a system and judge, one column a measure; what each mean rests on stands beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, cast

from longform.axes import Axes
from longform.evidence.later import pl
from longform.evidence.scores import final, means, samples, with_facts
from longform.metrics.measure import Measure
from longform.metrics.statistics import Estimate, pooled_mean
from longform.results.aggregate import Aggregate, Averaging, Group, final_summaries, systems_of
from longform.results.columns import AxesColumns, SystemRow, axes_columns, with_columns
from longform.results.evidence import Evidence, Family, rows_of
from longform.results.spent import Spent, mean_spent
from longform.results.spread import NO_SPREAD, SpreadColumns, spread


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
        rows = cells(own.scores, own.facts, evidence.measures, how, judge=own.judge)
        return with_costs(rows, own.summaries, spent) if spent else rows

    return rows_of(evidence, [measure.name for measure in evidence.measures], of_family)


def cells(
    scores: pl.DataFrame, facts: pl.DataFrame, measures: Iterable[Measure], how: Averaging, *, judge: str | None
) -> list[CellRow]:
    """
    Return one cell for each (setting, summarizer), sorted by both: values with intervals, and counts.

    A value has the unit of its measure. One that is unknown has its reason.

    Args:
        scores: Scores by one judge: `longform.results.evidence.Family.scores`.
        facts: Rows of the summaries of one data set that have any: `longform.results.evidence.Family.facts`.
        measures: Measures in the report's order; those that no summary was scored by have no column.
        how: Means are averaged and resampled.
        judge: For the reader.
    """
    summaries, known = final(facts), set(with_facts(scores, facts.select("summary_id"))["measure"].unique())
    listed = [measure for measure in measures if measure.name in known]
    names = known.intersection([*(measure.name for measure in listed), *_COUNTED])
    found = {name: _by_system(scores.filter(pl.col("measure") == name), summaries) for name in names}
    return [
        _cell(one, {name: own[key] for name, own in found.items() if key in own}, listed, how, judge)
        for one in _systems(summaries)
        for key in [(one["setting"], one["summarizer"])]
    ]


_COUNTED = ("coverage", "citation", "unlinked")
"""Measures that the counts of insights come from, listed or not."""
System = tuple[str, str]
"""The setting and the summarizer of a system."""


def _systems(summaries: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a row for each system, sorted: the facts of its first summary, counts, and the causes of failures."""
    failed = pl.col("failure").is_not_null()
    found = summaries.group_by("setting", "summarizer", maintain_order=True).agg(
        pl.exclude("cut_share").first(),
        pl.col("cut_share").mean(),
        n_summaries=pl.len(),
        n_repeats=1 + pl.col("summary_repeat").max().fill_null(0),
        n_failed=failed.sum(),
        causes=pl.coalesce("cause", "failure").filter(failed),
    )
    return sorted(found.to_dicts(), key=lambda row: (row["setting"], row["summarizer"]))


def _by_system(scores: pl.DataFrame, summaries: pl.DataFrame) -> Mapping[System, pl.DataFrame]:
    """Return the scores of each system by one measure, with the facts that means and counts need."""
    facts = summaries.select("summary_id", "setting", "summarizer", "query_id", "cluster", "summary_repeat", "failure")
    found = with_facts(scores.drop("judge", "measure"), facts)
    of_systems = found.partition_by("setting", "summarizer", as_dict=True, include_key=False)
    return cast("Mapping[System, pl.DataFrame]", of_systems)


def _cell(
    facts: Mapping[str, Any],
    scores: Mapping[str, pl.DataFrame],
    measures: Sequence[Measure],
    how: Averaging,
    judge: str | None,
) -> CellRow:
    """Return the cell of a system from its scores by each measure that it has any of."""
    own = {name: means(one) for name, one in scores.items()}
    found = {m.name: _estimate(own.get(m.name), how).scaled(m.factor) for m in measures}
    n_judge_repeats = max((_n_repeats(scores[m.name]) for m in measures if m.name in scores), default=1)
    row: CellRow = {
        "setting": facts["setting"],
        "summarizer": facts["summarizer"],
        "twin_of": facts["twin_of"],
        "cited_by": facts["cited_by"],
        "axes": None if facts["retriever"] is None else axes_columns(Axes(*(facts[name] for name in Axes._fields))),
        "judge": judge,
        "dataset": facts["dataset"],
        "n_summaries": facts["n_summaries"],
        "n_repeats": facts["n_repeats"],
        "n_failed": facts["n_failed"],
        "intervals": {name: [one.low, one.high] for name, one in found.items()},
        "reasons": {name: _why_unknown(facts, own.get(name)) for name, one in found.items() if one.value is None},
        "cut_share": facts["cut_share"],
        "in_sample": [],
    }
    if facts["elsewhere"]:
        row["elsewhere"] = True
    if row["n_failed"]:
        row["failures"] = _failures(facts["causes"])
    if n_judge_repeats > 1:
        row["n_judge_repeats"] = n_judge_repeats
    if row["n_repeats"] > 1 or n_judge_repeats > 1:
        row["spread"] = {
            m.name: spread(scores[m.name], how.aggregate, m.factor) if m.name in scores else NO_SPREAD for m in measures
        }
    counts = _insight_counts(own) or _target_counts(own, measures)
    return with_columns(row, {**counts, **{name: one.value for name, one in found.items()}})


def _estimate(scores: pl.DataFrame | None, how: Averaging) -> Estimate:
    """Return the mean of one system, as a share, with its interval over clusters."""
    if scores is None:
        return Estimate(None, None, None, 0)
    own = samples(scores, how.aggregate)
    clusters = own["cluster"].to_physical().to_list()
    return pooled_mean(own["total"].to_numpy(), own["n"].to_numpy(), clusters, seed=how.seed, resamples=how.resamples)


def with_costs(rows: Iterable[CellRow], summaries: Group, spent: Mapping[str, Spent]) -> list[CellRow]:
    """Add to each cell the mean cost of its summaries (`longform.results.spent.SpentColumns`), with reasons."""
    systems = systems_of(final_summaries(summaries))
    found: list[CellRow] = []
    for row in rows:
        means, reasons = mean_spent(systems[row["setting"], row["summarizer"]], spent)
        found.append(with_columns(row, {**means, "reasons": {**row["reasons"], **reasons}}))
    return found


def _n_repeats(asked: pl.DataFrame) -> int:
    """Return how many answers of the judge stand behind a score at most."""
    return max(asked["summary_id"].value_counts()["count"]) if asked["repeat"].max() else 1


def _failures(causes: Iterable[str]) -> dict[str, int]:
    """Count the reasons why summaries failed, the most frequent first; numbers behind a colon are no other reason."""
    return dict(Counter(cause.partition(":")[0] for cause in causes).most_common())


def _insight_counts(own: Mapping[str, pl.DataFrame]) -> dict[str, int | float | None]:
    """Count the insights that coverage rests on; a judge of another kind has none, and was not asked of no text."""
    if "coverage" not in own:
        return {}
    n_judged, n_unjudged = _count(own["coverage"], "n"), _count(_with_text(own["coverage"]), "unjudged")
    return {
        "n_insights": n_judged,
        "n_covered": _count(own.get("citation"), "n"),
        "n_unjudged": n_unjudged,
        "unjudged_share": n_unjudged / (n_judged + n_unjudged) if n_judged + n_unjudged else None,
        "n_unlinked": _count(own.get("unlinked"), "total"),
    }


def _target_counts(own: Mapping[str, pl.DataFrame], measures: Iterable[Measure]) -> dict[str, int | float | None]:
    """Count what a judge of another task than coverage and support judged, by the first measure of its verdicts."""
    others = (one.name for one in measures if one.judged_by not in (None, "coverage", "support"))
    if (name := next((one for one in others if one in own), None)) is None:
        return {}
    n_judged, n_unjudged = _count(own[name], "n"), _count(_with_text(own[name]), "unjudged")
    share = n_unjudged / (n_judged + n_unjudged) if n_judged + n_unjudged else None
    return {"n_judged": n_judged, "n_unjudged": n_unjudged, "unjudged_share": share}


def _with_text(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of summaries that a judge could read: a failed one is the system's failure, not the judge's."""
    return scores.filter(pl.col("failure").is_null())


def _count(scores: pl.DataFrame | None, column: str) -> int:
    return 0 if scores is None else round(scores[column].sum())


def _why_unknown(facts: Mapping[str, Any], scores: pl.DataFrame | None) -> str:
    reasons = () if scores is None else scores["reason"].drop_nulls()
    return _most_frequent(reasons, all_failed=facts["n_failed"] == facts["n_summaries"])


def why_unknown(group: Group, measure: str) -> str:
    """Return the most frequent reason of the summaries."""
    reasons = (one.reasons[measure] for one in group if measure in one.reasons)
    return _most_frequent(reasons, all_failed=all(one.info.failure is not None for one in group))


def _most_frequent(reasons: Iterable[str], *, all_failed: bool) -> str:
    if all_failed:
        return "every summary failed"
    found = Counter(reasons).most_common(1)
    return found[0][0] if found else "no summary has a value"
