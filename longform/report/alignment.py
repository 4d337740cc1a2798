"""Two attributions of the same sentences side by side (Wan et al., Figure 5): tables and figures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from longform.report.estimates import NOTHING_THERE, estimate_cell
from longform.report.line_plots import Line, Panel, panel_plot
from longform.report.parts import INTERVAL, NO_DATASET, by_judge, by_panel, has_datasets, judge_line
from longform.report.plots import Plot
from longform.report.tables import Column, Table
from longform.results.alignment import AlignmentRow, PlacedTwiceRow
from longform.results.faithfulness import Faithfulness
from longform.results.results import Results
from longform.tables.cells import Cell, count, number, words

Untestable = Collection[tuple[str | None, str | None]]
_FEW = "fewer than two sentences, or all at one place"
_NO_ORDER = "a place without a sentence, or all places alike"


def alignment_tables(results: Results, found: Faithfulness, untestable: Untestable) -> Iterator[Table]:
    """Yield the pairs of judges, then the curves by two attributions; nothing of judges without a curve."""
    rows = [
        row
        for row in found["alignment"]
        if not {(judge, row.get("dataset")) for judge in (row["judge"], row["second"])} & set(untestable)
    ]
    if rows:
        yield _pairs(rows)
    yield from _twice(results, found.get("placed_twice") or [])


def _pairs(rows: Sequence[AlignmentRow]) -> Table:
    several = has_datasets(rows)
    columns = [Column(name, numeric=False) for name in (*(["data set"] if several else []), "judge", "second judge")]
    columns += [Column("Spearman"), Column("same place"), Column("sentences")]
    body = [
        [
            *([words(row["dataset"], reason=NO_DATASET)] if several else []),
            *(words(row["judge"]), words(row["second"]), _spearman(row)),
            count(row.get("same"), of=row["n"], reason="results of an older version"),
            count(row["n"]),
        ]
        for row in rows
    ]
    caption = (
        "Whether two judges attribute sentences to the same places; 1: the same order of places. Same place: sentences "
        f"that both put to one document; chance alone puts some there. {INTERVAL}"
    )
    return Table(caption, columns, body)


def _spearman(row: AlignmentRow) -> Cell:
    return number(row["spearman"], digits=2, interval=(row.get("low"), row.get("high")), reason=_FEW)


def _twice(results: Results, found: Sequence[PlacedTwiceRow]) -> Iterator[Table]:
    for judge, rows in by_judge(found):
        bins = max(len(row["own"]) for row in rows)
        columns = [Column(name, numeric=False) for name in ("summarizer", "setting", "placed by")]
        columns += [*(Column(str(place + 1), group="place") for place in range(bins)), Column("Spearman")]
        body = [
            [
                *(words(row["summarizer"]), words(row["setting"]), words(by)),
                *(estimate_cell(point, reason=NOTHING_THERE) for point in curve),
                *(Cell(None, reason="prompts of this system are shorter") for _ in range(bins - len(curve))),
                _between(row),
            ]
            for row in rows
            for by, curve in ((f"judge {judge.judge}", row["own"]), (row["second"], row["other"]))
        ]
        caption = (
            f"{judge_line(results, judge)}. Faithfulness by place, documents as given, with sentences placed twice: by "
            f"the attribution that the curves above have, and by {rows[0]['second']}, which reads no judge's numbers. "
            f"Spearman: between the two curves; few places make it coarse. {INTERVAL}"
        )
        yield Table(caption, columns, body)


def _between(row: PlacedTwiceRow) -> Cell:
    found = row["spearman"]
    return number(found["value"], digits=2, interval=(found["low"], found["high"]), reason=_NO_ORDER)


def alignment_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Draw the paper's Figure 5: two lines a summarizer, a panel a data set."""
    found = results["faithfulness"].get("placed_twice") or []
    for number_, (judge, panels) in enumerate(by_panel(found)):
        drawn = [
            Panel(title, [line for row in rows for line in _lines(row, str(judge.judge))])
            for title, rows in panels.items()
        ]
        told = "A panel a data set. " if len(panels) > 1 else ""
        plot = panel_plot(drawn, x_label="place in the prompt", y_label="faithfulness", name=f"placed-twice{number_}")
        yield plot, f"Faithfulness by place, sentences placed twice. {told}{judge_line(results, judge)}"


def _lines(row: PlacedTwiceRow, judge: str) -> Iterator[Line]:
    for by, curve in ((f"judge {judge}", row["own"]), (row["second"], row["other"])):
        yield Line(f"{row['summarizer']}, {row['setting']}, by {by}", list(enumerate(curve, start=1)))
