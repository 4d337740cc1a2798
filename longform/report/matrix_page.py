"""The page of systems and queries: each cell leads to a summary, each system to the summaries behind its mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.report.measures import all_heads, factor_of
from longform.report.page import PageLink, rendered
from longform.report.page_data import PLACES, page_data
from longform.report.parts import haystack_name
from longform.report.site import ReportSite
from longform.report.tables import MATRIX
from longform.results.cells import systems_in
from longform.results.evidence import SummaryFacts, Unfolded
from longform.results.results import Results
from longform.tables.table import Column

LINK = PageLink(MATRIX, "Matrix", "Every system on every query, coloured by its score.")

MOST_VALUES = 150_000
"""Most values (summaries times measures) of the page; about 2 MB."""


def too_large(results: Results) -> str | None:
    """Return the sentence that says why there is no matrix; None: there can be one."""
    n_values = len(all_heads(results)) * sum(row.get("n_summaries") or 0 for row in systems_in(results))
    if n_values <= MOST_VALUES:
        return None
    return f"There is no matrix of systems and queries: {n_values:,} values are above its limit of {MOST_VALUES:,}."


class MatrixRows:
    """Content of the page for each summary, gathered while the summaries of the results pass."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._rows = {(row["summarizer"], row["setting"]): row for row in systems_in(results)}
        self._heads: Mapping[str, Column] = {head.name: head for head in all_heads(results)}
        self._queries: dict[str, dict[str, Any]] = {}
        self._systems: dict[tuple[str, str], int] = {}
        self._measures: dict[tuple[str, str], int] = {}
        self._summaries: list[dict[str, Any]] = []

    def add(self, one: Unfolded) -> None:
        """Keep the scores of a summary."""
        summary, query = one
        if self._rows and (summary["summarizer"], summary["setting"]) not in self._rows:
            return  # it repeats another order of documents, and is counted nowhere
        facts = self._queries.setdefault(
            summary["query_id"],
            {
                "place": len(self._queries),
                "text": query["text"] or summary["query_id"],
                "haystack": haystack_name(self._results, query["haystack"]),
                "dataset": query.get("dataset"),
            },
        )
        system = self._systems.setdefault((summary["summarizer"], summary["setting"]), len(self._systems))
        row = {"query": facts["place"], "system": system, "values": self._values(summary)}
        self._summaries.append({"summary_id": summary["summary_id"], **row})

    def _values(self, summary: SummaryFacts) -> list[float | None]:
        values: dict[int, float | None] = {}
        for judge, scores in summary["scores"].items():
            for measure, value in scores.items():
                if (head := self._heads.get(measure)) is not None:
                    place = self._measures.setdefault((judge, measure), len(self._measures))
                    values[place] = None if value is None else round(factor_of(head) * value, PLACES - 2)
        return [values.get(place) for place in range(len(self._measures))]

    def packed(self, file_of: Mapping[str, str]) -> str:
        """Return the page's data: queries, systems, measures, and summaries with their places in these, and files."""
        heads = [(judge, self._heads[name]) for judge, name in self._measures]
        missing = [None] * len(heads)
        return page_data(
            queries=list(self._queries.values()),
            systems=[
                {
                    "summarizer": summarizer,
                    "setting": setting,
                    "twin_of": row.get("twin_of"),
                    "in_sample": int(bool(row.get("in_sample"))),
                }
                for summarizer, setting in self._systems
                for row in [dict[str, Any](self._rows.get((summarizer, setting)) or {})]
            ],
            measures=[
                {"judge": judge, "name": head.name, "title": head.head, "scaled": int(factor_of(head) == 100)}
                for judge, head in heads
            ],
            summaries=[
                {**one, "file": file_of[one["summary_id"]], "values": [*one["values"], *missing[len(one["values"]) :]]}
                for one in self._summaries
            ],
        )


def matrix_html(site: ReportSite, data: str) -> str:
    """Return the page of *data* that `MatrixRows.packed` returns, which loads nothing."""
    return rendered("matrix.html.j2", site.title, site.here(MATRIX), matrix=data)
