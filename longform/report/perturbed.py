"""The table of judges on perturbed summaries, as their cards state it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from longform.judges.adversarial_words import row_words
from longform.judges.card_columns import Adversarial, AdversarialRow
from longform.metrics.statistics import EstimateColumns
from longform.report.parts import INTERVAL
from longform.report.tables import Column, Table
from longform.tables.cells import Cell, count, number

_HOW = (
    "A judge must keep its score if a summary says the same in other words, in one bullet, at more length or with more "
    "citations, and must not count what was denied or what the query alone says. The summaries are labelled ones, on "
    "text that the judge was not fitted on if there is such text. Before and after: mean score over the insights "
    "named, which people call fully covered unless a row says all. Paraphrase: the bullet that says an insight is "
    "replaced by the bullet of another system that people say states the same insight."
)


def perturbed_tables(found: Mapping[str, Adversarial | None]) -> Iterator[Table]:
    """Yield one table if the card of any judge has such a section."""
    told = {judge: one for judge, one in found.items() if one is not None}
    body = [[Cell(judge), *_cells(row)] for judge, one in told.items() for row in one["rows"]]
    if not told:
        return
    for judge, one in told.items():
        missing = {"all": one["reason"]} if one["reason"] else one["missing"]
        body += [_missing(judge, name, reason) for name, reason in missing.items()]
    columns = [Column("judge", numeric=False), Column("perturbation", numeric=False), Column("insights", numeric=False)]
    columns += [*map(Column, ("before", "after", "drop", "n", "summaries")), Column("in words", numeric=False)]
    caption = f"Each judge's score of summaries before and after they were perturbed. {INTERVAL}"
    yield Table(caption, columns, body, _HOW)


def _cells(row: AdversarialRow) -> list[Cell]:
    name = row["perturbation"] if row["measure"] == "score" else f"{row['perturbation']}: {row['measure']}"
    return [
        Cell(name),
        Cell(row["rows"]),
        *(_estimate(one) for one in (row["before"], row["after"], row["drop"])),
        count(row["drop"]["n"]),
        count(row["n_summaries"]),
        Cell(row_words(row)),
    ]


def _estimate(one: EstimateColumns) -> Cell:
    reason = "no insight was judged on both sides"
    return number(one["value"], digits=2, interval=(one["low"], one["high"]), reason=reason)


def _missing(judge: str, name: str, reason: str) -> list[Cell]:
    unknown = Cell(None, reason=reason)
    return [Cell(judge), Cell(name), *[unknown] * 6, Cell(f"not measured: {reason}")]
