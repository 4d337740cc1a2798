"""The sections of systems: a column for each measure and fact that results describe, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from longform.keys import in_groups
from longform.metrics.paired_differences import ALPHA
from longform.metrics.statistics import Estimate
from longform.report.overview import clusters_told
from longform.report.parts import (
    Section,
    by_judge,
    failures_told,
    in_sample_told,
    judge_line,
    listed,
    main_cells,
    repeats_told,
)
from longform.report.provenance import AVERAGED
from longform.report.result_tables import shown_part, told_of
from longform.report.tables import (
    EXTREMES,
    NOT_RUN,
    ShownTable,
    best_first,
    distinct,
    has_oracle,
    is_grid,
    is_wide,
    mark_of,
    oracle_told,
    reason,
    settings_of,
    summarizers_by_joint,
    system_of,
)
from longform.results.aggregate import NO_SPREAD
from longform.results.cells import (
    BESIDE_SCORES,
    CITATION,
    LENGTH,
    MAIN,
    WITH_EVERY_SYSTEM,
    CellRow,
    Columns,
    Row,
    all_heads,
    by_this_judge,
    capitalized,
    fact_heads,
    head_of,
    heads_of,
    held,
    interval_in,
    listed_in,
    main_measure,
    number_in,
    pairs_of,
    systems_in,
    table_rows,
    text_in,
    within,
)
from longform.results.results import Results
from longform.settings.systems import SystemName
from longform.tables.layout import LayoutPart
from longform.tables.table import Axes, Column, Table

_SYSTEM = ("setting", "summarizer")
_OF_JUDGE = "unjudged_share"
"""The fact beside scores that each judge has of its own; none is said of a further one if it judged all."""
_ELSEWHERE = "Intervals stand under “Every system”."
_FRONTIER = "no system is better and cheaper (see “Quality beside cost”)"
_SPREAD = (
    "standard deviation of the system's mean over repeats of its summaries, and over repeats of the judge's answers"
)
Known = tuple[Column, Mapping[SystemName, str | None]]
"""A column, and its texts of systems."""


def score_sections(results: Results) -> Iterator[Section]:
    """One section with a table a judge and data set: the systems whose documents were not ordered on purpose."""
    cells, tables = main_cells(results), list[ShownTable]()
    first: dict[str | None, Sequence[CellRow]] = {}
    for _, dataset, own in by_judge(cells):
        tables += _tables(results, own, first.setdefault(dataset, own))
    if tables:
        paragraphs = [
            *oracle_told(cells),
            *budgets_told(cells),
            *clusters_told(results.get("clusters")),
            *repeats_told(cells),
            *failures_told(cells),
        ]
        paragraphs += filter(None, [in_sample_told(results)])
        title = "Coverage, citation and joint score" if any("coverage" in cell for cell in cells) else "Scores"
        yield Section("scores", title, paragraphs, tables)


def budgets_told(cells: Sequence[CellRow]) -> list[str]:
    """Say what limits the prompts of which settings had, if not all had the same."""
    known = [cell for cell in cells if cell["axes"] is not None and not cell.get("elsewhere")]
    limits = in_groups((cell["axes"].get("budget_tokens"), cell["setting"]) for cell in known)
    if len(limits) < 2:
        return []
    named = {limit: listed([*dict.fromkeys(own)], most=4, between=", ") for limit, own in limits.items()}
    told = (
        f"{'no limit' if limit is None else f'{limit:,} tokens'} for {named[limit]}"
        for limit in sorted(named, key=lambda limit: limit or 0)
    )
    return [f"Prompts had unequal budgets for documents: {'; '.join(told)}. Differences may be of these."]


def _tables(results: Results, cells: Sequence[CellRow], first: Sequence[CellRow]) -> Iterator[ShownTable]:
    """Yield the scores of one judge and data set, and what is known of the systems that *first* do not say."""
    heads, main = by_this_judge(heads_of(results, cells), results, cells[0]["judge"]), main_measure(cells[0])
    ranked = "joint score" if main == MAIN else head_of(results, main).head
    group = [*filter(None, [groups_column(results, cells, main)])]
    if is_grid(cells):
        where = "with the oracle retriever" if has_oracle(cells) else "in the best setting"
        told = f"Rows by {ranked} {where}, best first. {_ELSEWHERE}"
        yield _grid(results, cells, heads, settings_of(cells), told)
    else:
        yield _systems(results, cells, heads, f"Rows by {ranked}, best first.", known=group)
    beside = [head for head in all_heads(results) if head.name == LENGTH and head.name in held(cells)]
    beside = [head for head in [*beside, *fact_heads(results, cells, BESIDE_SCORES)] if _is_new(head, cells, first)]
    known = [*(group if is_grid(cells) else ()), *_frontier(results, cells), *_spread(cells)]
    if beside or known:
        table = _systems(results, cells, beside, "", known=known)
        yield table._replace(caption=f"Beside the scores of the same systems. {table.caption}")


def _is_new(head: Column, cells: Sequence[Columns], first: Sequence[Columns]) -> bool:
    """Return whether a column says what it did not say of the same systems under the first judge."""
    told = {system_of(cell): cell.get(head.name) for cell in first}
    if head.name == _OF_JUDGE and cells is not first:
        return any(cell.get(head.name) for cell in cells)
    return cells is first or any(cell.get(head.name) != told.get(system_of(cell)) for cell in cells)


def estimate(cell: Columns, measure: str) -> Estimate:
    """Return the value of a row with its interval."""
    low, high = interval_in(cell, measure) or (None, None)
    return Estimate(number_in(cell, measure), low, high, 0)


def _systems(
    results: Results,
    cells: Sequence[CellRow],
    heads: Sequence[Column],
    told: str,
    *,
    known: Sequence[Known] = (),
    key: Sequence[str] = _SYSTEM,
) -> ShownTable:
    """Return a row for each system, those of a judge together, the best first."""
    ordered = [cell for *_, own in by_judge(cells) for cell in best_first(own)]
    rows = [
        {
            **cell,
            **{name: estimate(cell, name) for name in within(cell, "intervals")},
            **{column.name: texts.get(system_of(cell)) for column, texts in known},
        }
        for cell in ordered
    ]
    columns = [*(Column(name) for name in key), *heads, *(column for column, _ in known)]
    table = Table("systems", columns, rows, told=told, key=key, reasons=[cell["reasons"] for cell in ordered])
    scored = held(within(cell, "intervals") for cell in cells)
    means = {head.name: {"measure": head.name} for head in heads if head.name in scored}
    return _shown(results, table, heads=columns, means=means)


def _shown(
    results: Results, table: Table, *, heads: Sequence[Column], means: Mapping[str, Mapping[str, str]]
) -> ShownTable:
    """Return the table below the line of its judge, unless its rows name theirs, with what *heads* say."""
    alone = "judge" not in table.key
    values = {name: table.rows[0].get(name) for name in ("judge", "dataset")} if alone else {}
    every = table._replace(rows=main_cells(results)) if alone else table
    return shown_part(results, every, LayoutPart(values, table), told_of(heads), means=means)


def _grid(
    results: Results, cells: Sequence[CellRow], heads: Sequence[Column], settings: Sequence[str], told: str
) -> ShownTable:
    """Return one row a summarizer, one column a (measure, setting): SummHay's table 2."""
    by_key = {system_of(cell): cell for cell in cells}
    marked = {str(cell["setting"]): f"{cell['setting']} {mark_of(cell, 'setting') or ''}".strip() for cell in cells}
    means = {f"{one} {head.name}": {"measure": head.name, "setting": one} for head in heads for one in settings}
    columns = [
        head._replace(name=f"{one} {head.name}", title=marked[one], group=head.head, unknown=NOT_RUN)
        for head in heads
        for one in settings
    ]
    rows, reasons = [], []
    for summarizer in summarizers_by_joint(cells):
        of = {name: by_key.get(SystemName(summarizer, mean["setting"])) for name, mean in means.items()}
        if run := {name: cell for name, cell in of.items() if cell is not None}:
            values = {name: number_in(cell, means[name]["measure"]) for name, cell in run.items()}
            rows.append({**next(iter(run.values())), **values})
            reasons.append({name: reason(cell, means[name]["measure"]) for name, cell in run.items()})
    table = Table("grid", [Column("summarizer"), *columns], rows, told=told, key=["summarizer"], reasons=reasons)
    return _shown(results, table, heads=heads, means=means)


def _frontier(results: Results, cells: Sequence[CellRow]) -> Iterator[Known]:
    """Yield the column of systems that no other one beats in quality and cost, if results have costs."""
    own = {(cell["judge"], cell.get("dataset")) for cell in cells}
    placed = {
        system_of(row): "yes" if row["place"] == "frontier" else "no"
        for row in table_rows(results, "cost")
        if (row["judge"], row.get("dataset")) in own and row.get("place") is not None
    }
    if placed:
        yield Column("frontier", told=_FRONTIER, unknown="no place by cost"), placed


def _spread(cells: Sequence[CellRow]) -> Iterator[Known]:
    """Yield the column of spread between repeats, if anything was repeated."""
    found = {system_of(cell): within(within(cell, "spread"), main_measure(cells[0])) for cell in cells}
    texts = {
        system: ", ".join(f"{by} {own[by]:.1f}" for by in NO_SPREAD if own.get(by) is not None) or None
        for system, own in found.items()
    }
    if any(cell.get("spread") for cell in cells):
        yield Column("spread", told=_SPREAD, unknown="not repeated"), texts


def score_figures(results: Results) -> Iterator[Table]:
    """Yield a table a judge, data set and measure in points: bands of summarizers or settings, a line each other."""
    for judge, dataset, own in by_judge(main_cells(results)):
        settings = settings_of(own) if is_wide(own) else distinct(best_first(own), "setting")
        parts = {"summarizer": summarizers_by_joint(own), "setting": settings}
        by, other = parts if is_wide(own) else reversed(parts)
        ordered = sorted(own, key=lambda cell: [parts[name].index(str(cell[name])) for name in (by, other)])
        for head in reversed([head for head in heads_of(results, own) if head.unit == "points"]):
            rows = [{**cell, head.name: estimate(cell, head.name)} for cell in ordered]
            told = f"{capitalized(head.head)}. {judge_line(results, judge, dataset)}"
            plot = Axes("forest", head.name, by, other)
            yield Table("scores", [Column(by), Column(other), head], rows, told=told, key=(by, other), plot=plot)


def citation_sections(results: Results) -> Iterator[Section]:
    """One section if citations were scored."""
    by_name = {head.name: head for head in all_heads(results)}
    known = [by_name[name]._replace(title=title) for name, title in CITATION.items() if name in by_name]
    cited = [cell for cell in main_cells(results) if any(head.name in cell for head in known)]
    tables, told = list[ShownTable](), "Citations of covered insights."
    for judge, _, cells in by_judge(cited):
        heads = by_this_judge(known, results, judge)
        extremes = [setting for setting in EXTREMES if setting in settings_of(cells)]
        settings = extremes if len(extremes) > 1 else settings_of(cells)
        wide = is_grid(cells)
        tables.append(_grid(results, cells, heads, settings, told) if wide else _systems(results, cells, heads, told))
    if tables:
        yield Section("citation", "Citation precision and recall", [], tables)


def every_cell(results: Results) -> Iterator[Section]:
    """One section with all systems, also those whose documents were ordered on purpose."""
    cells, heads = systems_in(results), all_heads(results)
    tables = [*_every(results, cells, heads, AVERAGED[str(results["aggregate"])])]
    if results["aggregate"] != "per_summary" and any(row.get("per_summary") for row in table_rows(results, "cells")):
        listed = {measure["name"] for measure in listed_in(results)}
        own = [head for head in heads if head.name in listed]
        tables += _every(results, systems_in(results, "per_summary"), own, AVERAGED["per_summary"])
    if tables:
        facts = fact_heads(results, cells, BESIDE_SCORES, WITH_EVERY_SYSTEM)
        tables += _every(results, cells, facts, "what the scores of every system rest on")
        yield Section("cells", "Every system", [], tables)


def _every(results: Results, cells: Sequence[CellRow], heads: Sequence[Column], told: str) -> Iterator[ShownTable]:
    """Yield all systems with those of *heads* of which something is said: a table for judges that have the same."""
    alike: dict[tuple[Column, ...], list[CellRow]] = {}
    for *_, own in by_judge(cells):
        said = (one for one in heads for cell in own if cell.get(one.name) is not None or one.name in cell["reasons"])
        alike.setdefault(tuple(dict.fromkeys(said)), []).extend(own)
    for shown, rows in alike.items():
        if shown:
            judges = ", ".join(dict.fromkeys(str(row["judge"] or "no judge") for row in rows))
            key = ("dataset", "summarizer", "setting", "judge")
            yield _systems(results, rows, shown, f"{capitalized(told)} ({judges}).", key=key)


# ---------------------------------------------------------------- systems that cannot be told apart

GROUP = "group"
_BEST, _PERHAPS = "best", "perhaps best"
_LEVEL = f"{100 * ALPHA:.0f} %"


def groups_column(results: Results, cells: Sequence[CellRow], measure: str) -> Known | None:
    """Return the groups of *cells*, of one judge and data set, by a measure; None: nothing could be told apart."""
    judge, dataset = (text_in(cells[0], name) for name in ("judge", "dataset"))
    systems = pairs_of(results, measure, judge, dataset)
    lettered = any(one["letters"] is not None for one in systems)
    stands = any(one["standing"] is not None for one in systems)
    if not lettered and not stands:
        return None
    by_name = {name: one for one in systems for name in (one["system"], *one["same"])}
    named = {system_of(cell): by_name.get(str(system_of(cell))) for cell in cells}
    texts = {system: _group(one) for system, one in named.items() if one is not None}
    title = head_of(results, measure).head
    parts = [f"systems that share a letter cannot be told apart by {title} (all pairs together, {_LEVEL})"]
    told = f"{_BEST}: better than each other system; {_PERHAPS}: no other is better"
    parts = [*(parts if lettered else []), f"{told}; {'both by these tests' if lettered else 'no: some other is'}"]
    return Column(GROUP, told="; ".join(parts if stands else parts[:1]), unknown="not compared"), texts


def _group(one: Row) -> str | None:
    letters, standing = (text_in(one, name) for name in ("letters", "standing"))
    if letters is None:
        return standing
    return f"{letters} {standing}" if standing in (_BEST, _PERHAPS) else letters
