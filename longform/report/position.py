"""The section of scores by where the relevant documents stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.orders import BY_CHANCE, order_independent, sensitivity_cells
from longform.report.parts import Section, by_judge, judge_line
from longform.report.plots import Plot, position_plot
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import Column, Table, distinct, scored, share_cut
from longform.results.position import PositionRow
from longform.results.results import Results
from longform.tables.layout import below_originals

_REFERENCES = {"random": "random order", "given": "the order given (SummHay's Random)"}
_POSITION = "Position of the relevant documents"


def position_sections(results: Results) -> Iterator[Section]:
    """One section if documents were ordered on purpose, or if a system does not depend on their order."""
    rows = results.get("position") or []
    told = order_independent(results)
    if not rows:
        yield from [Section("position", _POSITION, told, [])] if told else []
        return
    places = [
        place
        for place in ("top", "middle", "bottom", "given", "random")
        if any(row.get(place) is not None for row in rows)
    ]
    caption = (
        "Score from 0 to 100 by where the relevant documents stand in the prompt; higher is better. Position "
        f"sensitivity: {_rules_told(rows)}, in points; lower is better. {BY_CHANCE}"
    )
    names = with_dataset(rows, "summarizer", "system", "judge", "measure")
    columns = name_columns(names)
    columns += [Column(name) for name in (*places, "sensitivity", "by chance", "p", "independent", "cut")]
    body = [
        [
            *named(results, row, names),
            *(scored(row, place) for place in places),
            *sensitivity_cells(row),
            share_cut([row]),
        ]
        for row in below_originals(rows, "system", "judge", "measure")
    ]
    yield Section("position", _POSITION, told, [Table(caption, columns, body)])


def _rules_told(rows: Sequence[PositionRow]) -> str:
    """Return the rules of sensitivity of *rows*, in words."""
    told = {(tuple(row.get("compared") or ("top", "bottom")), row.get("reference", "random")) for row in rows}
    return "; or ".join(
        f"largest distance of {', '.join(compared[:-1])} and {compared[-1]} from {_REFERENCES[reference]}"
        for compared, reference in sorted(told)
    )


def position_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """One figure a judge and data set."""
    rows = results.get("position")
    if not rows:
        return
    measures = distinct(rows, "measure")
    measure = "joint" if "joint" in measures else measures[0]
    for place, (judge, found) in enumerate(by_judge(rows)):
        own = below_originals(found, "system", "measure")
        yield (
            position_plot(own, measure, name=f"position{place}"),
            f"{measure.capitalize()}. {judge_line(results, judge)}",
        )
