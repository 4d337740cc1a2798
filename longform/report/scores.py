"""The sections of cells: one column a measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.comparisons import clusters_told
from longform.report.measures import LENGTH, MAIN, all_heads, capitalized, heads_of, main_measure
from longform.report.more_columns import in_grid, more_columns, with_more
from longform.report.parts import (
    INTERVAL,
    Judged,
    Section,
    by_judge,
    failures_told,
    in_sample_told,
    judge_line,
    main_cells,
    repeats_told,
)
from longform.report.plots import By, Plot, score_plot
from longform.report.provenance import AVERAGED
from longform.report.retest import judge_repeats_told
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import (
    EXTREMES,
    Column,
    Table,
    asides,
    asides_of,
    best_first,
    count,
    distinct,
    has_oracle,
    is_grid,
    is_wide,
    marked_settings,
    reason,
    score_grid,
    score_list,
    scored,
    settings_of,
    share_cut,
    summarizer_cell,
    summarizers_by_joint,
)
from longform.results.cells import CellRow
from longform.results.columns import count_in, held
from longform.results.results import Results

_ASIDES = {
    "words a bullet": "Words a bullet: length, neither better nor worse.",
    "cut": "Cut: share of the retrieved tokens that the limit took away.",
    "unjudged": "Unjudged: share of insights without a readable judgement; lower is better.",
}
_ELSEWHERE = "Intervals: under Every cell."
_PARTS = {"precision": "precision", "recall": "recall", "citation": "F1 (citation)"}
_COUNTS = ("n_summaries", "n_failed", "n_insights", "n_covered", "n_unjudged", "n_unlinked")


def score_sections(results: Results) -> Iterator[Section]:
    """One section with a table a judge and data set: the systems whose documents were not ordered on purpose."""
    cells = main_cells(results)
    tables = [_table(results, judge, own) for judge, own in by_judge(cells)]
    if tables:
        paragraphs = [*clusters_told(results), *repeats_told(cells), *judge_repeats_told(cells), *failures_told(cells)]
        paragraphs += [told for told in [in_sample_told(results)] if told]
        title = "Coverage, citation and joint score" if any("coverage" in cell for cell in cells) else "Scores"
        yield Section("scores", title, paragraphs, tables)


def _table(results: Results, judge: Judged, cells: Sequence[CellRow]) -> Table:
    heads, line = heads_of(results, cells), judge_line(results, judge)
    told = " ".join(
        [
            *(["Scores from 0 to 100, higher is better."] if any(head.in_points for head in heads) else []),
            *(head.definition for head in heads if head.definition),
        ]
    )
    ranked = _ranked_by(results, cells)
    shown = asides_of(held(cells))
    aside = " ".join(_ASIDES[name] for name in shown)
    more = more_columns(results, cells, main_measure(cells[0]))
    if is_grid(cells):
        where = "with the oracle retriever" if has_oracle(cells) else "in the best setting"
        caption = f"{line}. {told} Rows by {ranked} {where}. {_ELSEWHERE} {aside}"
        return in_grid(score_grid(cells, caption, heads), more, cells)
    told = " ".join([told, INTERVAL, f"Rows by {ranked}.", aside, *more.told])
    return with_more(score_list(cells, f"{line}. {told}", heads), more, best_first(cells))


def _ranked_by(results: Results, cells: Sequence[CellRow]) -> str:
    main = main_measure(cells[0])
    return "joint score" if main == MAIN else next(head.title for head in all_heads(results) if head.name == main)


def score_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """One figure a judge, data set and measure in points."""
    for place, (judge, own) in enumerate(by_judge(main_cells(results))):
        wide, summarizers = is_wide(own), summarizers_by_joint(own)
        by: By = "summarizer" if wide else "setting"
        rows = summarizers if wide else distinct(best_first(own), "setting")
        series = settings_of(own) if wide else summarizers
        for head in reversed([head for head in heads_of(results, own) if head.in_points]):
            name = f"{head.name.replace(' ', '-')}{place}"
            plot = score_plot(own, head.name, by=by, rows=rows, series=series, name=name)
            yield plot, f"{capitalized(head.title)}. {judge_line(results, judge)}"


def citation_sections(results: Results) -> Iterator[Section]:
    """One section if citations were scored."""
    by_name = {head.name: head for head in all_heads(results)}
    heads = [by_name[name]._replace(title=title) for name, title in _PARTS.items() if name in by_name]
    cited = [cell for cell in main_cells(results) if any(head.name in cell for head in heads)]
    tables = []
    for judge, cells in by_judge(cited):
        caption = (
            f"{judge_line(results, judge)}. Of the documents a bullet cites, the share that states the linked insight "
            "(precision); of those that state it, the share cited (recall); and their F1, each a mean over covered "
            "insights. From 0 to 100, higher is better."
        )
        if not is_grid(cells):
            tables.append(score_list(cells, f"{caption} {INTERVAL}", heads, ["cut"]))
            continue
        extremes = [setting for setting in EXTREMES if setting in settings_of(cells)]
        settings = extremes if len(extremes) > 1 else settings_of(cells)
        by_key = {(cell["summarizer"], cell["setting"]): cell for cell in cells}
        columns = [Column("summarizer", numeric=False)]
        marked = marked_settings(cells)
        columns += [Column(marked[setting], group=head.title) for head in heads for setting in settings]
        columns.append(Column("cut"))
        body = [
            [
                summarizer_cell(next(cell for cell in cells if cell["summarizer"] == name)),
                *(scored(by_key.get((name, s)), head.name, with_interval=False) for head in heads for s in settings),
                share_cut([cell for cell in cells if cell["summarizer"] == name and cell["setting"] in settings]),
            ]
            for name in summarizers_by_joint(cells)
            if any((name, setting) in by_key for setting in settings)
        ]
        tables.append(Table(caption, columns, body))
    if tables:
        yield Section("citation", "Citation precision and recall", [], tables)


def every_cell(results: Results) -> Iterator[Section]:
    """One section with all systems, also those whose documents were ordered on purpose."""
    parts = [(results.get("cells") or [], str(results["aggregate"]))]
    if results["aggregate"] != "per_summary":
        parts.append((results.get("per_summary_cells") or [], "per_summary"))
    tables = [_cell_table(results, cells, f"{AVERAGED[how].capitalize()}. {INTERVAL}") for cells, how in parts if cells]
    if tables:
        yield Section("cells", "Every cell", [], tables)


def _cell_table(results: Results, cells: Sequence[CellRow], caption: str) -> Table:
    names = with_dataset(cells, "summarizer", "setting", "judge")
    fields = held(cells)
    counts = [name for name in _COUNTS if name in fields]
    measures = [head for head in all_heads(results) if head.name in fields and head.name != LENGTH]
    columns = name_columns(names)
    columns += [Column(head.title) for head in measures]
    columns += [Column(name.removeprefix("n_")) for name in counts]
    columns += [Column(name) for name in asides_of(fields, unjudged="unjudged share")]
    body = [
        [
            *named(results, cell, names),
            *(scored(cell, head.name, digits=head.digits) for head in measures),
            *(count(count_in(cell, name), reason=reason(cell, name)) for name in counts),
            *asides([cell], asides_of(fields)),
        ]
        for cell in best_first(cells)
    ]
    told = (
        "Scores from 0 to 100, higher is better. Failed: summaries that have no text. Covered: insights found, fully "
        "or in part. Unjudged: insights without a readable judgement. Unlinked: covered, but the judge named no "
        "bullet that exists."
    )
    return Table(f"{caption} {told}", columns, body)
