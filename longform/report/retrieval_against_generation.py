"""The section of retrieval against generation: a table and a figure of both, and their correlations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from longform.metrics.statistics import EstimateColumns
from longform.report.measures import IN_PARTS, Head, head_of
from longform.report.parts import INTERVAL, Judged, Section, judge_line
from longform.report.plots import Plot
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.scatter_plots import Point, Points, scatter_plot
from longform.report.tables import Column, Table
from longform.results.results import Results
from longform.results.retrieval_against_generation import CorrelationRow, JointRow
from longform.tables.cells import Cell, count, number

_NOT_RANKED = "it ranks nothing, or no document of its queries is judged"
_NOT_SCORED = "not scored"


def against_sections(results: Results) -> Iterator[Section]:
    """One section if the run ranks documents that are judged, and scores summaries."""
    found = results.get("retrieval_against_generation")
    if not found:
        return
    paragraphs, tables = _left_out_told(found["systems"]), [_joint_table(results, found["systems"], found["k"])]
    for level in ("systems", "queries"):
        rows = [row for row in found["correlations"] if row["level"] == level and row["measure"] not in IN_PARTS]
        if level == "queries":
            main = _main(row["ranking_measure"] for row in rows)
            rows = [row for row in rows if row["ranking_measure"] == main]
        if rows and all(row["reason"] for row in rows):
            told = "; ".join(dict.fromkeys(str(row["reason"]) for row in rows))
            paragraphs.append(f"No correlation over {level}: {told}.")
        elif rows:
            tables.append(_correlation_table(results, rows, found["k"]))
    yield Section("against", "Retrieval against generation", paragraphs, tables)


def against_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """One figure a data set and judge: nDCG, or the first measure of rankings, and the first one of summaries."""
    found = results.get("retrieval_against_generation")
    rows = found["systems"] if found else []
    drawn = dict.fromkeys((row["dataset"], cell["judge"]) for row in rows for cell in row["generation"])
    for place, (dataset, judge) in enumerate(drawn):
        own = [row for row in rows if row["dataset"] == dataset and row["retrieval"]]
        ranked = _main(name for row in own for name in row["retrieval"])
        cells = [cell for row in own for cell in row["generation"] if cell["judge"] == judge]
        if found is None or ranked is None or not cells:
            continue
        measure, series = cells[0]["measure"], _series(own, ranked, judge, cells[0]["measure"])
        title = head_of(results, measure).title
        words = {"x_label": f"{ranked}@{found['k']}, of 100", "y_label": title}
        told = judge_line(results, Judged(judge, dataset))
        yield scatter_plot(series, **words, name=f"against{place}"), f"{title} by {ranked}@{found['k']}. {told}"


def _main(names: Iterable[str]) -> str | None:
    """Return the measure of rankings that stands for all: nDCG, or the first one; None if there is none."""
    found = list(names)
    return "nDCG" if "nDCG" in found else next(iter(found), None)


def _series(rows: Sequence[JointRow], ranked: str, judge: str | None, measure: str) -> list[Points]:
    """Return a series of each summarizer, a point of each of its settings that has both scores."""
    found: dict[str, list[Point]] = {}
    for row in rows:
        x, y = row["retrieval"].get(ranked), _score(row, judge, measure)
        if x is not None and y is not None and x["value"] is not None and y["value"] is not None:
            found.setdefault(row["summarizer"], []).append(Point(row["setting"], 100 * x["value"], y["value"]))
    return [Points(summarizer, points) for summarizer, points in found.items()]


def _left_out_told(rows: Sequence[JointRow]) -> list[str]:
    names: dict[str, list[str]] = {}
    for row in rows:
        if row["left_out"] is not None:
            names.setdefault(row["left_out"], []).append(f"{row['summarizer']}, {row['setting']}")
    told = "; ".join(f"{' and '.join(systems)} ({reason})" for reason, systems in names.items())
    return [f"In no correlation: {told}."] if told else []


def _joint_table(results: Results, rows: Sequence[JointRow], k: int) -> Table:
    names = with_dataset(rows, "summarizer", "setting")
    ranked = list(dict.fromkeys(name for row in rows for name in row["retrieval"]))
    cells = [cell for row in rows for cell in row["generation"] if cell["measure"] not in IN_PARTS]
    scored = list(dict.fromkeys((cell["judge"], cell["measure"]) for cell in cells))
    judges = dict.fromkeys(judge for judge, _ in scored)
    columns = [*name_columns(names), *(Column(f"{name}@{k}") for name in ranked)]
    for judge, measure in scored:
        by = f", {judge}" if judge is not None and len(judges) > 1 else ""
        columns.append(Column(f"{head_of(results, measure).title}{by}"))
    body = [
        [
            *named(results, row, names),
            *(_estimate(row["retrieval"].get(name), _NOT_RANKED, digits=1, factor=100) for name in ranked),
            *(_measured(_score(row, *one), head_of(results, one[1])) for one in scored),
        ]
        for row in sorted(rows, key=lambda row: -_first(row))
    ]
    caption = (
        "Each system's rankings and summaries side by side, from 0 to 100, higher is better: rankings over its queries "
        f"that have gold documents, summaries over those that did not fail. {INTERVAL}"
    )
    return Table(caption, columns, body)


def _first(row: JointRow) -> float:
    return next((cell["score"]["value"] or 0.0 for cell in row["generation"]), 0.0)


def _score(row: JointRow, judge: str | None, measure: str) -> EstimateColumns | None:
    found = (cell["score"] for cell in row["generation"] if (cell["judge"], cell["measure"]) == (judge, measure))
    return next(found, None)


def _correlation_table(results: Results, rows: Sequence[CorrelationRow], k: int) -> Table:
    of_systems = rows[0]["level"] == "systems"
    judged = [] if all(row["judge"] is None for row in rows) else ["judge"]
    names = with_dataset(rows, "summarizer", *([] if of_systems else ["setting"]), *judged)
    points = "settings of one summarizer, by their means" if of_systems else "queries of one system"
    caption = (
        f"Correlation of a measure of rankings at {k} with one of summaries, over the {points}; from -1 to 1. "
        f"Intervals resample queries. {'' if of_systems else 'Other measures of rankings stand in results.json. '}"
        f"{INTERVAL}"
    )
    columns = [*name_columns(names), Column("rankings", numeric=False), Column("summaries", numeric=False)]
    columns += [Column("Pearson"), Column("Spearman"), *([Column("systems")] if of_systems else []), Column("queries")]
    body = [
        [
            *named(results, row, names),
            Cell(row["ranking_measure"]),
            Cell(head_of(results, row["measure"]).title),
            *(_estimate(row[of], row["reason"], digits=2) for of in ("pearson", "spearman")),
            *([count(row["n"])] if of_systems else []),
            count(row["n_queries"]),
        ]
        for row in rows
    ]
    return Table(caption, columns, body)


def _measured(found: EstimateColumns | None, head: Head) -> Cell:
    return _estimate(found, _NOT_SCORED, digits=head.digits, factor=head.factor)


def _estimate(found: EstimateColumns | None, reason: str | None, *, digits: int, factor: float = 1) -> Cell:
    if found is None:
        return Cell(None, reason=reason)
    interval = (found["low"], found["high"])
    return number(found["value"], digits=digits, factor=factor, interval=interval, reason=reason)
