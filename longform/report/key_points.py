"""The section of key points: recall, precision and F1 of each system, and what judges make of the same systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.estimates import estimate_cell
from longform.report.parts import INTERVAL, Section
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import Cell, Column, Table, count, number
from longform.results.key_points import JudgesRow, KeyPointRow
from longform.results.results import Results

_NO_SUPPORT = "no judge of support was asked"
_NO_QUESTION = "no question has a value"


def key_point_sections(results: Results) -> Iterator[Section]:
    """One section if a judge of key points was asked."""
    found = results.get("key_points")
    if found and found["systems"]:
        tables = [_systems(results, found["systems"]), *([_judges(found["judges"])] if found["judges"] else [])]
        yield Section("key-points", "Key points", [], tables)


def _systems(results: Results, rows: Sequence[KeyPointRow]) -> Table:
    caption = (
        "KPR: share of a question's key points that the response entails, mean over questions. Pooled: the same over "
        "all key points, so that questions with many count more. KPP: share of the response's sentences that the "
        "documents of its prompt support. KPF: F1 of the two, computed for each question and then averaged. "
        f"Questions: with key points and a readable judgement; the others are left out. {INTERVAL}"
    )
    several = len({row["support_judge"] for row in rows}) > 1
    names = with_dataset(rows, "setting", "summarizer", "judge", *(["support_judge"] if several else []))
    columns = [*name_columns(names), *map(Column, ("KPR", "pooled", "KPP", "KPF", "questions", "left out"))]
    body = []
    for row in rows:
        why = _NO_SUPPORT if row["support_judge"] is None else _NO_QUESTION
        figures = [estimate_cell(row["recall"], reason=_NO_QUESTION), estimate_cell(row["recall_pooled"])]
        figures += [estimate_cell(row["precision"], reason=why), estimate_cell(row["f1"], reason=why)]
        body.append([*named(results, row, names), *figures, count(row["n_questions"]), count(row["n_without"])])
    return Table(caption, columns, body)


def _judges(rows: Sequence[JudgesRow]) -> Table:
    caption = (
        "Two judges of key points on the same responses. Tau: Kendall's, of the orders in which they put the systems. "
        "Swapped: pairs of systems in different orders. Shift: KPR by the second less KPR by the first, in points: "
        f"positive if the second is more lenient. {INTERVAL}"
    )
    heads = [Column("judges", numeric=False), *map(Column, ("systems", "tau", "shift"))]
    body = [
        [
            Cell(" and ".join(row["judges"])),
            count(row["n_systems"]),
            number(row["kendall_tau"], digits=2, reason="fewer than two systems that differ"),
            estimate_cell(row["shift"]),
            Cell("; ".join(" with ".join(pair) for pair in row["swapped"]) or "none"),
        ]
        for row in rows
    ]
    return Table(caption, [*heads, Column("swapped", numeric=False)], body)
