"""The section of scores over minutes of writing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.measures import Head, all_heads
from longform.report.parts import Judged, Section, by_judge, judge_line
from longform.report.plots import Plot, curve_plot
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import CUT, Column, Table, beside_originals, reason, scored, share_cut
from longform.results.minutes import MinutesRow
from longform.results.results import Results
from longform.tables.cells import count, number


def _measures(results: Results, rows: Sequence[MinutesRow]) -> list[Head]:
    return [head for head in all_heads(results) if head.in_points and any(head.name in row for row in rows)]


def minutes_sections(results: Results) -> Iterator[Section]:
    """One section if summaries were written over time."""
    rows = results.get("curve") or []
    if not rows:
        return
    measures = _measures(results, rows)
    names = with_dataset(rows, "summarizer", "setting", "judge")
    columns = name_columns(names)
    columns += [Column(name) for name in ("minutes", "summaries", *(head.title for head in measures), CUT)]
    ordered = sorted(rows, key=lambda row: (*(str(row.get(name)) for name in names), row["minutes"]))
    body = [
        [
            *named(results, row, names),
            number(row["minutes"], digits=0),
            count(row.get("n_summaries"), reason=reason(row, "n_summaries")),
            *(scored(row, head.name) for head in measures),
            share_cut([row]),
        ]
        for row in beside_originals(ordered, "setting", "judge", "dataset", "minutes")
    ]
    caption = "Scores of what was written after so many minutes."
    yield Section("minutes", "Scores over minutes of writing", [], [Table(caption, columns, body)])


def minutes_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """One figure a system, judge and data set."""
    groups: dict[tuple[str, str, Judged], list[MinutesRow]] = {}
    for judge, rows in by_judge(results["curve"]):
        for row in rows:
            groups.setdefault((row["summarizer"], row["setting"], judge), []).append(row)
    for place, ((summarizer, setting, judge), rows) in enumerate(groups.items()):
        measures = [head.name for head in _measures(results, rows)]
        yield (
            curve_plot(rows, measures, name=f"minutes{place}"),
            f"{summarizer}, {setting}. {judge_line(results, judge)}",
        )
