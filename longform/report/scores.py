"""The sections of cells: a column for each measure and fact that results describe, whatever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from longform.metrics.paired_differences import ALPHA
from longform.metrics.statistics import Estimate
from longform.report.forms import Band, Mark, band_plot
from longform.report.measures import (
    CITATION,
    LENGTH,
    MAIN,
    Head,
    all_heads,
    by_this_judge,
    capitalized,
    fact_heads,
    head_of,
    heads_of,
    main_measure,
)
from longform.report.overview import clusters_told
from longform.report.parts import (
    Judged,
    Section,
    by_judge,
    failures_told,
    finished,
    in_sample_told,
    is_judge,
    judge_line,
    judge_repeats_told,
    main_cells,
    name_columns,
    named,
    repeats_told,
    with_dataset,
)
from longform.report.plots import Plot
from longform.report.provenance import AVERAGED
from longform.report.tables import (
    EXTREMES,
    NOT_RUN,
    Column,
    Table,
    best_first,
    distinct,
    figure_labels,
    has_oracle,
    is_grid,
    is_wide,
    marked_settings,
    oracle_told,
    reason,
    settings_of,
    summaries_fragment,
    summarizer_cell,
    summarizers_by_joint,
)
from longform.results.cells import (
    BESIDE_SCORES,
    WITH_EVERY_SYSTEM,
    CellRow,
    Row,
    listed_in,
    pairs_of,
    systems_in,
    table_rows,
)
from longform.results.columns import Columns, held, interval_in, number_in, text_in, within
from longform.results.results import Results
from longform.settings.system_names import SystemName
from longform.tables.cells import Cell

_SYSTEM = ("setting", "summarizer")
_OF_JUDGE = "unjudged_share"
"""The fact beside scores that each judge has of its own; none is said of a further one if it judged all."""
_ELSEWHERE = "Intervals stand under “Every system”."
_FRONTIER = "Frontier: no system is better and cheaper (see “Quality beside cost”)."
_SPREAD = (
    "Spread between repeats: standard deviation of the system's mean over repeats of its summaries, and over repeats "
    "of the judge's answers."
)


class SystemColumn(NamedTuple):
    """
    A column of tables whose rows are systems.

    Attributes:
        column: Its head.
        told: A sentence on its values; empty: its head says all.
        cell: Returns the cell of a system.
    """

    column: Column
    told: str
    cell: Callable[[CellRow], Cell]


def score_sections(results: Results) -> Iterator[Section]:
    """One section with a table a judge and data set: the systems whose documents were not ordered on purpose."""
    cells, tables = main_cells(results), list[Table]()
    first: dict[str | None, Sequence[CellRow]] = {}
    for judge, own in by_judge(cells):
        tables += _tables(results, judge, own, first.setdefault(judge.dataset, own))
    if tables:
        paragraphs = [
            *oracle_told(cells),
            *clusters_told(results.get("clusters")),
            *repeats_told(cells),
            *judge_repeats_told(cells),
            *failures_told(cells),
        ]
        paragraphs += filter(None, [in_sample_told(results)])
        title = "Coverage, citation and joint score" if any("coverage" in cell for cell in cells) else "Scores"
        yield Section("scores", title, paragraphs, tables)


def _tables(results: Results, judge: Judged, cells: Sequence[CellRow], first: Sequence[CellRow]) -> Iterator[Table]:
    """Yield the scores of one judge and data set, and what is known of the systems that *first* do not say."""
    heads, line = by_this_judge(heads_of(results, cells), results, judge.judge), judge_line(results, judge)
    main = main_measure(cells[0])
    ranked = "joint score" if main == MAIN else head_of(results, main).title
    group = [*filter(None, [groups_column(results, cells, main)])]
    if is_grid(cells):
        where = "with the oracle retriever" if has_oracle(cells) else "in the best setting"
        caption = f"{line}. Rows by {ranked} {where}, best first. {_ELSEWHERE}"
        yield score_grid(results, cells, heads, settings_of(cells), caption)
    else:
        columns = [*map(scored_column, heads), *group]
        yield system_table(results, cells, columns, f"{line}. Rows by {ranked}, best first.", brackets=True)
    beside = [head for head in all_heads(results) if head.name == LENGTH and head.name in held(cells)]
    beside = [head for head in [*beside, *fact_heads(results, cells, BESIDE_SCORES)] if _is_new(head, cells, first)]
    columns = [*map(scored_column, beside)]
    columns += [*(group if is_grid(cells) else ()), *_frontier(results, cells), *_spread(cells)]
    if columns:
        yield system_table(results, cells, columns, f"{line}. Beside the scores of the same systems.")


def _is_new(head: Head, cells: Sequence[Columns], first: Sequence[Columns]) -> bool:
    """Return whether a column says what it did not say of the same systems under the first judge."""
    told = {(cell["summarizer"], cell["setting"]): cell.get(head.name) for cell in first}
    if head.name == _OF_JUDGE and cells is not first:
        return any(cell.get(head.name) for cell in cells)
    return cells is first or any(
        cell.get(head.name) != told.get((cell["summarizer"], cell["setting"])) for cell in cells
    )


def scored_column(head: Head) -> SystemColumn:
    """Return the column of a measure, with intervals, or of a fact."""
    return SystemColumn(Column(head.marked), head.definition, lambda cell: scored(cell, head))


def scored(row: CellRow | None, head: Head, *, with_interval: bool = True) -> Cell:
    """Return the value of a row with the address of its summaries, or an unknown if there is no such row."""
    if row is None:
        return Cell(None, reason=NOT_RUN)
    found = estimate(row, head)
    cell = head.shown(found if with_interval and not head.fact else found.value, reason(row, head.name))
    return cell if head.fact or found.value is None else cell._replace(mean_of=summaries_fragment(row, head.name))


def estimate(row: CellRow | None, head: Head) -> Estimate:
    """Return the value of a row with its interval; unknown if there is no such row."""
    known: Columns = row or {}
    low, high = interval_in(known, head.name) or (None, None)
    return Estimate(number_in(known, head.name), low, high, 0)


def system_table(
    results: Results,
    cells: Sequence[CellRow],
    columns: Sequence[SystemColumn],
    caption: str,
    *names: str,
    brackets: bool = False,
) -> Table:
    """Return a row for each system, those of a judge together, the best first."""
    naming = with_dataset(cells, *names) if names else _SYSTEM
    ordered = [cell for _, own in by_judge(cells) for cell in best_first(own)]
    rows = [[*named(results, cell, naming), *(one.cell(cell) for one in columns)] for cell in ordered]
    told = [(one.column.name, one.told) for one in columns]
    heads = [*name_columns(naming), *(one.column for one in columns)]
    judged = "judge" not in naming and is_judge(results, cells[0]["judge"])
    return finished(caption, heads, rows, told, n_names=len(naming), judged=judged, brackets=brackets)


def score_grid(
    results: Results, cells: Sequence[CellRow], heads: Sequence[Head], settings: Sequence[str], caption: str
) -> Table:
    """Return one row a summarizer, one column a (measure, setting): SummHay's table 2."""
    by_key, marked = {(cell["summarizer"], cell["setting"]): cell for cell in cells}, marked_settings(cells)
    columns = [Column(marked[setting], group=head.marked) for head in heads for setting in settings]
    rows = [
        [
            summarizer_cell(next(cell for cell in cells if cell["summarizer"] == name)),
            *(scored(by_key.get((name, s)), head, with_interval=False) for head in heads for s in settings),
        ]
        for name in summarizers_by_joint(cells)
        if any((name, setting) in by_key for setting in settings)
    ]
    told = [("", head.definition) for head in heads]
    judged = is_judge(results, cells[0]["judge"])
    return finished(caption, [*name_columns(["summarizer"]), *columns], rows, told, n_names=0, judged=judged)


def _frontier(results: Results, cells: Sequence[CellRow]) -> Iterator[SystemColumn]:
    """Yield the column of systems that no other one beats in quality and cost, if results have costs."""
    own = {(cell["judge"], cell.get("dataset")) for cell in cells}
    placed = {
        (row["summarizer"], row["setting"]): row["place"]
        for row in table_rows(results, "cost")
        if (row["judge"], row.get("dataset")) in own and row.get("place") is not None
    }
    unplaced = Cell(None, reason="no place by cost")
    if placed:
        yes = {key: Cell("yes" if place == "frontier" else "no") for key, place in placed.items()}
        column = Column("frontier", numeric=False)
        yield SystemColumn(column, _FRONTIER, lambda cell: yes.get((cell["summarizer"], cell["setting"]), unplaced))


def _spread(cells: Sequence[CellRow]) -> Iterator[SystemColumn]:
    """Yield the column of spread between repeats, if anything was repeated."""
    measure = main_measure(cells[0])

    def shown(cell: CellRow) -> Cell:
        found = within(within(cell, "spread"), measure)
        parts = [f"{by} {value:.1f}" for by in ("summaries", "judge") if (value := number_in(found, by)) is not None]
        return Cell(", ".join(parts)) if parts else Cell(None, reason="not repeated")

    if any(cell.get("spread") for cell in cells):
        yield SystemColumn(Column("spread", numeric=False), _SPREAD, shown)


def score_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """One figure a judge, data set and measure in points: a band a summarizer or a setting, in it a line each other."""
    for place, (judge, own) in enumerate(by_judge(main_cells(results))):
        settings = distinct(best_first(own), "setting")
        parts = {"summarizer": summarizers_by_joint(own), "setting": settings_of(own) if is_wide(own) else settings}
        by, other = ("summarizer", "setting") if is_wide(own) else ("setting", "summarizer")
        labels, entries = figure_labels(own, by, below=True), figure_labels(own, other, below=False)
        by_key = {(text_in(cell, by), text_in(cell, other)): cell for cell in own}
        for head in reversed([head for head in heads_of(results, own) if head.in_points]):
            bands = [
                Band(labels[row], {entries[one]: Mark(estimate(by_key.get((row, one)), head)) for one in parts[other]})
                for row in parts[by]
            ]
            name, words = f"{head.name.replace(' ', '-')}{place}", f"{capitalized(head.title)}. "
            yield (
                band_plot(bands, x_label=f"{head.title}, of 100", head=words, name=name),
                f"{words}{judge_line(results, judge)}",
            )


def citation_sections(results: Results) -> Iterator[Section]:
    """One section if citations were scored."""
    by_name = {head.name: head for head in all_heads(results)}
    known = [by_name[name]._replace(title=title) for name, title in CITATION.items() if name in by_name]
    cited = [cell for cell in main_cells(results) if any(head.name in cell for head in known)]
    tables = []
    for judge, cells in by_judge(cited):
        heads = by_this_judge(known, results, judge.judge)
        caption = f"{judge_line(results, judge)}. Citations of covered insights."
        extremes = [setting for setting in EXTREMES if setting in settings_of(cells)]
        settings = extremes if len(extremes) > 1 else settings_of(cells)
        columns = [*map(scored_column, heads)]
        tables.append(
            score_grid(results, cells, heads, settings, caption)
            if is_grid(cells)
            else system_table(results, cells, columns, caption, brackets=True)
        )
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


def _every(results: Results, cells: Sequence[CellRow], heads: Sequence[Head], told: str) -> Iterator[Table]:
    """Yield all systems with those of *heads* of which something is said: a table for judges that have the same."""
    alike: dict[tuple[Head, ...], list[CellRow]] = {}
    for _, own in by_judge(cells):
        said = (one for one in heads for cell in own if cell.get(one.name) is not None or one.name in cell["reasons"])
        alike.setdefault(tuple(dict.fromkeys(said)), []).extend(own)
    for shown, rows in alike.items():
        if columns := [*map(scored_column, shown)]:
            judges = ", ".join(dict.fromkeys(str(row["judge"] or "no judge") for row in rows))
            scores, caption = any(head.fact is None for head in shown), f"{capitalized(told)} ({judges})."
            yield system_table(results, rows, columns, caption, "summarizer", "setting", "judge", brackets=scores)


# ---------------------------------------------------------------- systems that cannot be told apart

GROUP = "group"
_BEST, _PERHAPS = "best", "perhaps best"
_LEVEL = f"{100 * ALPHA:.0f} %"


def groups_column(results: Results, cells: Sequence[CellRow], measure: str) -> SystemColumn | None:
    """Return the column of *cells*, of one judge and data set, by a measure; None: nothing could be told apart."""
    judge, dataset = (text_in(cells[0], name) for name in ("judge", "dataset"))
    systems = pairs_of(results, measure, judge, dataset)
    lettered = any(one["letters"] is not None for one in systems)
    stands = any(one["standing"] is not None for one in systems)
    if not lettered and not stands:
        return None
    by_name = {name: one for one in systems for name in (one["system"], *one["same"])}

    def shown(cell: CellRow) -> Cell:
        one = by_name.get(str(SystemName(cell["summarizer"], cell["setting"])))
        return Cell(None, reason="not compared") if one is None else _group_cell(one)

    title = head_of(results, measure).title
    parts = [f"systems that share a letter cannot be told apart by {title} (all pairs together, {_LEVEL})"]
    told = f"{_BEST}: better than each other system; {_PERHAPS}: no other is better"
    parts = [*(parts if lettered else []), f"{told}; {'both by these tests' if lettered else 'no: some other is'}"]
    told = f"Group: {'; '.join(parts if stands else parts[:1])}."
    return SystemColumn(Column(GROUP, numeric=False), told, shown)


def _group_cell(one: Row) -> Cell:
    if one["letters"] is not None:
        return Cell(one["letters"], detail=one["standing"] if one["standing"] in (_BEST, _PERHAPS) else None)
    return Cell(one["standing"], reason="documents ordered on purpose: not sought among these")
