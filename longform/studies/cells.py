"""
Cells: the value of each system by each measure, under each judge and on each data set, with what it rests on.

A row is (judge, data set, system, measure). Counts, shares and costs of a system are rows beside its scores,
each an entry of FACTS. A table of measures says what each value is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from longform.axes import SystemAxes
from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.measures import named
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import Merging
from longform.metrics.measure import Description, Measure, described
from longform.metrics.statistics import Estimate
from longform.results.aggregate import NO_SPREAD, Aggregate, SpreadColumns, by_system, mean_of, spread, why_unknown
from longform.results.calls import mean_spent
from longform.results.cells import (
    BESIDE_SCORES,
    CELLS,
    FAILURES,
    IN_WORDS,
    KEY,
    MEASURES,
    POOLED,
    WITH_EVERY_SYSTEM,
    WITHOUT_SCORE,
)
from longform.results.evidence import Evidence, Family, families
from longform.results.faithfulness_tables import Key, by_query, merging_of, score
from longform.tables.table import AXES, CUT, DATASET, JUDGE, SYSTEM, Column, Table, Unit, Value

_NAMED = (JUDGE, DATASET, *SYSTEM)
_COUNTED = ("coverage", "citation", "unlinked")
"""Measures that the counts of insights come from, listed or not."""


class Unknown(NamedTuple):
    """The reason of a value that is not known."""

    reason: str


@dataclass(frozen=True)
class Cell:
    """A system under a judge."""

    judge: str | None  # None: its measures need none
    facts: Mapping[str, Any]  # columns of its first summary, which all share, with counts and the causes of failures
    scores: Mapping[str, pl.DataFrame]  # measure -> its scores, a row for each repeat of the judge
    measures: Sequence[Measure]  # those that the table shows
    summary_ids: Sequence[str]  # empty if the run knows of no costs
    evidence: Evidence
    n_cells: int | None = None  # cells that a judge of support was asked for; None: it is another judge

    @cached_property
    def means(self) -> Mapping[str, pl.DataFrame]:
        """Measure -> the means over the repeats of the judge."""
        return {name: means(one) for name, one in self.scores.items()}

    @cached_property
    def counted(self) -> Mapping[str, int]:
        """Counts of what the judge judged: of insights, or of the targets of another task than coverage and support."""
        others = [one.name for one in self.measures if one.judged_by not in (None, "coverage", "support")]
        first = next((name for name in ("coverage", *others) if name in self.means), None)
        if first is None:
            return {}
        own = self.means[first]
        asked = own.filter(pl.col("failure").is_null())  # a failed summary is the system's failure, not the judge's
        found = {"n": _sum(own, "n"), "n_unjudged": _sum(asked, "unjudged")}
        if first != "coverage":
            return {"n_judged": found["n"], **found}
        covered, unlinked = self.means.get("citation"), self.means.get("unlinked")
        more = {"n_covered": _sum(covered, "n"), "n_unlinked": _sum(unlinked, "total")}
        return {"n_insights": found["n"], **found, **more}

    @cached_property
    def spent(self) -> Mapping[str, float | Unknown | None]:
        """The mean costs of a summary; empty: the run knows of none."""
        if self.evidence.spent.is_empty():
            return {}
        costs, reasons = mean_spent(self.summary_ids, self.evidence.spent)
        return {**costs, **{name: Unknown(why) for name, why in reasons.items()}}

    @cached_property
    def n_judge_repeats(self) -> int:
        """The answers of the judge to each question."""
        return max((_n_repeats(self.scores[m.name]) for m in self.measures if m.name in self.scores), default=1)

    def unjudged_share(self) -> float | Unknown | None:
        if self.n_cells is not None:
            n, unjudged = self.n_cells, _sum(self.means[self.measures[-1].name], "unjudged")
        elif "n" in self.counted:
            unjudged = self.counted["n_unjudged"]
            n = self.counted["n"] + unjudged
        else:
            return None
        return unjudged / n if n else Unknown("nothing was to be judged")

    def n_without_score(self) -> int | None:
        """Return how many summaries a judge of support could not score; None: it is another judge."""
        if self.n_cells is None:
            return None
        return len(self.means[self.measures[-1].name].filter(pl.col("failure").is_null(), pl.col("n").round() == 0))

    def estimate(self, measure: Measure, aggregate: Aggregate) -> Estimate:
        """Return the mean of a measure with its interval over clusters, in its unit."""
        scores = self.means.get(measure.name)
        if scores is None:
            return Estimate(None, None, None, 0)
        if self.n_cells is not None:
            how = self.evidence.averaging._replace(aggregate="pooled")
            return score(by_query(scores), how, Key.of(str(self.judge), self.facts))
        return mean_of(scores, self.evidence.averaging._replace(aggregate=aggregate)).scaled(measure.factor)

    def spread(self, measure: Measure) -> SpreadColumns:
        """Return how far the mean of a measure moves between repeats."""
        if self.facts["n_repeats"] == self.n_judge_repeats == 1 or measure.name not in self.scores:
            return NO_SPREAD
        return spread(self.scores[measure.name], self.evidence.averaging.aggregate, measure.factor)

    def why_unknown(self, measure: str) -> str:
        """Return the most frequent reason of the summaries."""
        return why_unknown(self.means.get(measure), all_failed=self.facts["n_failed"] == self.facts["n_summaries"])


def _sum(scores: pl.DataFrame | None, column: str) -> int:
    return 0 if scores is None else round(scores[column].sum())


def _n_repeats(asked: pl.DataFrame) -> int:
    """Return how many answers of the judge stand behind a score at most."""
    return max(asked["summary_id"].value_counts()["count"]) if asked["repeat"].max() else 1


class Fact(NamedTuple):
    """A value of a system that is no score."""

    column: Column
    of: Callable[[Cell], float | Unknown | None]  # returns the value; None: the system has none
    shown: str = WITH_EVERY_SYSTEM  # the place in reports


def _counted(name: str, title: str, told: str = "") -> Fact:
    return Fact(Column(name, "count", title, told), lambda cell: cell.counted.get(name))


def _cost(name: str, unit: Unit, title: str, told: str = "", digits: int | None = 0) -> Fact:
    return Fact(Column(name, unit, title, told, digits=digits), lambda cell: cell.spent.get(name), BESIDE_SCORES)


PROMPT_UNKNOWN = Unknown("what the prompts held is not known, as with summaries that were written elsewhere")
_USD = "over the calls that wrote it, judges apart; 0 only if no model is asked or its price is 0"
_UNJUDGED = "of what was to be judged, without a readable judgement"
FACTS = (
    Fact(
        CUT,
        lambda cell: PROMPT_UNKNOWN if cell.facts["cut_share"] is None else cell.facts["cut_share"],
        BESIDE_SCORES,
    ),
    Fact(Column("unjudged_share", "share", "share unjudged", _UNJUDGED, "lower"), Cell.unjudged_share, BESIDE_SCORES),
    _cost("usd_a_summary", "usd", "dollars a summary", _USD, 5),
    _cost("tokens_in", "number", "tokens in, a summary"),
    _cost("tokens_out", "number", "tokens out, a summary"),
    _cost("seconds", "seconds", "time a summary", digits=None),
    Fact(Column("n_summaries", "count", "summaries"), lambda cell: cell.facts["n_summaries"]),
    Fact(Column("n_failed", "count", "failed summaries", "they have no text"), lambda cell: cell.facts["n_failed"]),
    Fact(
        Column(WITHOUT_SCORE, "count", "without score", "summaries that have no sentence, or none that is decided"),
        Cell.n_without_score,
    ),
    Fact(Column("n_repeats", "count", "repeats"), lambda cell: cell.facts["n_repeats"], IN_WORDS),
    Fact(
        Column("n_judge_repeats", "count", "answers of the judge"),
        lambda cell: cell.n_judge_repeats if cell.n_judge_repeats > 1 else None,
        IN_WORDS,
    ),
    _counted("n_insights", "insights"),
    _counted("n_covered", "covered insights", "found, fully or in part"),
    _counted("n_judged", "judged targets"),
    _counted("n_unjudged", "unjudged", "without a readable judgement"),
    _counted("n_unlinked", "unlinked insights", "covered, but the judge named no bullet that exists"),
)
"""Values beside the scores of a system, in their order: one more is a column more on pages, which name none."""


def tables(evidence: Evidence) -> list[Table]:
    """Return the cells, what each measure of theirs is, and why summaries failed."""
    of_support, checked = list[Measure](), evidence.checked
    if checked is not None and evidence.experiment is not None:
        of_support = measures_of_support(merging_of(evidence.experiment))
    cells = [
        cell
        for measures, by_support in ((evidence.measures, None), (of_support, checked))
        for family in families(evidence, *(one.name for one in measures))
        for cell in cells_of(family, measures, by_support)
    ]
    return tables_of(cells, evidence, of_support)


def measures_of_support(merging: Merging) -> list[Measure]:
    """Return the measures that every judge of support is told by."""
    return [one for one in named((SHARE, merging.name)) if isinstance(one, Measure)]


def tables_of(cells: Iterable[Cell], evidence: Evidence, of_support: Sequence[Measure] = ()) -> list[Table]:
    """Return the tables of *cells* of a run; what two cells of a system have is that of the first."""
    known = list(cells)
    rows = distinct(pair for cell in known for pair in _rows(cell))
    failed = failures([row for cell in known for row in _failures(cell)])
    measures = measures_table(list(map(described, evidence.measures)), of_support)
    return [table(rows, evidence.averaging.aggregate), measures, *failed]


Reasoned = tuple[Mapping[str, Value], Mapping[str, str]]
"""A row, and by column why a value of it is unknown."""


def distinct(rows: Iterable[Reasoned]) -> list[Reasoned]:
    """Return the first of the rows of each judge, system and measure."""
    found: dict[tuple[Value, ...], Reasoned] = {}
    for row, reasons in rows:
        found.setdefault(tuple(row.get(name) for name in (*KEY, "measure")), (row, reasons))
    return list(found.values())


def table(rows: Sequence[Reasoned], aggregate: str) -> Table:
    """Return the cells from rows and why their values are unknown."""
    of_value = {"pooled": "the mean of all insights together", "per_summary": "the mean of the summaries' own means"}
    return Table(
        CELLS,
        [
            *_NAMED,
            *AXES,
            Column("order", shown=False),
            Column("measure"),
            Column("value", "stated", told=of_value.get(aggregate, "")),
            Column("per_summary", "stated", "per summary", of_value["per_summary"]),
            Column("unit"),
            Column("spread_summaries", "stated", told="standard deviation of the mean over repeats of the summaries"),
            Column("spread_judge", "stated", told="the same over repeats of the judge's answers"),
        ],
        [row for row, _ in rows],
        title="Every system",
        key=[*KEY, "measure"],
        reasons=[reasons for _, reasons in rows],
        apart=("judge", "dataset"),
        shown=False,
    )


def measures_table(listed: Sequence[Description], of_support: Sequence[Measure]) -> Table:
    """Return what measures that are listed are, those that judges of support have in any case, and FACTS."""
    names = {one["name"] for one in listed}
    more = [{**described(one), "pooled": True} for one in of_support if one.name not in names]
    words = ("name", "unit", "title", "told", "better", "digits")
    facts = [{**{word: getattr(one.column, word) for word in words}, "fact": one.shown} for one in FACTS]
    columns = [
        Column("name"),
        Column("title"),
        Column("unit"),
        Column("better", none="neither"),
        Column("told"),
        Column("judged_by", told="the kind of judge that it needs", none="none"),
        Column("digits", "count", none="as the unit has"),
        Column("pooled", none="no", told="true if the sentences of all summaries are always taken together"),
        Column("fact", told="where reports show what is known of a system and is no score", none="a score"),
    ]
    rows = [*listed, *more, *facts]
    return Table(MEASURES, columns, [], title="Measures", key=["name"], shown=False).having(rows)


def failures(rows: Sequence[Mapping[str, Value]]) -> list[Table]:
    """Return why summaries failed, each reason of a judge and system once; none if none did."""
    key = (*KEY, "reason")
    own = {tuple(row.get(name) for name in key): row for row in rows}
    columns = [*_NAMED[:4], Column("reason"), Column("n_summaries", "count", "summaries")]
    made = Table(FAILURES, columns, list(own.values()), title="Summaries that failed", key=key, shown=False)
    return [made] if rows else []


def cells_of(family: Family, measures: Sequence[Measure], checked: pl.DataFrame | None = None) -> Iterator[Cell]:
    """Yield the systems of a data set under a judge, sorted by setting and summarizer, with those of *measures*."""
    scores, facts, evidence = family.scores, family.facts, family.evidence
    summaries, known = final(facts), set(with_facts(scores, facts.select("summary_id"))["measure"].unique())
    listed = [measure for measure in measures if measure.name in known]
    names = known.intersection([*(measure.name for measure in listed), *_COUNTED])
    found = {name: _by_system(scores.filter(pl.col("measure") == name), summaries) for name in names}
    ids = {name: own["summary_id"].to_list() for name, own in by_system(summaries).items()}
    n_cells = {} if checked is None else dict(checked.filter(judge=family.judge).select("summary_id", "n_cells").rows())
    for one in _systems(summaries):
        key = (one["setting"], one["summarizer"])
        own = {name: scored[key] for name, scored in found.items() if key in scored}
        asked = [n_cells[summary_id] for summary_id in ids[key] if summary_id in n_cells]
        yield Cell(family.judge, one, own, listed, ids[key], evidence, sum(asked) if asked else None)


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


def _by_system(scores: pl.DataFrame, summaries: pl.DataFrame) -> Mapping[tuple[str, str], pl.DataFrame]:
    """Return the scores of each system by one measure, with the facts that means and counts need."""
    facts = summaries.select("summary_id", "setting", "summarizer", "query_id", "cluster", "summary_repeat", "failure")
    found = with_facts(scores.drop("judge", "measure"), facts)
    of_systems = found.partition_by("setting", "summarizer", as_dict=True, include_key=False)
    return cast("Mapping[tuple[str, str], pl.DataFrame]", of_systems)


def _names(cell: Cell) -> dict[str, Value]:
    """Return the columns that name a system, without those that are empty."""
    facts = cell.facts
    marks = {name: facts[name] for name in ("twin_of", "cited_by") if facts[name] is not None}
    axes = {key: facts[key] for key in SystemAxes._fields if facts["retriever"] is not None and facts[key] is not None}
    elsewhere = {"elsewhere": True} if facts["elsewhere"] else {}
    return {"judge": cell.judge, **{name: facts[name] for name in KEY[1:]}, **marks, **elsewhere, **axes}


def _rows(cell: Cell) -> Iterator[tuple[dict[str, Value], dict[str, str]]]:
    """Yield a row for each measure and each fact of a system, with why its value is unknown."""
    names = _names(cell)
    for measure in cell.measures:
        aggregate = cell.evidence.averaging.aggregate
        value = cell.estimate(measure, aggregate)
        other = value if aggregate == "per_summary" else cell.estimate(measure, "per_summary")
        spread_by = cast("Mapping[str, float | None]", cell.spread(measure))
        repeated = {f"spread_{by}": one for by, one in spread_by.items() if one is not None}
        why = cell.why_unknown(measure.name) if value.value is None else None
        reasons = {"value": why, "per_summary": why} if why else {}
        reasons |= {"per_summary": POOLED} if cell.n_cells is not None else {}
        averages = {"value": None if why else value, "per_summary": None if "per_summary" in reasons else other}
        row = {**names, "measure": measure.name, **averages}
        yield {**row, "unit": measure.unit, **repeated}, reasons
    for fact in FACTS:
        if (known := fact.of(cell)) is not None:
            why = known.reason if isinstance(known, Unknown) else None
            row = {**names, "measure": fact.column.name, "value": None if isinstance(known, Unknown) else known}
            yield {**row, "unit": fact.column.unit}, {"value": why} if why else {}


def _failures(cell: Cell) -> Iterator[dict[str, Value]]:
    """Yield the reasons why summaries failed, the most frequent first; numbers behind a colon are no other reason."""
    names = {name: value for name, value in _names(cell).items() if name in KEY}
    for reason, n in Counter(cause.partition(":")[0] for cause in cell.facts["causes"]).most_common():
        yield {**names, "reason": reason, "n_summaries": n}
