"""Parts that pages on judges share: cells of estimates and differences, people's agreement, cards, failed judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from longform.judges.card_columns import CostColumns
from longform.judges.people_agreement import PairMeans, PeopleAgreement
from longform.metrics.contrasts import Contrast, contrast_words
from longform.metrics.statistics import EstimateColumns
from longform.report.parts import INTERVAL, Section
from longform.report.tables import IN_SAMPLE, Column, Table
from longform.tables.cells import Cell, count, number, words

UNDEFINED = "a side does not vary, or no label was judged"
NO_LINKS = "no pair has two links"
TOGETHER = (
    "Brackets: intervals that hold for all differences of the table together, in 95 of 100 cases. Two judges are "
    "called different only if theirs excludes 0."
)


class FailedJudge(TypedDict):
    """A judge that could not be held against the labels, with the reason and the exit code that it alone would give."""

    judge: str
    reason: str
    exit_code: int


def estimate(
    one: EstimateColumns, *, factor: float = 1, digits: int = 3, sign: bool = False, reason: str = UNDEFINED
) -> Cell:
    """Show an estimate with its interval."""
    interval = (one["low"], one["high"])
    return number(one["value"], factor=factor, digits=digits, sign=sign, interval=interval, reason=reason)


def difference(one: Contrast, *, factor: float = 1, digits: int = 3) -> Cell:
    """Show a difference with its interval."""
    interval = (one["low"], one["high"])
    return number(one["value"], factor=factor, digits=digits, sign=True, interval=interval, reason=UNDEFINED)


def contrast_cells(
    one: Contrast,
    first: str,
    second: str,
    *,
    clusters: str,
    factor: float = 1,
    digits: int = 3,
    in_sample: Sequence[str] = (),
) -> list[Cell]:
    """Show the difference, its p-value, the numbers behind it, and what it says in words."""
    told = contrast_words(one, first, second, clusters=clusters)
    marks = f" ({IN_SAMPLE}: {' and '.join(in_sample)})" if in_sample else ""
    return [
        difference(one, factor=factor, digits=digits),
        p_value(one["p"], reason=f"too few {clusters}"),
        count(one["n"]),
        count(one["n_clusters"]),
        words(told + marks),
    ]


def p_value(p: float | None, *, reason: str) -> Cell:
    """Show a p-value; a tiny one is not shown as 0."""
    cell = number(p, digits=3, reason=reason)
    return cell._replace(text="< 0.001") if cell.text == "0.000" else cell


def cost_cell(cost: CostColumns) -> Cell:
    """Show dollars; an unknown cost has its reason."""
    cell = number(cost["usd"], digits=2, reason=cost["why"])
    return cell if cell.text is None else cell._replace(text=f"${cell.text}")


def failed_sections(failed: Sequence[FailedJudge]) -> Iterator[Section]:
    """One section if a judge failed."""
    if failed:
        told = [f"{one['judge']}: {one['reason']}" for one in failed]
        yield Section("failed", "Judges that are missing", ["The page is without these judges.", *told], [])


def card_sections(cards: Mapping[str, str | None]) -> Iterator[Section]:
    """One section with the line of each judge's card."""
    columns = [Column("judge", numeric=False), Column("card", numeric=False)]
    body = [[Cell(name), words(line, reason="no card: a card is of mode document")] for name, line in cards.items()]
    yield Section("cards", "Cards", [], [Table("What each judge is worth, in one line.", columns, body)])


def made_sections(facts: Mapping[str, object]) -> Iterator[Section]:
    """One section on what the numbers rest on."""
    columns = [Column("what", numeric=False), Column("value", numeric=False)]
    body = [[words(name), words(value)] for name, value in facts.items()]
    yield Section("made", "How the numbers were made", [], [Table("What the numbers rest on.", columns, body)])


# ---------------------------------------------------------------- people


def people_sections(found: PeopleAgreement | None, reason: str | None, *, links: bool) -> Iterator[Section]:
    """One section: people against people, and judges against people on the same items."""
    title = "People against people"
    if found is None:
        told = f"The agreement of people, which is the ceiling for a judge, is not known: {reason}."
        yield Section("people", title, [told], [])
        return
    yield Section("people", title, [_people_told(found)], [_beside(found, links), _each_pair(found, links)])


def _people_told(found: PeopleAgreement) -> str:
    return (
        f"{', '.join(found['annotators'])}: {found['n_items']} items of {found['n_summaries']} summaries have labels "
        "of two or more. People's agreement is the ceiling: a judge that reaches it is worth one more annotator."
    )


def _columns(links: bool) -> list[Column]:
    found = [Column("correlation"), Column("kappa"), Column("equal answers, %")]
    return [*found, *([Column("equal links, %")] if links else [])]


def _means(one: PairMeans, links: bool) -> list[Cell]:
    cells = [estimate(one["pearson"]), estimate(one["kappa"], digits=2), estimate(one["same"], factor=100, digits=1)]
    return [*cells, *([estimate(one["links"], factor=100, digits=1, reason=NO_LINKS)] if links else [])]


def _beside(found: PeopleAgreement, links: bool) -> Table:
    columns = [Column("who", numeric=False), Column("pairs"), *_columns(links), Column("correlation less people's")]
    columns.append(Column("in words", numeric=False))
    body = [
        [
            Cell("people with each other"),
            count(found["people"]["n_pairs"]),
            *_means(found["people"], links),
            Cell("0", order=0.0, detail="(itself)"),
            Cell("the ceiling"),
        ]
    ]
    for judge in found["judges"]:
        less = judge["less_people"]
        body.append(
            [
                Cell(judge["judge"]),
                count(judge["n_pairs"]),
                *_means(judge, links),
                difference(less),
                words(contrast_words(less, judge["judge"], "people's agreement")),
            ]
        )
    caption = (
        "Means over each two annotators, and over the judge with each annotator, on the items that two or more people "
        f"labelled. {INTERVAL} Higher is better. Intervals of the differences hold together."
    )
    return Table(caption, columns, body)


def _each_pair(found: PeopleAgreement, links: bool) -> Table:
    columns = [Column("first", numeric=False), Column("second", numeric=False), Column("items"), *_columns(links)]
    body = []
    for pair in found["pairs"]:
        first, second = pair["annotators"]
        row = [Cell(first), Cell(second), count(pair["same"]["n"]), estimate(pair["pearson"])]
        row += [estimate(pair["kappa"], digits=2), estimate(pair["same"], factor=100, digits=1)]
        row += [estimate(pair["links"], factor=100, digits=1, reason=NO_LINKS)] if links else []
        body.append(row)
    return Table(f"Each two annotators, on what both labelled. {INTERVAL}", columns, body)
