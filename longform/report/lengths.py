"""Faithfulness by the length of prompts, and by place and length (Wan et al., 2025): tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.estimates import NOTHING_THERE, estimate_cell
from longform.report.line_plots import Line, Panel, panel_plot
from longform.report.parts import INTERVAL, Judged, Section, by_judge, by_panel, judge_line
from longform.report.plots import Plot
from longform.report.tables import Column, Table
from longform.results.faithfulness import Faithfulness
from longform.results.faithfulness_rows import LengthPoint, LengthsRow
from longform.results.results import Results
from longform.tables.cells import Cell, count, number, words

LENGTHS = "lengths"
DOCUMENTS, TOKENS = "documents", "tokens"
_UNITS = {DOCUMENTS: "the number of documents", TOKENS: "the tokens of whole documents"}
_ABOUT_LENGTHS = "Each summary is judged against exactly the documents it was given."


def length_sections(results: Results, found: Faithfulness) -> Iterator[Section]:
    """One section if there are several lengths."""
    if found["lengths"]:
        yield Section(LENGTHS, _lengths_title(found), [_ABOUT_LENGTHS], _lengths(results, found))


def _unit(row: LengthsRow) -> str:
    """Return the unit of a row of lengths; older rows count documents."""
    return str(row.get("unit", DOCUMENTS))


def _by_judge_and_unit(found: Faithfulness) -> Iterator[tuple[Judged, str, list[LengthsRow]]]:
    for judge, rows in by_judge(found["lengths"]):
        for unit in (DOCUMENTS, TOKENS):
            if own := [row for row in rows if _unit(row) == unit]:
                yield judge, unit, own


def _lengths_title(found: Faithfulness) -> str:
    units = {_unit(row) for row in found["lengths"]}
    return f"Faithfulness by {' and by '.join(_UNITS[unit] for unit in (DOCUMENTS, TOKENS) if unit in units)}"


def _lengths(results: Results, found: Faithfulness) -> list[Table]:
    tables = []
    for judge, unit, rows in _by_judge_and_unit(found):
        if unit == TOKENS:
            tables += [_token_lengths(results, judge, rows), *_surface(results, judge, rows)]
            continue
        lengths = sorted({point["n_documents"] for row in rows for point in row["lengths"]})
        columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
        columns += [Column(str(length), group="documents") for length in lengths]
        body = []
        for row in rows:
            by_length = {point["n_documents"]: point["faithfulness"] for point in row["lengths"]}
            cells = [estimate_cell(by_length.get(length)) for length in lengths]
            body.append([words(row["summarizer"]), words(row["setting"]), *cells])
        tables.append(Table(f"{judge_line(results, judge)}. {INTERVAL}", columns, body))
        tables += _surface(results, judge, rows)
    return tables


def _token_lengths(results: Results, judge: Judged, rows: Sequence[LengthsRow]) -> Table:
    """A row a length, with both units: the budget in tokens, and the documents that fit it."""
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
    columns += [Column("tokens"), Column("documents"), Column("faithfulness")]
    body = [
        [
            words(row["summarizer"]),
            words(row["setting"]),
            count(point["length_tokens"]),
            _documents(point),
            estimate_cell(point["faithfulness"]),
        ]
        for row in rows
        for point in row["lengths"]
    ]
    caption = (
        f"{judge_line(results, judge)}. {INTERVAL} Tokens: the budget, filled with whole documents in order while they "
        "fit. Documents: how many did; the mean over prompts, and from fewest to most."
    )
    return Table(caption, columns, body)


def _documents(point: LengthPoint) -> Cell:
    """Show the number of documents that fit a number of tokens."""
    cell = number(point["n_documents"])
    return cell if point["fewest"] == point["most"] else cell._replace(detail=f"{point['fewest']} to {point['most']}")


def _surface(results: Results, judge: Judged, rows: Sequence[LengthsRow]) -> Iterator[Table]:
    """A table, if any length has a curve."""
    bins = max((len(point["curve"]) for row in rows for point in row["lengths"] if point["curve"]), default=0)
    if not bins:
        return
    tokens = [Column("tokens")] if _unit(rows[0]) == TOKENS else []
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False), *tokens, Column("documents")]
    columns += [Column(str(place + 1), group="place") for place in range(bins)]
    body = [
        [
            words(row["summarizer"]),
            words(row["setting"]),
            *([count(point["length_tokens"])] if tokens else []),
            _documents(point) if tokens else count(int(point["n_documents"])),
            *(estimate_cell(estimate, reason=NOTHING_THERE) for estimate in point["curve"]),
            *(Cell(None, reason="no such place") for _ in range(bins - len(point["curve"]))),
        ]
        for row in rows
        for point in row["lengths"]
        if point["curve"]
    ]
    yield Table(f"Faithfulness by place and length. {judge_line(results, judge)}. {INTERVAL}", columns, body)


def length_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Draw the paper's Figure 3, a panel a data set."""
    found = results["faithfulness"]["lengths"]
    kinds = [
        (judge, unit, panels)
        for unit in (DOCUMENTS, TOKENS)
        for judge, panels in by_panel([row for row in found if _unit(row) == unit])
    ]
    for number_, (judge, unit, panels) in enumerate(kinds):
        drawn = [Panel(title, [_line(row, unit) for row in rows]) for title, rows in panels.items()]
        x_label = "number of documents" if unit == DOCUMENTS else "thousand tokens of whole documents"
        plot = panel_plot(drawn, x_label=x_label, y_label="faithfulness", name=f"length{number_}")
        told = "A panel a data set. " if len(panels) > 1 else ""
        yield plot, f"Faithfulness by length. {told}{judge_line(results, judge)}"


def _line(row: LengthsRow, unit: str) -> Line:
    points = [(_along(point, unit), point["faithfulness"]) for point in row["lengths"]]
    return Line(f"{row['summarizer']}, {row['setting']}", points)


def _along(point: LengthPoint, unit: str) -> float:
    tokens = point["length_tokens"]
    return float(point["n_documents"]) if unit == DOCUMENTS or tokens is None else tokens / 1000
