"""The sections of cells: one column a measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.measures import LENGTH, MAIN, all_heads, by_this_judge, capitalized, heads_of, main_measure
from longform.report.more_columns import beside_grid, more_columns, with_more
from longform.report.overview import clusters_told
from longform.report.parts import (
    INTERVAL,
    Judged,
    Section,
    by_judge,
    failures_told,
    in_sample_told,
    judge_line,
    judge_repeats_told,
    main_cells,
    name_columns,
    named,
    repeats_told,
    with_dataset,
)
from longform.report.plots import By, Plot, score_plot
from longform.report.provenance import AVERAGED
from longform.report.tables import (
    CUT,
    EXTREMES,
    UNJUDGED,
    WORDS_A_BULLET,
    Column,
    Table,
    asides,
    asides_of,
    best_first,
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
from longform.results.cells import CellRow, systems_in
from longform.results.columns import count_in, held
from longform.results.results import Results
from longform.tables.cells import count

_ASIDES = {
    WORDS_A_BULLET: "Words a bullet: length, neither better nor worse.",
    CUT: "Share cut: of the retrieved tokens, what the limit took away.",
    UNJUDGED: "Share unjudged: of the insights, those without a readable judgement; lower is better.",
}
_ELSEWHERE = "Intervals stand under “Every system”."
_HOW_CITED = (
    "Precision: of the documents a bullet cites, the share that states the linked insight. Recall: of the documents "
    "that state it, the share that the bullet cites. F1: of both. Each is a mean over covered insights."
)
_PARTS = {"precision": "precision", "recall": "recall", "citation": "F1 (citation)"}
_COUNTS = {
    "n_summaries": "summaries",
    "n_failed": "failed summaries",
    "n_insights": "insights",
    "n_covered": "covered insights",
    "n_unjudged": "unjudged insights",
    "n_unlinked": "unlinked insights",
}


def score_sections(results: Results) -> Iterator[Section]:
    """One section with a table a judge and data set: the systems whose documents were not ordered on purpose."""
    cells = main_cells(results)
    tables = [table for judge, own in by_judge(cells) for table in _tables(results, judge, own)]
    if tables:
        paragraphs = [*clusters_told(results), *repeats_told(cells), *judge_repeats_told(cells), *failures_told(cells)]
        paragraphs += [told for told in [in_sample_told(results)] if told]
        title = "Coverage, citation and joint score" if any("coverage" in cell for cell in cells) else "Scores"
        yield Section("scores", title, paragraphs, tables)


def _tables(results: Results, judge: Judged, cells: Sequence[CellRow]) -> Iterator[Table]:
    heads, line = by_this_judge(heads_of(results, cells), results, judge.judge), judge_line(results, judge)
    ranked = _ranked_by(results, cells)
    told = [*(head.definition for head in heads if head.definition)]
    told += [_ASIDES[name] for name in asides_of(held(cells))]
    more = more_columns(results, cells, main_measure(cells[0]))
    if is_grid(cells):
        where = "with the oracle retriever" if has_oracle(cells) else "in the best setting"
        caption = f"{line}. Rows by {ranked} {where}, best first. {_ELSEWHERE}"
        table = score_grid(cells, caption, heads)
        yield table._replace(how=" ".join(told))
        beside = beside_grid(table, more, cells, caption=f"{line}. Beside the scores of the same systems.")
        yield from [beside] if beside else []
    else:
        caption = f"{line}. Rows by {ranked}, best first. {INTERVAL}"
        table = with_more(score_list(cells, caption, heads), more, best_first(cells))
        yield table._replace(how=" ".join([*told, *more.told]))


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
        heads = by_this_judge(heads, results, judge.judge)
        caption = f"{judge_line(results, judge)}. Citations of covered insights."
        if not is_grid(cells):
            tables.append(score_list(cells, f"{caption} {INTERVAL}", heads, [CUT])._replace(how=_HOW_CITED))
            continue
        extremes = [setting for setting in EXTREMES if setting in settings_of(cells)]
        settings = extremes if len(extremes) > 1 else settings_of(cells)
        by_key = {(cell["summarizer"], cell["setting"]): cell for cell in cells}
        columns = [Column("summarizer", numeric=False)]
        marked = marked_settings(cells)
        columns += [Column(marked[setting], group=head.marked) for head in heads for setting in settings]
        columns.append(Column(CUT))
        body = [
            [
                summarizer_cell(next(cell for cell in cells if cell["summarizer"] == name)),
                *(scored(by_key.get((name, s)), head.name, with_interval=False) for head in heads for s in settings),
                share_cut([cell for cell in cells if cell["summarizer"] == name and cell["setting"] in settings]),
            ]
            for name in summarizers_by_joint(cells)
            if any((name, setting) in by_key for setting in settings)
        ]
        tables.append(Table(caption, columns, body, _HOW_CITED))
    if tables:
        yield Section("citation", "Citation precision and recall", [], tables)


def every_cell(results: Results) -> Iterator[Section]:
    """One section with all systems, also those whose documents were ordered on purpose."""
    parts = [(systems_in(results), str(results["aggregate"]))]
    if results["aggregate"] != "per_summary":
        parts.append((systems_in(results, "per_summary"), "per_summary"))
    tables = [_cell_table(results, cells, f"{AVERAGED[how].capitalize()}. {INTERVAL}") for cells, how in parts if cells]
    if tables:
        yield Section("cells", "Every system", [], tables)


def _cell_table(results: Results, cells: Sequence[CellRow], caption: str) -> Table:
    names = with_dataset(cells, "summarizer", "setting", "judge")
    fields = held(cells)
    counts = [name for name in _COUNTS if name in fields]
    measures = [head for head in all_heads(results) if head.name in fields and head.name != LENGTH]
    columns = name_columns(names)
    columns += [Column(head.title) for head in measures]
    columns += [Column(_COUNTS[name]) for name in counts]
    columns += [Column(name) for name in asides_of(fields)]
    body = [
        [
            *named(results, cell, names),
            *(scored(cell, head.name, digits=head.digits, factor=head.factor) for head in measures),
            *(count(count_in(cell, name), reason=reason(cell, name)) for name in counts),
            *asides([cell], asides_of(fields)),
        ]
        for cell in best_first(cells)
    ]
    told = (
        "Failed summaries: they have no text. Covered insights: found, fully or in part. Unjudged insights: without a "
        "readable judgement. Unlinked insights: covered, but the judge named no bullet that exists."
    )
    return Table(caption, columns, body, told)
