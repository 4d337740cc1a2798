"""
A run's tables as files of spreadsheets, data frames and papers: CSV, Parquet, LaTeX.

`cells` has a row for each system, judge and measure: the mean with its interval, in the unit that the report prints.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from longform.errors import UsageError
from longform.formats.exported import ExportedFile
from longform.text.spreadsheets import plain_cell

CELLS = pa.schema(
    [
        ("dataset", pa.string()),
        ("judge", pa.string()),
        ("setting", pa.string()),
        ("summarizer", pa.string()),
        ("cited_by", pa.string()),
        ("measure", pa.string()),
        ("unit", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("reason", pa.string()),
        ("n_summaries", pa.int64()),
    ]
)
_OF_CSV = ("scores", "summaries")
_OF_PARQUET = ("rankings", "contexts", "summaries", "units", "verdicts", "scores")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


class TablesOfRun(NamedTuple):
    """
    A run as tables.

    Attributes:
        results: Of `results.json`.
        table: Name -> the rows of a table that the run's configuration asks for.
    """

    results: Mapping[str, Any]
    table: Callable[[str], pa.Table]


def csv_export(run: TablesOfRun) -> Iterator[ExportedFile]:
    """Yield a CSV file of cells, scores and summaries each; lists are JSON, null is empty, and no cell is a formula."""
    yield ExportedFile("cells.csv", _csv(CELLS.names, cell_rows(run.results)), 0, {})
    for name in _OF_CSV:
        table = run.table(name)
        yield ExportedFile(f"{name}.csv", _csv(table.column_names, table.to_pylist()), 0, {})


def parquet_export(run: TablesOfRun) -> Iterator[ExportedFile]:
    """Yield a Parquet file of the cells and of each table of the run."""
    yield _parquet("cells", pa.Table.from_pylist(list(cell_rows(run.results)), schema=CELLS))
    for name in _OF_PARQUET:
        yield _parquet(name, run.table(name))


def latex_export(run: TablesOfRun) -> Iterator[ExportedFile]:
    """
    Yield one file with a `tabular` of systems and measures for each judge and data set; it needs `booktabs`.

    Raises:
        UsageError: The run has no cells.
    """
    cells = run.results["cells"]
    if not cells:
        raise UsageError("expected a run with scored systems, found none: there is no table to write")
    families = dict.fromkeys((cell["dataset"], cell["judge"]) for cell in cells)
    parts = [_tabular(run.results, [c for c in cells if (c["dataset"], c["judge"]) == one]) for one in families]
    yield ExportedFile("systems.tex", "\n".join(["% \\usepackage{booktabs}", *parts]).encode(), 0, {})


def cell_rows(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row of CELLS for each cell and measure that has a value, or a reason why there is none."""
    units = {measure["name"]: measure["unit"] for measure in results["measures"]}
    for cell in results["cells"]:
        of_system = {name: cell.get(name) for name in CELLS.names if name in cell}
        for name, unit in units.items():
            value, reason = cell.get(name), cell["reasons"].get(name)
            if value is not None or reason is not None:
                low, high = cell["intervals"].get(name) or (None, None)
                yield {
                    **of_system,
                    "measure": name,
                    "unit": unit,
                    "value": value,
                    "low": low,
                    "high": high,
                    "reason": reason,
                }


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    lines: list[str] = []
    ended = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n")))
    writer = csv.writer(ended, lineterminator="\r\n")  # a carriage return is quoted only if it ends lines
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_text(row.get(name)) for name in columns])
    return "".join(f"{line}\n" for line in lines).encode()


def _text(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
    return plain_cell(text) if isinstance(text, str) else text


def _parquet(name: str, table: pa.Table) -> ExportedFile:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return ExportedFile(f"{name}.parquet", sink.getvalue(), 0, {})


def _tabular(results: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of one judge and data set; what no system has a value of is left out."""
    measures = [one for one in results["measures"] if any(cell.get(one["name"]) is not None for cell in cells)]
    title = " ".join(filter(None, [cells[0]["dataset"], f"judge {cells[0]['judge']}"]))
    head = ["system", *(str(measure["title"] or measure["name"]) for measure in measures)]
    return "\n".join(
        [
            f"% {' '.join(title.split())}",
            rf"\begin{{tabular}}{{l{'r' * len(measures)}}}",
            r"\toprule",
            _row(map(_escaped, head)),
            r"\midrule",
            *(_row([_escaped(_system(cell)), *(_value(cell, one["name"]) for one in measures)]) for cell in cells),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _row(parts: Iterable[str]) -> str:
    return " & ".join(parts) + r" \\"


def _system(cell: Mapping[str, Any]) -> str:
    twin = f", citations by {cell['cited_by']}" if cell.get("cited_by") else ""
    return f"{cell['summarizer']}, {cell['setting']}{twin}"


def _value(cell: Mapping[str, Any], name: str) -> str:
    value = cell.get(name)
    if value is None:
        return "--"
    low, high = cell["intervals"].get(name) or (None, None)
    return f"{value:.1f}" if low is None or high is None else f"{value:.1f} [{low:.1f}, {high:.1f}]"


def _escaped(text: str) -> str:
    return text.translate(_LATEX)
