"""
Files beside a made benchmark's tables: SummHay's, the planted statements, and what the benchmark says of itself.

Reads   documents, queries, targets, qrels; haystacks/ (the planted statements), audit.json, synthesis.json if there
Writes  summhay/topic_<haystack_id>.json, where existing files are not written again; tables.json
"""

from __future__ import annotations

from actors.storage.benchmark import ACCOUNT, AUDIT, TABLES, Benchmark
from actors.storage.folder import Folder
from longform.formats.summhay_export import topic_file
from longform.synthesis.audit import HaystackFacts
from longform.synthesis.tables import benchmark_tables

FACTS = "haystacks"
_SUMMHAY = "summhay"


def write_facts(folder: Folder, facts: HaystackFacts) -> None:
    """Keep the settings of a haystack, and its planted statements."""
    folder.write_json(_facts_name(facts.haystack_id), facts.as_json())


def read_facts(folder: Folder, haystack_id: str) -> HaystackFacts | None:
    """Return the facts that the maker of a haystack wrote down; None if it wrote none."""
    name = _facts_name(haystack_id)
    return HaystackFacts.from_json(folder.read_json(name)) if folder.has(name) else None


def write_tables(folder: Folder) -> None:
    """Keep a benchmark's audit and account as tables, of whichever of the two it has."""
    audit, account = (folder.read_json(name) if folder.has(name) else None for name in (AUDIT, ACCOUNT))
    if (described := benchmark_tables(audit, account)) is not None:
        folder.write_json(TABLES, described, sealed=True)


def export_summhay(url: str) -> list[str]:
    """Return the names of the SummHay files of the benchmark at *url*, one a haystack; missing ones are written."""
    benchmark = Benchmark(url)
    names = []
    for haystack_id in benchmark.haystack_ids:
        name = f"{_SUMMHAY}/topic_{haystack_id}.json"
        names.append(name)
        if not benchmark.folder.has(name):
            facts = read_facts(benchmark.folder, haystack_id)
            settings = facts.settings if facts else None
            tables = benchmark.haystack_tables(haystack_id)
            benchmark.folder.write_json(name, topic_file(*tables, settings=settings))
    return names


def _facts_name(haystack_id: str) -> str:
    return f"{FACTS}/{haystack_id}.json"
