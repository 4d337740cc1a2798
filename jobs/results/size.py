"""The size of a run: its systems and queries, how many of these have a score, and why the others have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from actors.storage.benchmark import Benchmark
from jobs.results.evidence import RunEvidence
from longform.evidence.scan import pl
from longform.evidence.scores import means
from longform.evidence.summaries import clusters_of
from longform.judges.kinds import KINDS
from longform.report.measures import main_measure
from longform.results.aggregate import systems_in
from longform.results.cells import CellRow
from longform.results.evidence import Family


def counted(evidence: RunEvidence, cells: Sequence[CellRow]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the size of a run and its clusters; a query is scored if it has a value of the main measure."""
    benchmark, queries = evidence.benchmark, list(evidence.query_ids)
    own, every = (one.filter(pl.col("twin_of").is_null()) for one in (evidence.summaries, evidence.all_summaries))
    haystacks = dict.fromkeys(benchmark.queries[query_id].haystack_id for query_id in queries)
    mains = {cell["dataset"]: _main(evidence, cell) for cell in reversed(cells)}  # of each data set the first judge
    datasets, scored = evidence.datasets, {dataset: _scored(scores) for dataset, (_, scores) in mains.items()}
    unscored = Counter(
        _why_not(evidence, query, *mains[datasets[query]])
        for query in queries
        if datasets[query] in mains and query not in scored[datasets[query]]
    )
    size = {
        "n_queries": len(queries),
        "unscored_queries": dict(unscored.most_common()) if mains else None,  # by reason; null: nothing is scored
        "haystacks": list(haystacks),
        "n_documents": _n_documents(benchmark, haystacks),
        "n_systems": len(systems_in(own)),  # without twins
        "n_summaries": len(own),
        "n_repeating": len(every) - len(own),  # which repeat others in another order of documents
    }
    return size, _clusters(evidence, scored)


def _main(evidence: RunEvidence, cell: CellRow) -> tuple[str, pl.DataFrame]:
    """Return the main measure of a judge, and its summaries; `n` is null of those without a score by it."""
    measure = main_measure(cell)
    own = Family(cell["judge"], cell["dataset"], evidence)
    scores = means(own.scores.filter(pl.col("measure") == measure)).select("summary_id", "n", "reason")
    facts = own.facts.select("summary_id", "query_id", "haystack_id", "failure")
    return measure, facts.join(scores, on="summary_id", how="left", maintain_order="left")


def _scored(scores: pl.DataFrame) -> dict[str, str | None]:
    """Return the queries with a value, each with its haystack."""
    found = scores.filter(pl.col("n") > 0).unique("query_id", keep="first", maintain_order=True)
    return dict(found.select("query_id", "haystack_id").iter_rows())


def _why_not(evidence: RunEvidence, query: str, measure: str, scores: pl.DataFrame) -> str:
    """Return why a query has no score: what it lacks, else the most frequent reason of its summaries."""
    task = next((one.judged_by for one in evidence.measures if one.name == measure), None)
    kind = KINDS[task].targets if task is not None and task in KINDS else None
    if kind and all(target.kind != kind for target in evidence.benchmark.targets.get(query, [])):
        return f"no {kind.replace('_', ' ')}s"
    own = scores.filter(pl.col("query_id") == query).select("failure", "reason")
    why = [f"failed with {failure}" if failure else reason for failure, reason in own.iter_rows()]
    reasons = Counter(reason.partition(":")[0] for reason in why if reason)
    return reasons.most_common(1)[0][0] if reasons else "no summary of it was scored"


def _clusters(evidence: RunEvidence, scored: Mapping[str | None, Mapping[str, str | None]]) -> list[dict[str, Any]]:
    rows = []
    for one in clusters_of(evidence.all_summaries).iter_rows(named=True):
        own = scored.get(one["dataset"])
        n, n_haystacks = (len(own), len({*own.values()})) if own else (one["n_queries"], one["n_haystacks"])
        rows.append({"dataset": one["dataset"], "kind": one["kind"], "n_queries": n, "n_haystacks": n_haystacks})
    return rows


def _n_documents(benchmark: Benchmark, haystacks: Collection[str]) -> int:
    if len(haystacks) == benchmark.manifest["n_haystacks"]:
        return int(benchmark.manifest["rows"]["documents"])
    return sum(benchmark.rows("documents", one, ["doc_id"]).num_rows for one in haystacks)
