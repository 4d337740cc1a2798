"""The table of judges that were asked again, and words about the spread between repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.metrics.statistics import EstimateColumns
from longform.report.parts import INTERVAL
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import Column, Table
from longform.results.cells import CellRow
from longform.results.columns import Columns, number_in, text_in, within
from longform.results.results import Results
from longform.tables.cells import Cell, count, number

SPREAD = (
    "Spread between repeats: standard deviation of the system's mean over repeats of its summaries, and over repeats "
    "of the judge's answers."
)


def retest_tables(results: Results) -> Iterator[Table]:
    """Yield one table if a judge has repeats."""
    rows = results.get("retest") or []
    if not rows:
        return
    names = with_dataset(rows, "judge")
    columns = [*name_columns(names), *map(Column, ("repeats", "questions", "same answer %", "kappa", "r", "spread"))]
    body = [
        [
            *named(results, row, names),
            count(row["n_repeats"]),
            count(row["n_pairs"]),
            _shown(row["same"], factor=100.0, digits=1),
            _shown(row["kappa"]),
            _shown(row["r"]),
            number(row["spread"], digits=2),
        ]
        for row in rows
    ]
    caption = (
        "Test and retest: each judge's agreement with itself, asked the same question in calls of their own. Same "
        "answer: of two repeats. Kappa is Fleiss', r the intraclass correlation of the numbers. Spread: standard "
        f"deviation of one answer's number (0 to 1) about the mean of its question. {INTERVAL}"
    )
    yield Table(caption, columns, body)


def _shown(found: EstimateColumns, *, factor: float = 1.0, digits: int = 2) -> Cell:
    reason = "too few answers, or all the same"
    return number(found["value"], factor=factor, digits=digits, interval=(found["low"], found["high"]), reason=reason)


def has_spread(rows: Sequence[Columns]) -> bool:
    """Return whether anything was repeated."""
    return any(row.get("spread") for row in rows)


def spread_cell(row: Columns, measure: str) -> Cell:
    """The spread of a cell by its main measure."""
    found = within(within(row, "spread"), measure)
    parts = [
        f"{name} {value:.1f}"
        for name, column in (("summaries", "summaries"), ("judge", "judge"))
        if (value := number_in(found, column)) is not None
    ]
    return Cell(", ".join(parts)) if parts else Cell(None, reason="not repeated")


def judge_repeats_told(rows: Sequence[CellRow]) -> list[str]:
    """Say which judges were asked several times, and how that counts."""
    times = {text_in(row, "judge"): row["n_judge_repeats"] for row in rows if row.get("n_judge_repeats", 1) > 1}
    if not times:
        return []
    told = "; ".join(f"{judge} ({n})" for judge, n in times.items())
    words = (
        f"Judges asked several times about each pair: {told}. A score is the mean of their repeats within the summary"
    )
    return [f"{words}, which count as one judgement."]
