"""
Means of each measure by a property of the query; those of key points by the lengths of documents and summary, too.

LONG2RAG splits key point recall by category, domain, length of the input and of the output (sections 5.3 to 5.5 and
5.7). A benchmark states the properties of its queries (`facets`). Lengths are put into four groups of about equal
numbers of summaries, the same for all systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.judges.kinds.key_point import KEY_POINT
from longform.records import Document
from longform.results.aggregate import by_measure, by_system, marks_of, mean_of
from longform.results.evidence import Evidence, Family, rows_of
from longform.tables.table import NAMED, Axes, Column, Table

INPUT_LENGTH, OUTPUT_LENGTH = "words of the documents", "words of the summary"
LENGTHS = (INPUT_LENGTH, OUTPUT_LENGTH)
_LENGTH = "words"  # the measure
_N_GROUPS = 4
_LEAST_SUMMARIES = 8  # of which groups are made

Row = Mapping[str, Any]
Values = Mapping[str, Sequence[str]]
"""Value of a facet -> ids of the summaries that have it."""


_NONE = "no summary of these queries has a value"
_COLUMNS = [
    Column("measure"),
    Column("facet", title="by"),
    *NAMED,
    Column("value"),
    Column("n_queries", "count", shown=False),
    Column("unit", shown=False),
    Column("score", "stated", unknown=_NONE),
]


class Facets:
    """Means of each judge, measure and system by each property of queries, and of key points by lengths, too."""

    name = "facets"
    needs = ("scores", "summaries")

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return a row for each judge, measure, system and value of a facet; none if there is one value at most."""

        def of_family(own: Family) -> list[Row]:
            return list(_rows(own, evidence))

        if not evidence.facets and all(measure.judged_by != KEY_POINT.task for measure in evidence.measures):
            return None
        return tables(rows_of(evidence, [measure.name for measure in evidence.measures], of_family)) or None


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the rows of stated properties, and those of lengths, which have an order."""
    whole = Table(
        "facets",
        _COLUMNS,
        (),
        title="By kinds of queries",
        key=["measure", "facet", "dataset", "judge", "setting", "summarizer", "value"],
        plot=Axes("dots", "value", "score", by="summarizer, setting"),
        apart=["measure", "facet", "judge", "dataset"],
        across="value",
        page="scores",
    )
    stated, lengths = ([row for row in rows if (row["facet"] in LENGTHS) == of_length] for of_length in (False, True))
    by_length = whole._replace(name="facets_lengths", title="By lengths", section="facets" if stated else "")
    line = Axes("line", "value", "score", by="summarizer, setting")
    found = [whole.having(stated), by_length._replace(plot=line).having(lengths)]
    return [table for table in found if table.rows]


def _rows(own: Family, evidence: Evidence) -> Iterator[Row]:
    facts = final(own.facts)
    known = {*with_facts(own.scores.select("summary_id", "measure"), facts.select("summary_id"))["measure"].unique()}
    measures = [one for one in evidence.measures if one.name in known and one.unit not in ("count", "words")]
    of_points = [measure for measure in measures if measure.judged_by == KEY_POINT.task]
    lengths = _lengths(own, facts, evidence) if of_points else {}
    systems, scores = by_system(facts), by_measure(means(own.scores))
    for facet, values in {**_stated(facts, evidence.facets), **lengths}.items():
        for ((setting, summarizer), group), (value, ids), measure in product(
            systems.items(), values.items() if len(values) > 1 else (), of_points if facet in lengths else measures
        ):
            part = group.filter(pl.col("summary_id").is_in(ids))
            how = evidence.averaging.own("facets", facet, value, setting, summarizer, measure.name)
            yield {
                "judge": own.judge,
                "dataset": own.dataset,
                "facet": facet,
                "value": value,
                "n_queries": part["query_id"].n_unique(),
                "setting": setting,
                "summarizer": summarizer,
                **marks_of(group),
                "measure": measure.name,
                "unit": measure.unit,
                "score": mean_of(with_facts(scores[measure.name], part), how).scaled(measure.factor).as_json(),
            }


def _stated(facts: pl.DataFrame, stated: Mapping[str, Mapping[str, str]]) -> dict[str, Values]:
    found: dict[str, dict[str, list[str]]] = {}
    for query, summary in facts.select("query_id", "summary_id").iter_rows() if stated else ():
        for facet, value in stated.get(query, {}).items():
            found.setdefault(facet, {}).setdefault(value, []).append(summary)
    return {facet: dict(sorted(values.items())) for facet, values in sorted(found.items())}


def _lengths(own: Family, facts: pl.DataFrame, evidence: Evidence) -> dict[str, Values]:
    """Return groups by length; documents have one if every query has a haystack of its own."""
    words = with_facts(means(own.scores.filter(pl.col("measure") == _LENGTH)), facts).filter(pl.col("n") > 0)
    outputs = _grouped(dict(words.select("summary_id", "total").iter_rows()))
    haystacks = dict(facts.select("query_id", "haystack_id").iter_rows())
    if None in haystacks.values() or len(set(haystacks.values())) < len(haystacks):
        return {OUTPUT_LENGTH: outputs}
    sizes = {query: _n_words(evidence.documents(str(haystack))) for query, haystack in haystacks.items()}
    inputs = _grouped({key: sizes[query] for key, query in facts.select("summary_id", "query_id").iter_rows()})
    return {INPUT_LENGTH: inputs, OUTPUT_LENGTH: outputs}


def _n_words(documents: Sequence[Document]) -> float:
    return float(sum(len(document.text.split()) for document in documents))


def _grouped(lengths: Mapping[str, float]) -> Values:
    """Return summaries in groups of about equal numbers; none if they are few, one if all are alike."""
    if len(lengths) < _LEAST_SUMMARIES:
        return {}
    quantiles = np.quantile(list(lengths.values()), np.arange(_N_GROUPS) / _N_GROUPS, method="higher")
    bounds = [*dict.fromkeys(float(one) for one in quantiles), max(lengths.values()) + 1]
    found = {
        f"{low:,.0f} to {high - 1:,.0f}": [key for key, length in lengths.items() if low <= length < high]
        for low, high in pairwise(bounds)
    }
    return {name: ids for name, ids in found.items() if ids}
