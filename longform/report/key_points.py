"""The section of key points: recall, precision and F1 of each system, and what judges make of the same systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.estimates import estimate_cell
from longform.report.parts import INTERVAL, Section
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import Column, Table
from longform.results.key_points import JudgesRow, KeyPointRow
from longform.results.results import Results
from longform.tables.cells import Cell, count, number

_NO_SUPPORT = "no judge of support was asked"
_NO_QUESTION = "no question has a value"


def key_point_sections(results: Results) -> Iterator[Section]:
    """One section if a judge of key points was asked."""
    found = results.get("key_points")
    if found and found["systems"]:
        tables = [_systems(results, found["systems"]), *([_judges(found["judges"])] if found["judges"] else [])]
        yield Section("key-points", "Key points", [], tables)


def _systems(results: Results, rows: Sequence[KeyPointRow]) -> Table:
    caption = f"Key points that responses entail, and sentences that their documents support. {INTERVAL}"
    how = (
        "Key point recall (KPR): share of a question's key points that the response entails, mean over questions. "
        "Pooled recall: the same over all key points, so that questions with many count more. Precision (KPP): share "
        "of the response's sentences that the documents of its prompt support. F1 (KPF): of the two, computed for each "
        "question and then averaged. Questions: with key points and a readable judgement; the others are left out."
    )
    several = len({row["support_judge"] for row in rows}) > 1
    names = with_dataset(rows, "setting", "summarizer", "judge", *(["support_judge"] if several else []))
    columns = [
        *name_columns(names),
        *map(Column, ("key point recall", "pooled recall", "precision", "F1", "questions", "questions left out")),
    ]
    body = []
    for row in rows:
        why = _NO_SUPPORT if row["support_judge"] is None else _NO_QUESTION
        figures = [estimate_cell(row["recall"], reason=_NO_QUESTION), estimate_cell(row["recall_pooled"])]
        figures += [estimate_cell(row["precision"], reason=why), estimate_cell(row["f1"], reason=why)]
        body.append([*named(results, row, names), *figures, count(row["n_questions"]), count(row["n_without"])])
    return Table(caption, columns, body, how)


def _judges(rows: Sequence[JudgesRow]) -> Table:
    caption = f"Two judges of key points on the same responses. {INTERVAL}"
    how = (
        "Kendall's tau: of the orders in which they put the systems. Shift: key point recall by the second judge less "
        "that by the first, in points: positive if the second is more lenient. Swapped: pairs of systems in different "
        "orders."
    )
    heads = [Column("judges", numeric=False), *map(Column, ("systems", "Kendall's tau", "shift"))]
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
    return Table(caption, [*heads, Column("swapped", numeric=False)], body, how)
