"""The systems that no order of the documents moves."""

from __future__ import annotations

from collections.abc import Iterator

from longform.report.parts import Section
from longform.results.order_dependence import IDENTICAL, IndependentRow
from longform.results.results import Results


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
