"""
What stands beside a made benchmark's tables: SummHay's files, and the audit.

Reads   documents, queries, targets, qrels; haystacks/ (what the maker planted) where it is there
Writes  summhay/topic_<haystack_id>.json, audit.json; what stands already is not written again
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from actors.benchmark import Benchmark
from actors.storage import Folder
from longform.formats.summhay_export import topic_file
from longform.records import Document, Qrel, Query, Target
from longform.synthesis_audit import VERSION, HaystackFacts, audit_haystack, audit_report

AUDIT = "audit.json"
ACCOUNT = "synthesis.json"
FACTS = "haystacks"
_SUMMHAY = "summhay"


def write_facts(folder: Folder, facts: HaystackFacts) -> None:
    """Keep how a haystack was made, and what was planted where."""
    folder.write_json(_facts_name(facts.haystack_id), facts.as_json())


def read_facts(folder: Folder, haystack_id: str) -> HaystackFacts | None:
    """What the maker of a haystack wrote down; None where it wrote nothing."""
    name = _facts_name(haystack_id)
    return HaystackFacts.from_json(folder.read_json(name)) if folder.has(name) else None


def export_summhay(url: str) -> list[str]:
    """The names of the SummHay files of the benchmark at *url*, one a haystack, written where they are not there."""
    benchmark = Benchmark(url)
    names = []
    for haystack_id, documents, queries, targets, qrels in _haystacks(benchmark):
        name = f"{_SUMMHAY}/topic_{haystack_id}.json"
        names.append(name)
        if not benchmark.folder.has(name):
            facts = read_facts(benchmark.folder, haystack_id)
            settings = facts.settings if facts else None
            benchmark.folder.write_json(name, topic_file(documents, queries, targets, qrels, settings=settings))
    return names


def write_audit(url: str, *, seed: int = 0) -> Mapping[str, Any]:
    """
    The audit of the benchmark at *url*, made and written where this version's is not there.

    Args:
        url: A benchmark with documents.
        seed: Of the bootstrap.
    """
    benchmark = Benchmark(url)
    made_of = {"dataset_hash": benchmark.manifest["dataset_hash"], "version": VERSION}
    if benchmark.folder.has(AUDIT):
        stands: dict[str, Any] = benchmark.folder.read_json(AUDIT)
        if made_of.items() <= stands.items():
            return stands
    parts = [
        audit_haystack(documents, targets, qrels, read_facts(benchmark.folder, haystack_id))
        for haystack_id, documents, _, targets, qrels in _haystacks(benchmark)
    ]
    audit = made_of | audit_report(parts, seed=seed)
    benchmark.folder.write_json(AUDIT, audit)
    return audit


def _haystacks(benchmark: Benchmark) -> Iterator[tuple[str, list[Document], list[Query], list[Target], list[Qrel]]]:
    for haystack_id in benchmark.haystack_ids:
        queries = [query for query in benchmark.queries.values() if query.haystack_id == haystack_id]
        ids = {query.query_id for query in queries}
        qrels = [qrel for qrel in benchmark.qrels if qrel.query_id in ids]
        targets = benchmark.haystack_targets(haystack_id)
        yield haystack_id, benchmark.documents(haystack_id), queries, targets, qrels


def _facts_name(haystack_id: str) -> str:
    return f"{FACTS}/{haystack_id}.json"
