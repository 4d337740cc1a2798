"""Faithfulness and coverage by place in the prompt (Wan et al., 2025): tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from longform.axes import Axes
from longform.metrics.position_bias import FOUND
from longform.metrics.statistics import EstimateColumns
from longform.report.alignment import alignment_figures, alignment_tables
from longform.report.estimates import NOTHING_THERE, estimate_cell
from longform.report.line_plots import Line, Panel, panel_plot
from longform.report.parts import (
    INTERVAL,
    Section,
    by_judge,
    by_panel,
    dataset_words,
    has_datasets,
    judge_line,
)
from longform.report.plots import Plot
from longform.report.tables import Column, Table
from longform.results.attribution import AttributionRow
from longform.results.faithfulness import Faithfulness
from longform.results.faithfulness_rows import PlacesRow
from longform.results.results import Results
from longform.tables.cells import Cell, count, number, words

PLACES = "places"
UNTESTABLE = "cannot be tested with this judge"
Measured = Literal["faithfulness", "coverage"]
_MEASURES: tuple[Measured, ...] = ("faithfulness", "coverage")
_FEW_PLACES = "fewer than three places"
_MOST_BESIDE = 3  # settings beside the plain one in a figure
_ABOUT_PLACES = (
    "Faithfulness at a place: the mean of the sentences whose best supporting document stands there. Coverage at a "
    "place: the mean of all sentences against the document there, that is how much of the summary it supports; it says "
    "what the summary draws on, not what it gets wrong. Places are counted from 1; where prompts have different "
    "lengths, places are binned by their share of the prompt's documents."
)


def place_sections(results: Results, found: Faithfulness) -> Iterator[Section]:
    """One section if any place is known."""
    if found["places"]:
        rows = with_curves(found)
        tables = [
            *_curves(results, rows),
            *_indices(results, rows),
            *alignment_tables(results, found, _untestable(found)),
        ]
        about = [*([_ABOUT_PLACES] if rows else []), *_attributed(found)]
        yield Section(PLACES, "Faithfulness and coverage by place in the prompt", about, tables)


def _untestable(found: Faithfulness) -> set[tuple[str | None, str | None]]:
    """Return judges with the data sets on which they have no curve; older results have no such column."""
    return {(row["judge"], row.get("dataset")) for row in found["attributed"] if row["untestable"]}


def with_curves(found: Faithfulness) -> list[PlacesRow]:
    """Return the rows of judges that place what they call unsupported; of others nothing is shown."""
    untestable = _untestable(found)
    return [row for row in found["places"] if (row["judge"], row.get("dataset")) not in untestable]


def _attributed(found: Faithfulness) -> list[str]:
    """Name the judge that places each judge's sentences; give the reason for a judge without a curve."""
    if (named := found["attribution"]) is not None:
        told = f"A sentence stands where judge {named} finds its best supporting document, as the configuration says."
        said = [told] if with_curves(found) else []
        rows = [row for row in found["attributed"] if row["untestable"]]
    else:
        said = []
        rows = found["attributed"]
    several = has_datasets(found["attributed"])
    return said + [f"{f'{dataset_words(row)}. ' if several else ''}{_attribution(row)}" for row in rows]


def _attribution(row: AttributionRow) -> str:
    judge, by = row["judge"], row["by"]
    if row["untestable"]:
        return f"Judge {judge}: {UNTESTABLE}."
    if by == judge:
        return f"Judge {judge}: a sentence stands where the judge itself finds its best supporting document."
    n, n_all = row["n_unplaced_by_itself"], row["n_decided"]
    return (
        f"Judge {judge} has no best document for {n} of {n_all} sentences, those that it calls unsupported. All its "
        f"sentences stand where judge {by} finds their best document, supported or not; how faithful they are, judge "
        f"{judge} says."
    )


def _curve(row: PlacesRow, measure: Measured) -> list[EstimateColumns]:
    """Return the points of a curve; none if there is no curve."""
    return row[measure]["curve"] or []


def _curves(results: Results, shown: Sequence[PlacesRow]) -> Iterator[Table]:
    for measure in _MEASURES:
        for judge, rows in by_judge([row for row in shown if _curve(row, measure)]):
            bins = max(row["bins"] for row in rows)
            columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
            columns += [Column(str(place + 1), group="place") for place in range(bins)]
            body = [
                [
                    words(row["summarizer"]),
                    words(row["setting"]),
                    *(estimate_cell(point, reason=NOTHING_THERE) for point in _curve(row, measure)),
                    *(Cell(None, reason="prompts of this system are shorter") for _ in range(bins - row["bins"])),
                ]
                for row in rows
            ]
            caption = f"{measure.capitalize()} by place. {judge_line(results, judge)}. {INTERVAL}"
            yield Table(caption, columns, body)


def _indices(results: Results, shown: Sequence[PlacesRow]) -> Iterator[Table]:
    columns = [Column(name, numeric=False) for name in ("summarizer", "setting", "measure")]
    columns += [Column(name) for name in ("distance from flat", "lead of the first third", "lead of the ends", "p")]
    columns += [Column("shape", numeric=False), Column("sentences without a place"), Column("empty summaries")]
    for judge, rows in by_judge(shown):
        body = [
            [words(row["summarizer"]), words(row["setting"]), words(measure), *_index(row, measure)]
            for row in rows
            for measure in _MEASURES
            if _curve(row, measure)
        ]
        caption = f"How far the curves are from flat, in points. {judge_line(results, judge)}."
        how = (
            "Distance from flat: root of the mean square distance of places from their mean. Lead of the first third: "
            "over the last third. Lead of the ends: of the first and last third over the middle. p: of the distance "
            "from flat, when the documents of each prompt change places at random, adjusted for the rows of a "
            f"judge, data set and measure (Holm). Shape: named only if that p, and the p of either lead, is at most "
            f"{FOUND:g}; a flat curve gets a name in about 1 of {round(1 / FOUND):,} families. Sentences without a "
            "place: no document supports them, or they are undecided. Empty summaries: without a sentence."
        )
        yield Table(caption, columns, body, how)


def _index(row: PlacesRow, measure: Measured) -> list[Cell]:
    index, counts = row[measure]["index"], row["degenerate"]
    if index is None:
        values = [Cell(None, reason=_FEW_PLACES)] * 5
    else:
        values = [
            number(index["spread"]),
            number(index["lead"], sign=True),
            number(index["ends"], sign=True),
            number(index.get("p_holm"), digits=4),
            words(index["shape"]),
        ]
    unattributed = count(counts["n_unattributed"], of=counts["n_sentences"])
    return [*values, unattributed, count(counts["n_empty"], of=counts["n_summaries"])]


def place_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """
    Draw the paper's Figures 2, 6 and 7 (summarizers side by side), Figure 4 (a summarizer's settings), and Figure 5.

    Each has a panel a data set.
    """
    found = results["faithfulness"]
    for number_, (judge, panels) in enumerate(by_panel(with_curves(found))):
        told = f"documents as given. {_a_panel(panels)}{judge_line(results, judge)}"
        plain = {title: [row for row in rows if _is_plain(row)] for title, rows in panels.items()}
        for measure in _MEASURES:
            plot = _place_plot(plain, measure, by="summarizer", name=f"place-{measure}{number_}")
            yield plot, f"{measure.capitalize()} by place, {told}"
        for place, (summarizer, own) in enumerate(_by_writer(panels)):
            for part, shown in enumerate(_parts(own)):
                plot = _place_plot(shown, "faithfulness", by="setting", name=f"place{number_}-{place}-{part}")
                yield plot, f"{summarizer}: faithfulness by place. {_a_panel(shown)}{judge_line(results, judge)}"
    yield from alignment_figures(results)


_RowsByPanel = Mapping[str, Sequence[PlacesRow]]
"""Title of a panel, its data set -> rows."""


def _a_panel(panels: _RowsByPanel) -> str:
    return "A panel a data set. " if len(panels) > 1 else ""


def _is_plain(row: PlacesRow) -> bool:
    """Return whether a row's system has only a retriever and a budget."""
    axes = Axes(**row["axes"])
    return axes == Axes(axes.retriever, axes.reranker, axes.budget_tokens)


def _by_writer(panels: _RowsByPanel) -> Iterator[tuple[str, _RowsByPanel]]:
    """Yield the rows of each summarizer with one ranking and budget."""
    groups: dict[tuple[str, str, int | None], dict[str, list[PlacesRow]]] = {}
    for title, rows in panels.items():
        for row in rows:
            axes = Axes(**row["axes"])
            group = groups.setdefault((row["summarizer"], axes.ranking, axes.budget_tokens), {})
            group.setdefault(title, []).append(row)
    yield from ((summarizer, own) for (summarizer, _, _), own in groups.items())


def _parts(panels: _RowsByPanel) -> Iterator[_RowsByPanel]:
    """Yield the settings of a summarizer, a few a figure, each beside the plain one."""
    every = [row for rows in panels.values() for row in rows]
    others = list(dict.fromkeys(row["setting"] for row in every if not _is_plain(row)))
    for start in range(0, len(others), _MOST_BESIDE):
        shown = others[start : start + _MOST_BESIDE]
        yield {
            title: [row for row in rows if _is_plain(row)][:1] + [row for row in rows if row["setting"] in shown]
            for title, rows in panels.items()
        }


def _place_plot(
    panels: _RowsByPanel, measure: Measured, *, by: Literal["setting", "summarizer"], name: str
) -> Plot | None:
    several = len({row["setting"] for rows in panels.values() for row in rows}) > 1

    def label(row: PlacesRow) -> str:
        return row[by] if by == "setting" or not several else f"{row['summarizer']}, {row['setting']}"

    drawn = [
        Panel(title, [Line(label(row), list(enumerate(_curve(row, measure), start=1))) for row in rows])
        for title, rows in panels.items()
    ]
    return panel_plot(drawn, x_label="place in the prompt", y_label=measure, name=name)
