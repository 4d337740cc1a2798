"""
The rankings of stored runs, compared.

Reads   rankings of both runs; qrels of their benchmark
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from jobs.results.retrieval import gold_by_query
from jobs.results.stored_run import StoredRun
from longform.metrics.retrieval import MEASURES
from longform.results.aggregate import SummaryInfo
from longform.results.compared_runs import Differences, RankedHow, RunScores, compare_rankings
from longform.results.ranked import RankedQuery, Ranker
from longform.retrieval.ranking import NOT_RANKED
from longform.settings.system_names import SystemName

_COLUMNS = ["query_id", "retriever", "reranker", "doc_id", "rank"]
NAMES = frozenset(measure.name for measure in MEASURES)


def is_of_rankings(measure: str) -> bool:
    """Return whether this is the name of a measure of rankings, with or without a cutoff."""
    return measure.partition("@")[0] in NAMES


def compared_rankings(
    runs: tuple[StoredRun, StoredRun],
    scores: Sequence[RunScores],
    pairs: Sequence[tuple[SystemName, SystemName]],
    *,
    only: Collection[str],
    seed: int,
) -> Differences:
    """
    Return the differences of the rankers of *pairs* of systems, by the measures and cutoffs that both runs have.

    Args:
        runs: The two runs.
        scores: Scores of each run, of the common queries alone.
        pairs: Systems of the first and of the second run.
        only: Names of measures; none: all.
        seed: The seed of drawn sign changes.
    """
    depths = [_cutoffs(run) for run in runs]
    cutoffs = [k for k in depths[0] if k in depths[1]]
    infos = {info.query_id: info for info in scores[0].infos.values()}
    rankers = dict.fromkeys(
        (one, other)
        for names in pairs
        for one in _rankers(scores[0].infos.values(), names[0])
        for other in _rankers(scores[1].infos.values(), names[1])
    )
    benchmark = runs[0].benchmark or runs[1].benchmark
    gold = {} if benchmark is None else gold_by_query(benchmark.qrels)
    by_query = {query: frozenset[str]().union(*targets.values()) for query, targets in gold.items()}
    there = by_query and cutoffs and rankers
    rankings = {run.label: list(_rankings(run, max(cutoffs))) if there else [] for run in runs}
    how = RankedHow(MEASURES, cutoffs, frozenset(only), seed)
    return compare_rankings(rankings, infos=infos, gold=by_query, pairs=list(rankers), how=how)


def _cutoffs(run: StoredRun) -> list[int]:
    return list((run.record["config"] or {}).get("cutoffs") or [])


def _rankers(infos: Collection[SummaryInfo], name: SystemName) -> list[Ranker]:
    """Return the ranker of a system; none if its summaries were written elsewhere."""
    own = (info.axes for info in infos if SystemName(info.summarizer, info.setting) == name)
    return list(dict.fromkeys(Ranker(axes.retriever, axes.reranker) for axes in own if axes and axes.retriever))


def _rankings(run: StoredRun, depth: int) -> Iterator[RankedQuery]:
    """Yield the first *depth* documents of each ranking; of two of one name and query the first."""
    found: dict[tuple[Ranker, str], dict[int, str]] = {}
    for part in run.folder.batches("rankings", columns=_COLUMNS):
        for row in part.to_pylist():
            if row["retriever"] is not None and row["rank"] < depth and row["doc_id"] != NOT_RANKED:
                key = Ranker(row["retriever"], row["reranker"]), row["query_id"]
                found.setdefault(key, {}).setdefault(row["rank"], row["doc_id"])
    for (ranker, query_id), documents in found.items():
        yield RankedQuery(ranker, query_id, [documents[rank] for rank in sorted(documents)])
