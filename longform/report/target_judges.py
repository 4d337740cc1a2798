"""The page of several judges of a summary's targets: SummHay's tables 1 and 4, people's agreement, differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from longform.judges.printed_judges import STUDY_LABELS, STUDY_SUMMARIES, TABLE_1
from longform.judges.target_meta import ALL, DifferenceColumns, PartColumns, TargetJudgeColumns, TargetMeta
from longform.metrics.statistics import EstimateColumns
from longform.report.judge_parts import (
    NO_LINKS,
    TOGETHER,
    UNDEFINED,
    card_sections,
    contrast_cells,
    cost_cell,
    estimate,
    people_sections,
)
from longform.report.parts import INTERVAL, Section
from longform.report.plots import Captioned, Plot, or_gap, render, series_style
from longform.report.result_tables import shown_of
from longform.report.tables import IN_SAMPLE, Column, Table
from longform.results.judges import perturbed_tables
from longform.tables.cells import Cell, count, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LENGTH: tuple[Literal["length_to_score"], Literal["length_to_bias"]] = ("length_to_score", "length_to_bias")


def target_sections(found: TargetMeta) -> Iterator[Section]:
    """Yield the sections of the page, but for those that all pages on judges have."""
    links = _has_links(found)
    yield _agreement(found, links)
    if len(found["judges"]) > 1:
        yield _differences(found)
    yield from people_sections(found["people"], found["people_reason"], links=links)
    yield _bias(found)
    yield _length(found)
    for table in perturbed_tables({judge["judge"]: judge.get("adversarial") for judge in found["judges"]}):
        yield Section("perturbed", table.title, [], shown_of({}, table))
    yield from card_sections({judge["judge"]: judge["card"] for judge in found["judges"]})


def _named(judge: TargetJudgeColumns) -> str:
    """Name a judge, with a mark if it was fitted on some of the labels."""
    return f"{judge['judge']} ({IN_SAMPLE})" if judge["parts"][ALL]["in_sample"] else judge["judge"]


def _has_links(found: TargetMeta) -> bool:
    return any(judge["parts"][ALL]["linking_accuracy"]["n"] for judge in found["judges"])


# ---------------------------------------------------------------- agreement


def _agreement(found: TargetMeta, links: bool) -> Section:
    name = "coverage correlation" if found["task"] == "coverage" else "correlation"
    rows = sorted(found["judges"], key=_by_correlation)
    tables = [_measure_table(found, rows, name, links)]
    printed = [judge for judge in rows if judge["judge"] in TABLE_1 and found["labels"]["annotators"] == ["human"]]
    if printed:
        tables.append(_printed_table(printed))
    return Section("agreement", "Agreement with people", _agreement_told(found, bool(printed)), tables)


def _by_correlation(judge: TargetJudgeColumns) -> float:
    value = judge["parts"][ALL]["pearson"]["value"]
    return 2.0 if value is None else -value


def _agreement_told(found: TargetMeta, of_study: bool) -> list[str]:
    labels = found["labels"]
    n_topics = labels.get("n_topics", 0)
    told = [
        (
            f"{found['n_labels']:,} labels of {labels['n_summaries']} summaries on {n_topics} "
            f"{'topic' if n_topics == 1 else 'topics'}, by "
            f"{' and '.join(labels['annotators'])}. Each judge is held against the labels that it judged."
        )
    ]
    if of_study:
        told.append(
            f"These are {labels['n_summaries']} of the {STUDY_SUMMARIES} summaries and {found['n_labels']:,} of the "
            f"{STUDY_LABELS:,} labels of SummHay's human study: its printed figures are of the whole, and need not be "
            "reached on a part."
        )
    if any(part["in_sample"] for judge in found["judges"] for part in judge["parts"].values()):
        told.append(
            f"{IN_SAMPLE.capitalize()}: the judge was fitted on some of these very labels; its figure is higher than "
            "on other text. Its card leads with text that it has not seen."
        )
    return told


def _measure_table(found: TargetMeta, rows: Sequence[TargetJudgeColumns], name: str, links: bool) -> Table:
    parts = found["parts"]
    columns = [Column("judge", numeric=False)]
    columns += [Column(part, group=name) for part in parts]
    columns += [Column(part, group="right links, %") for part in parts] if links else []
    columns += [Column("unjudged"), Column("cost")]
    body = []
    for judge in rows:
        cells = [Cell(judge["judge"])]
        cells += [_marked(estimate(judge["parts"][part]["pearson"]), judge["parts"][part]) for part in parts]
        if links:
            cells += [_linked(judge["parts"][part]) for part in parts]
        whole = judge["parts"][ALL]
        cells += [count(whole["n_unjudged"], of=whole["n_labels"]), cost_cell(judge["cost"])]
        body.append(cells)
    told = (
        f"{name.capitalize()}: Pearson's, over pairs of a summary and what it may say, of the judge's score with "
        "people's (full 1, partial 0.5, none 0)."
        if found["task"] == "coverage"
        else f"{name.capitalize()}: Pearson's, over pairs, of the judge's score with people's."
    )
    told += " Right links: of the pairs in which judge and people both name a bullet, the share of equal ones." * links
    cost = "Cost: dollars of the calls behind these verdicts, from the ledger."
    return Table(f"{told} {cost} {INTERVAL} Rows by correlation. Higher is better but for cost.", columns, body)


def _marked(cell: Cell, part: PartColumns) -> Cell:
    if not part["in_sample"] or cell.text is None:
        return cell
    return cell._replace(detail=" ".join([*([cell.detail] if cell.detail else []), IN_SAMPLE]))


def _linked(part: PartColumns) -> Cell:
    return _marked(estimate(part["linking_accuracy"], factor=100, digits=1, reason=NO_LINKS), part)


def _printed_table(rows: Sequence[TargetJudgeColumns]) -> Table:
    columns = [Column("judge", numeric=False)]
    columns += [Column(side, group=name) for name in ("correlation", "right links, %") for side in ("here", "printed")]
    columns += [Column("printed", group="cost, $")]
    body = []
    for judge in rows:
        printed, part = TABLE_1[judge["judge"]], judge["parts"][ALL]
        body.append(
            [
                Cell(judge["judge"]),
                number(part["pearson"]["value"], digits=3, reason=UNDEFINED),
                number(printed.pearson, digits=3),
                number(part["linking_accuracy"]["value"], digits=1, factor=100, reason=NO_LINKS),
                number(printed.linking_accuracy, digits=1),
                number(printed.usd, digits=1),
            ]
        )
    return Table(f"Beside SummHay's table 1, printed for {STUDY_SUMMARIES} summaries.", columns, body)


# ---------------------------------------------------------------- differences


def _differences(found: TargetMeta) -> Section:
    tables = [
        _difference_table(part, [row for row in found["differences"] if row["part"] == part]) for part in found["parts"]
    ]
    told = "Two judges are compared on the labels that both judged, so that hard labels are hard for both."
    return Section("differences", "Differences between judges", [told], tables)


def _difference_table(part: str, rows: Sequence[DifferenceColumns]) -> Table:
    columns = [Column("first", numeric=False), Column("second", numeric=False), Column("first less second")]
    columns += [Column("p"), Column("labels"), Column("summaries"), Column("in words", numeric=False)]
    body = [
        [
            Cell(row["first"]),
            Cell(row["second"]),
            *contrast_cells(
                row["difference"], row["first"], row["second"], clusters="summaries", in_sample=row["in_sample"]
            ),
        ]
        for row in rows
    ]
    where = "All labels" if part == ALL else f"Labels of {part}"
    return Table(
        f"{where}: correlation of the first judge with people less that of the second. {TOGETHER}", columns, body
    )


# ---------------------------------------------------------------- bias


def _bias(found: TargetMeta) -> Section:
    judges = found["judges"]
    names = list(dict.fromkeys(row["summarizer"] for judge in judges for row in judge["bias"]["by_summarizer"]))
    columns = [Column("summarizer", numeric=False), Column("summaries"), *(Column(_named(judge)) for judge in judges)]
    body = []
    for name in names:
        of_name = [_of_summarizer(judge, name) for judge in judges]
        n = next((one["n"] for one in of_name if one), None)
        cells = [Cell(None, reason="not judged") if one is None else estimate(one, sign=True) for one in of_name]
        body.append([Cell(name), count(n), *cells])
    averages = [estimate(judge["bias"]["average"], sign=True) for judge in judges]
    n_all = max((judge["bias"]["average"]["n"] for judge in judges), default=0)
    body.append([Cell("average over summarizers"), count(n_all), *averages])
    caption = (
        "Mean score of a judge less that of people, over the summaries of each summarizer; scores are from 0 to 1. "
        f"Above 0 the judge is generous. {INTERVAL} The average counts each summarizer once (SummHay, table 4)."
    )
    return Section("bias", "Bias by summarizer", [], [Table(caption, columns, body)])


def _of_summarizer(judge: TargetJudgeColumns, name: str) -> EstimateColumns | None:
    return next((row for row in judge["bias"]["by_summarizer"] if row["summarizer"] == name), None)


def _length(found: TargetMeta) -> Section:
    columns = [Column("judge", numeric=False), Column("with its score"), Column("with its bias")]
    body = [
        [Cell(_named(judge)), *(estimate(judge["bias"][name], sign=True) for name in _LENGTH)]
        for judge in found["judges"]
    ]
    caption = (
        "Correlation, over summaries, of the words a bullet with the judge's mean score, and with that score less "
        f"people's. {INTERVAL} A judge that length misleads has a correlation with its bias (SummHay, table 4)."
    )
    return Section("length", "Bias by length", [], [Table(caption, columns, body)])


# ---------------------------------------------------------------- figure


def target_figures(anchor: str, found: TargetMeta) -> list[Captioned]:
    """Draw the correlations of the section *agreement*; a dashed line is people's own agreement."""
    if anchor != "agreement":
        return []
    plot = _correlations(found)
    people = " The dashed line: people with each other." if found["people"] else ""
    return [] if plot is None else [Captioned(plot, f"Correlation with people, with its interval.{people}")]


def _correlations(found: TargetMeta) -> Plot | None:
    rows = [judge for judge in sorted(found["judges"], key=_by_correlation) if _value(judge) is not None]
    if not rows:
        return None
    ceiling = found["people"]["people"]["pearson"]["value"] if found["people"] else None

    def draw(axes: Axes) -> None:
        for place, judge in enumerate(rows):
            one, style = judge["parts"][ALL]["pearson"], series_style(0)
            if one["low"] is not None:
                axes.plot([one["low"], or_gap(one["high"])], [place, place], color=style["color"], linewidth=1.2)
            axes.plot([or_gap(one["value"])], [place], **style)
        if ceiling is not None:
            axes.axvline(ceiling, linestyle="--", linewidth=1, color=series_style(1)["color"])
        axes.set_yticks(range(len(rows)), [_named(judge) for judge in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("correlation with people")
        axes.grid(axis="x")

    svg = render(draw, height=0.7 + 0.25 * len(rows), name="correlations")
    told = "; ".join(f"{judge['judge']} {or_gap(_value(judge)):.3f}" for judge in rows)
    return Plot(svg, f"Correlation with people: {told}.")


def _value(judge: TargetJudgeColumns) -> float | None:
    return judge["parts"][ALL]["pearson"]["value"]
