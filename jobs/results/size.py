"""The size of a run: its systems and queries, how many of these have a score, and why the others have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from actors.storage.benchmark import Benchmark
from jobs.results.evidence import RunEvidence
from longform.judges.kinds import KINDS
from longform.report.measures import main_measure
from longform.results.aggregate import Scored, scored_summaries
from longform.results.cells import CellRow
from longform.results.results import ClustersRow, Size


class Counted(NamedTuple):
    """The counts that all pages and the terminal tell of a run."""

    size: Size
    clusters: list[ClustersRow]


class _Main(NamedTuple):
    """The summaries of a data set under the judge whose main measure heads its tables."""

    measure: str
    of_query: dict[str, list[Scored]]

    def scored(self) -> dict[str, str | None]:
        """Return the queries with a value, each with its haystack."""
        return {
            query: own[0].info.haystack_id
            for query, own in self.of_query.items()
            if any(one.has(self.measure) for one in own)
        }


def counted(evidence: RunEvidence, cells: Sequence[CellRow]) -> Counted:
    """Count the systems and queries of a run; a query is scored if it has a value of the main measure."""
    benchmark, queries = evidence.benchmark, list(evidence.query_ids)
    own = [info for info in evidence.infos.values() if info.twin_of is None]
    haystacks = dict.fromkeys(benchmark.queries[query_id].haystack_id for query_id in queries)
    mains = {cell["dataset"]: _main(evidence, cell) for cell in reversed(cells)}  # of each data set the first judge
    unscored = Counter(
        _why_not(evidence, query, mains[evidence.datasets[query]])
        for query in queries
        if evidence.datasets[query] in mains and query not in mains[evidence.datasets[query]].scored()
    )
    size: Size = {
        "n_queries": len(queries),
        "unscored_queries": dict(unscored.most_common()) if mains else None,
        "haystacks": list(haystacks),
        "n_documents": _n_documents(benchmark, haystacks),
        "n_systems": len({(info.summarizer, info.setting) for info in own}),
        "n_summaries": len(own),
        "n_repeating": sum(info.twin_of is None for info in evidence.all_infos.values()) - len(own),
    }
    return Counted(size, list(_clusters(evidence, mains)))


def _main(evidence: RunEvidence, cell: CellRow) -> _Main:
    of_query: dict[str, list[Scored]] = {}
    for one in scored_summaries(evidence.score_table, cell["judge"], evidence.infos):
        if one.info.dataset == cell["dataset"]:
            of_query.setdefault(one.info.query_id, []).append(one)
    return _Main(main_measure(cell), of_query)


def _why_not(evidence: RunEvidence, query: str, main: _Main) -> str:
    """Return why a query has no score: what it lacks, else the most frequent reason of its summaries."""
    task = next((one.judged_by for one in evidence.measures if one.name == main.measure), None)
    kind = KINDS[task].targets if task is not None and task in KINDS else None
    if kind and all(target.kind != kind for target in evidence.benchmark.targets.get(query, [])):
        return f"no {kind.replace('_', ' ')}s"
    own = main.of_query.get(query, [])
    why = [f"failed with {one.info.failure}" if one.info.failure else one.reasons.get(main.measure) for one in own]
    reasons = Counter(reason.partition(":")[0] for reason in why if reason)
    return reasons.most_common(1)[0][0] if reasons else "no summary of it was scored"


def _clusters(evidence: RunEvidence, mains: dict[str | None, _Main]) -> list[ClustersRow]:
    rows: list[ClustersRow] = []
    for one in evidence.clusters:
        scored = mains[one.dataset].scored() if one.dataset in mains else {}
        n, n_haystacks = (len(scored), len({*scored.values()})) if scored else (one.n_queries, one.n_haystacks)
        rows.append({"dataset": one.dataset, "kind": one.kind, "n_queries": n, "n_haystacks": n_haystacks})
    return rows


def _n_documents(benchmark: Benchmark, haystacks: Collection[str]) -> int:
    if len(haystacks) == benchmark.manifest["n_haystacks"]:
        return int(benchmark.manifest["rows"]["documents"])
    return sum(benchmark.rows("documents", one, ["doc_id"]).num_rows for one in haystacks)
