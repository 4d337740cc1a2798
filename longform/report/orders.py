"""Orders of documents: which systems they cannot move, and how far they move a score."""

from __future__ import annotations

from collections.abc import Iterator

from longform.metrics.order_sensitivity import SensitivityColumns
from longform.metrics.paired_differences import ALPHA
from longform.report.parts import Section
from longform.results.order_dependence import IDENTICAL, IndependentRow
from longform.results.results import Results
from longform.tables.cells import Cell, count, number

BY_CHANCE = (
    "By chance: the mean sensitivity when orders are exchanged at random within each query, or haystack where these "
    "are taken as independent, which is never 0, and beside it the point that 95 of 100 exchanges do not exceed; p: "
    "the share of such exchanges with at least the sensitivity found, adjusted for the rows (Holm). Independent: "
    "queries or haystacks with a score in every order, on which both rest."
)
_NOT_IN_ALL = "no query has a score in every order"


def sensitivity_cells(row: SensitivityColumns) -> list[Cell]:
    """Sensitivity, by chance, p, independent."""
    return [
        number(row.get("sensitivity"), reason=_NOT_IN_ALL),
        number(row.get("chance"), reason=_NOT_IN_ALL)._replace(detail=_high(row)),
        number(row.get("p_holm"), digits=4, reason=_NOT_IN_ALL)._replace(detail=exceeds(row)),
        count(row.get("n_independent"), reason=_NOT_IN_ALL),
    ]


def _high(row: SensitivityColumns) -> str | None:
    high = row.get("chance_high")
    return None if high is None else f"95 %: {high:.1f}"


def exceeds(row: SensitivityColumns) -> str | None:
    """Say whether a sensitivity exceeds what chance gives; None if it was not tested."""
    p, high, value = row.get("p_holm"), row.get("chance_high"), row.get("sensitivity")
    if p is None:
        return None
    if p <= ALPHA:
        return "exceeds chance"
    alone = high is not None and value is not None and value > high
    return "exceeds chance by itself, not among all rows" if alone else "within chance"


def order_sections(results: Results) -> Iterator[Section]:
    """
    Yield one section if there are systems whose summaries do not depend on the order of documents: a sentence each.

    A system of which only one order was run matters where curves by place are shown.
    """
    by_place = "faithfulness" in results and results["faithfulness"].get("mode") == "document"
    rows = results.get("order_independent") or []
    told = [_sentence(row) for row in rows if row["why"] == IDENTICAL or by_place]
    if told:
        yield Section("order-independent", "Systems that no order of the documents moves", told, [], page="position")


def _sentence(row: IndependentRow) -> str:
    on = f" on {row['dataset']}" if row["dataset"] else ""
    name = f"{row['summarizer']}, {row['setting']}{on}: does not depend on the order of the documents"
    if row["why"] == IDENTICAL:
        why = f"its summaries are the same in every order run ({', '.join(row['orders'])})"
    else:
        why = "the summarizer says so of itself"
    return f"{name}, for {why}. No orders and no places in the prompt are compared for it."
