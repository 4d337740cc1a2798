"""Systems with what their rankings and their summaries are worth, for studies of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from longform.metrics.measure import Measure
from longform.metrics.retrieval import MEASURES, ndcg_at
from longform.results.aggregate import Scored, final_summaries, scored_summaries, systems_of
from longform.results.evidence import Evidence
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


def _datasets(evidence: Evidence) -> dict[str, str | None]:
    """Query -> the data set of its summaries."""
    return {info.query_id: info.dataset for info in evidence.infos.values()}


def _perfect(evidence: Evidence, rankings: Sequence[RankedQuery]) -> set[_Placed]:
    """Return the rankers whose first documents are gold ones for every query of a data set, as many as there are."""
    gold, datasets, found = _gold(evidence), _datasets(evidence), dict[_Placed, bool]()
    for ranked in rankings:
        gain = ndcg_at(ranked.doc_ids, gold.get(ranked.query_id, set()), max(evidence.cutoffs))
        if gain is not None:
            key = datasets.get(ranked.query_id), ranked.ranker
            found[key] = found.get(key, True) and gain > 1 - _ROUNDING
    return {ranker for ranker, is_perfect in found.items() if is_perfect}


def _showing_all(evidence: Evidence) -> set[_Placed]:
    """Return the rankers whose prompts without a budget hold all documents of each haystack of a data set."""
    haystack_of = {info.query_id: info.haystack_id for info in evidence.infos.values()}
    n_documents: dict[str, int] = {}
    datasets, found = _datasets(evidence), dict[_Placed, bool]()
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
        measures: That its summaries were scored by.
        group: The summaries, one a query and repeat.
        ranked: Measure of rankings -> query -> value; empty: it ranks nothing.
        left_out: Why it stands in no correlation; None: it does.
    """

    judge: str | None
    measures: Sequence[Measure]
    group: Sequence[Scored]
    ranked: Mapping[str, Mapping[str, float]]
    left_out: str | None

    @property
    def name(self) -> tuple[str | None, str, str]:
        info = self.group[0].info
        return info.dataset, info.summarizer, info.setting

    @property
    def correlates(self) -> bool:
        return bool(self.ranked) and self.left_out is None


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
        summaries = [
            one
            for one in final_summaries(scored_summaries(table, judge, evidence.infos))
            if one.info.twin_of is None
            and not one.info.elsewhere  # a ranker of the same name in this run is another
            and one.info.order in (None, "given")
            and one.info.axes is not None
        ]
        for dataset in dict.fromkeys(one.info.dataset for one in summaries):
            for group in systems_of([one for one in summaries if one.info.dataset == dataset]).values():
                axes = group[0].info.axes
                assert axes is not None, "others are left out above"
                ranker = Ranker(axes.retriever, axes.reranker)
                unlimited = (axes.budget_tokens, axes.n_documents, axes.length_tokens) == (None, None, None)
                placed = dataset, ranker
                why = _PERFECT if placed in perfect else _WHOLE if unlimited and placed in whole else None
                yield RankedSystem(judge, own, group, values.get(ranker, {}), why)


def ranking_rows(
    rankings: Sequence[RankedQuery],
    gold: Mapping[str, set[str]],
    datasets: Mapping[str, str | None],
    cutoffs: Sequence[int],
) -> list[dict[str, Any]]:
    """Return means in percent, one row a data set, system and cutoff; none of a data set without gold documents."""
    members: dict[tuple[str | None, str], list[RankedQuery]] = {}
    for ranked in rankings:
        if gold.get(ranked.query_id):
            members.setdefault((datasets.get(ranked.query_id), ranked.ranker.words), []).append(ranked)
    return [
        _ranking_row(dataset, system, k, [(one.doc_ids, gold[one.query_id]) for one in found])
        for (dataset, system), found in members.items()
        for k in cutoffs
    ]


def _ranking_row(
    dataset: str | None, system: str, k: int, rankings: Sequence[tuple[Sequence[str], set[str]]]
) -> dict[str, Any]:
    """Return the means of *rankings*, each a list of documents and its gold."""
    p, r, ndcg, mean_precision = (
        100 * float(np.mean([measure.at(doc_ids, gold, k) for doc_ids, gold in rankings])) for measure in MEASURES
    )
    n = len(rankings)
    means = {"P": p, "R": r, "NDCG": ndcg, "MAP": mean_precision}
    return {"dataset": dataset, "system": system, "k": k, **means, "n": n}
