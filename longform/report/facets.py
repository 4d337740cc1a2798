"""The section of means by properties of queries: a table for each judge, measure and property."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.metrics.statistics import EstimateColumns
from longform.report.estimates import estimate_cell
from longform.report.line_plots import Line, line_plot
from longform.report.measures import Head, capitalized, head_of
from longform.report.parts import INTERVAL, Judged, Section, by_judge, judge_line
from longform.report.plots import Plot
from longform.report.row_names import name_columns, named
from longform.report.tables import Column, Table, beside_originals
from longform.results.facets import LENGTHS, FacetsRow
from longform.results.results import Results

_MOST_LINES = 8
_NONE = "no summary of these queries has a value"


def facet_sections(results: Results) -> Iterator[Section]:
    """One section if queries state properties, or if lengths of summaries tell key point recall apart."""
    rows = results.get("facets") or []
    if rows:
        tables = [table for judge, own in by_judge(rows) for table in _tables(results, judge, own)]
        yield Section("facets", "By kinds of queries", [], tables)


def _tables(results: Results, judge: Judged, rows: Sequence[FacetsRow]) -> Iterator[Table]:
    for facet, measure in dict.fromkeys((row["facet"], row["measure"]) for row in rows):
        own = [row for row in rows if (row["facet"], row["measure"]) == (facet, measure)]
        head = head_of(results, measure)
        caption = f"{capitalized(head.title)} by {facet}. {judge_line(results, judge)}. {INTERVAL}"
        yield _table(results, caption, own, head)


def facet_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """
    One figure a judge, measure and property, a series a system; none if there are too many to tell apart.

    Lines join lengths alone: other properties have no order.
    """
    groups: dict[tuple[Judged, str, str], list[FacetsRow]] = {}
    for judge, rows in by_judge(results.get("facets") or []):
        for row in rows:
            groups.setdefault((judge, row["facet"], row["measure"]), []).append(row)
    for place, ((judge, facet, measure), own) in enumerate(groups.items()):
        values = list(dict.fromkeys(row["value"] for row in own))
        lines: dict[str, list[tuple[float, EstimateColumns]]] = {}
        for row in own:
            point = (float(1 + values.index(row["value"])), row["score"])
            lines.setdefault(f"{row['summarizer']}, {row['setting']}", []).append(point)
        if len(lines) <= _MOST_LINES:
            drawn = [Line(label, sorted(points, key=lambda point: point[0])) for label, points in lines.items()]
            title = head_of(results, measure).title
            plot = line_plot(drawn, x_label=facet, y_label=title, name=f"facets{place}", joined=facet in LENGTHS)
            named_values = ", ".join(f"{n}: {value}" for n, value in enumerate(values, 1))
            yield plot, f"{capitalized(title)} by {facet} ({named_values}). {judge_line(results, judge)}"


def _table(results: Results, caption: str, rows: Sequence[FacetsRow], head: Head) -> Table:
    names = ("setting", "summarizer")
    values = list(dict.fromkeys(row["value"] for row in rows))
    by_system: dict[tuple[str, str], dict[str, FacetsRow]] = {}
    for row in rows:
        by_system.setdefault((row["setting"], row["summarizer"]), {})[row["value"]] = row
    body = []
    for first in beside_originals([next(iter(found.values())) for found in by_system.values()], "setting"):
        found = by_system[first["setting"], first["summarizer"]]
        scores = [found[value]["score"] if value in found else None for value in values]
        cells = [estimate_cell(score, reason=_NONE, factor=head.factor) for score in scores]
        body.append([*named(results, first, names), *cells])
    return Table(caption, [*name_columns(names), *(Column(value, group=rows[0]["facet"]) for value in values)], body)
