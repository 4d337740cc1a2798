"""Systems with what their rankings and their summaries are worth, for studies of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, under, with_facts
from longform.metrics.measure import Measure
from longform.metrics.retrieval import MEASURES, ndcg_at
from longform.results.aggregate import systems_of
from longform.results.evidence import Evidence, summaries_under
from longform.results.ranked import RankedQuery, Ranker

_PERFECT = "every ranking is perfect, as an oracle's is"
_WHOLE = "prompts hold all documents, whatever their rank"
_ROUNDING = 1e-9

Values = Mapping[Ranker, Mapping[str, Mapping[str, float]]]
"""Ranker -> measure -> query -> value."""

_Placed = tuple[str | None, Ranker]
"""A ranker on a data set."""


def _gold(evidence: Evidence) -> dict[str, set[str]]:
    """Query -> its gold documents."""
    return {query: set[str]().union(*targets.values()) for query, targets in evidence.gold.items()}


def _values(evidence: Evidence, rankings: Sequence[RankedQuery]) -> Values:
    """Measure all rankings at the largest cutoff."""
    gold = _gold(evidence)
    listed = [measure for measure in evidence.ranking_measures if measure in MEASURES]
    found: dict[Ranker, dict[str, dict[str, float]]] = {}
    for ranked in rankings:
        for measure in listed:
            value = measure.at(ranked.doc_ids, gold.get(ranked.query_id, set()), max(evidence.cutoffs))
            if value is not None:
                found.setdefault(ranked.ranker, {}).setdefault(measure.name, {})[ranked.query_id] = value
    return found


def _of_queries(evidence: Evidence, column: str) -> dict[str, Any]:
    """Query -> a column of its summaries."""
    return dict(evidence.frames.summaries.select("query_id", column).collect().iter_rows())


def _perfect(evidence: Evidence, rankings: Sequence[RankedQuery]) -> set[_Placed]:
    """Return the rankers whose first documents are gold ones for every query of a data set, as many as there are."""
    gold, datasets, found = _gold(evidence), _of_queries(evidence, "dataset"), dict[_Placed, bool]()
    for ranked in rankings:
        gain = ndcg_at(ranked.doc_ids, gold.get(ranked.query_id, set()), max(evidence.cutoffs))
        if gain is not None:
            key = datasets.get(ranked.query_id), ranked.ranker
            found[key] = found.get(key, True) and gain > 1 - _ROUNDING
    return {ranker for ranker, is_perfect in found.items() if is_perfect}


def _showing_all(evidence: Evidence) -> set[_Placed]:
    """Return the rankers whose prompts without a budget hold all documents of each haystack of a data set."""
    haystack_of, datasets = (_of_queries(evidence, column) for column in ("haystack_id", "dataset"))
    n_documents: dict[str, int] = {}
    found: dict[_Placed, bool] = {}
    for packed in evidence.contexts():
        haystack = haystack_of.get(packed.query_id)
        if packed.budget_tokens is None and haystack is not None:
            if haystack not in n_documents:
                n_documents[haystack] = len(evidence.documents(haystack))
            shows_all = len(packed.doc_ids) == n_documents[haystack]
            key = datasets.get(packed.query_id), packed.ranker
            found[key] = found.get(key, True) and shows_all
    return {ranker for ranker, shows_all in found.items() if shows_all}


class RankedSystem(NamedTuple):
    """
    The summaries of a system under a judge.

    Attributes:
        judge: None: of measures that need none.
        name: Data set, summarizer and setting.
        measures: That its summaries were scored by.
        facts: Its summaries.
        scores: Means over the repeats of the judge, with `facts`.
        ranked: Measure of rankings -> query -> value; empty: it ranks nothing.
        left_out: Why it stands in no correlation; None: it does.
    """

    judge: str | None
    name: tuple[str | None, str, str]
    measures: Sequence[Measure]
    facts: pl.DataFrame
    scores: pl.DataFrame
    ranked: Mapping[str, Mapping[str, float]]
    left_out: str | None

    @property
    def correlates(self) -> bool:
        return bool(self.ranked) and self.left_out is None

    def by(self, measure: str) -> pl.DataFrame:
        return self.scores.filter(pl.col("measure") == measure)


_ARMS = pl.col("order").is_not_null() & (pl.col("order") != "given")
_OTHERS = pl.col("elsewhere") | pl.col("retriever").is_null()  # a ranker of the same name in this run is another


def ranked_systems(evidence: Evidence, measures: Sequence[Measure]) -> Iterator[RankedSystem]:
    """
    Yield each system under each judge; no twins, and none whose documents were ordered on purpose.

    There are none if the run ranks nothing, or no document is judged.
    """
    rankings = evidence.rankings() if measures and evidence.cutoffs else ()
    if not rankings or not (values := _values(evidence, rankings)):
        return
    table, perfect, whole = evidence.score_table, _perfect(evidence, rankings), _showing_all(evidence)
    for judge in table.judges:
        own = [measure for measure in measures if measure.name in table.measures(judge)]
        facts = final(summaries_under(evidence, judge)).filter(pl.col("twin_of").is_null(), ~_ARMS, ~_OTHERS)
        listed = under(table.frame, judge).filter(pl.col("measure").is_in([measure.name for measure in own]))
        scores = means(listed)
        for of_dataset in facts.partition_by("dataset", maintain_order=True):
            for name, group in systems_of(of_dataset).items():
                first = group.row(0, named=True)
                ranker = Ranker(first["retriever"], first["reranker"])
                unlimited = all(first[limit] is None for limit in ("budget_tokens", "n_documents", "length_tokens"))
                placed = first["dataset"], ranker
                why = _PERFECT if placed in perfect else _WHOLE if unlimited and placed in whole else None
                known = with_facts(scores, group)
                yield RankedSystem(judge, (placed[0], *name), own, group, known, values.get(ranker, {}), why)
