"""The page of systems and queries: each cell leads to a summary, each system to the summaries behind its mean."""

from __future__ import annotations

from collections.abc import Mapping

from longform.report.measures import Head, all_heads
from longform.report.page import PageLink, rendered
from longform.report.parts import haystack_name
from longform.report.site import Site
from longform.report.tables import MATRIX
from longform.results.cells import systems_in
from longform.results.drilldown import PLACES, Packed, SummaryFacts, Unfolded, script_json
from longform.results.results import Results

LINK = PageLink(MATRIX, "Matrix", "Every system on every query, coloured by its score.")

MOST_VALUES = 150_000
"""Most values (summaries times measures) of the page; about 2 MB."""


def n_values(results: Results) -> int:
    """Return the number of values that the page of a run would hold."""
    return len(all_heads(results)) * sum(row.get("n_summaries") or 0 for row in systems_in(results))


def too_large(results: Results) -> str | None:
    """Return the sentence that says why there is no matrix; None: there can be one."""
    if (found := n_values(results)) <= MOST_VALUES:
        return None
    return f"There is no matrix of systems and queries: {found:,} values are above its limit of {MOST_VALUES:,}."


class MatrixRows:
    """
    Content of the page for each summary, gathered while the summaries pass.

    Args:
        results: Of the run: its measures, topics, twins and marks.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._rows = {(row["summarizer"], row["setting"]): row for row in systems_in(results)}
        self._heads: Mapping[str, Head] = {head.name: head for head in all_heads(results)}
        self._queries: dict[str, tuple[int, Packed]] = {}
        self._systems: dict[tuple[str, str], int] = {}
        self._measures: dict[tuple[str, str], int] = {}
        self._summaries: list[tuple[str, int, int, dict[int, float | None]]] = []

    def add(self, one: Unfolded) -> None:
        """Keep the scores of a summary."""
        summary, query = one
        if self._rows and (summary["summarizer"], summary["setting"]) not in self._rows:
            return  # it repeats another order of documents, and is counted nowhere
        query_id = summary["query_id"]
        if query_id not in self._queries:
            name = haystack_name(self._results, query["haystack"])
            self._queries[query_id] = len(self._queries), [query["text"] or query_id, name, query.get("dataset")]
        system = self._systems.setdefault((summary["summarizer"], summary["setting"]), len(self._systems))
        self._summaries.append((summary["summary_id"], self._queries[query_id][0], system, self._values(summary)))

    def _values(self, summary: SummaryFacts) -> dict[int, float | None]:
        values = {}
        for judge, scores in summary["scores"].items():
            for measure, value in scores.items():
                if (head := self._heads.get(measure)) is not None:
                    place = self._measures.setdefault((judge, measure), len(self._measures))
                    scale = 100 if head.unit in ("points", "share") else 1
                    values[place] = None if value is None else round(scale * value, PLACES - 2)
        return values

    def packed(self, file_of: Mapping[str, str]) -> str:
        """
        Return the page's data.

        queries: [words, haystack, data set]; systems: [summarizer, setting, twin of, in sample];
        measures: [judge, measure, title, in 0 to 100]; files: names;
        summaries: [id, file, query, system, [value of each measure, or null]], all by their places.

        Args:
            file_of: Summary id -> the page that holds it.
        """
        files = {file: place for place, file in enumerate(dict.fromkeys(file_of.values()))}
        measures: list[Packed] = [
            [judge, name, self._heads[name].title, int(self._heads[name].unit in ("points", "share"))]
            for judge, name in self._measures
        ]
        summaries: list[Packed] = [
            [id_, files[file_of[id_]], query, system, [values.get(place) for place in range(len(measures))]]
            for id_, query, system, values in self._summaries
        ]
        parts: Mapping[str, Packed] = {
            "queries": [query for _, query in self._queries.values()],
            "systems": self._packed_systems(),
            "measures": measures,
            "files": list(files),
            "summaries": summaries,
        }
        return "{" + ",".join(f'"{name}":{script_json(part)}' for name, part in parts.items()) + "}"

    def _packed_systems(self) -> list[Packed]:
        packed: list[Packed] = []
        for summarizer, setting in self._systems:
            row = self._rows.get((summarizer, setting))
            twin_of = None if row is None else row.get("twin_of")
            packed.append([summarizer, setting, twin_of, int(bool(row and row.get("in_sample")))])
        return packed


def matrix_html(site: Site, data: str) -> str:
    """
    Return the page, which loads nothing.

    Args:
        site: Whose page it is.
        data: Of `MatrixRows.packed`.
    """
    return rendered("matrix.html.j2", site.title, site.here(MATRIX), matrix=data)
