"""A benchmark folder, read a haystack at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import count, takewhile
from os import PathLike
from statistics import fmean
from sys import intern
from typing import Any

import pyarrow as pa

from actors.storage.folder import Folder
from actors.storage.tables import Snapshot
from longform.errors import UsageError
from longform.keys import in_groups
from longform.records import Document, Qrel, Query, Target, gold_documents

MANIFEST = "benchmark.json"
AUDIT, ACCOUNT, TABLES = "audit.json", "synthesis.json", "tables.json"
"""Files beside a made benchmark: its audit, what chat models were asked for, and both as tables; any may lack."""
_HAYSTACKS_HELD = 2  # neighbours in a job's order; a haystack is about 1 MB
_TARGETS_HELD = 32  # haystacks whose targets and gold are held
_REPEATED = ("haystack_id", "domain", "topic", "subtopic_name", "dataset")  # texts that many queries share


def part_work_id(haystack_id: str, number: int) -> str:
    """Return the work id of a haystack's part *number*, from 0, of any table; nothing reads the haystack out of it."""
    return f"{haystack_id}#{number}"


class Benchmark:
    """
    Documents, queries, targets and qrels under a URL. One process reads each haystack's documents once and holds two.

    Raises:
        UsageError: No benchmark stands at the URL.
        StorageError: The URL cannot be reached.
    """

    def __init__(self, url: str | PathLike[str]) -> None:
        self.folder = Folder(url)
        if not self.folder.has(MANIFEST):
            self.folder.check_reachable()  # a bucket that is not there looks empty
            found = f"no benchmark at {self.folder.url!r}"
            raise UsageError(f"{found}: expected a folder with {MANIFEST}; make one with `longform ingest`")
        self.documents = lru_cache(maxsize=_HAYSTACKS_HELD)(self._documents)
        self.gold_numbers = lru_cache(maxsize=_TARGETS_HELD)(self._gold_numbers)
        self.targets_by_query = lru_cache(maxsize=_TARGETS_HELD)(self._targets_by_query)
        self._snapshots: dict[str, Snapshot] = {}

    def __reduce__(self) -> tuple[type[Benchmark], tuple[str]]:
        return Benchmark, (self.folder.url,)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Sources, counts and the `dataset_hash`."""
        return dict(self.folder.read_json(MANIFEST, needs=["dataset_hash"]))

    @cached_property
    def queries(self) -> dict[str, Query]:
        """Query id -> query, in the benchmark's order."""
        batches = self._snapshot("queries").batches()
        return {row["query_id"]: Query(**_interned(row)) for batch in batches for row in batch.to_pylist()}

    @cached_property
    def targets(self) -> Mapping[str, list[Target]]:
        """Query id -> its targets, in their order; those of a haystack are read when one of them is asked for."""
        return _Targets(self)

    def rows(self, table: str, haystack_id: str, columns: list[str] | None = None) -> pa.Table:
        """Return the rows of a haystack of a table that a benchmark is written with."""
        return self._snapshot(table).read(work_ids=self._parts_of(table, haystack_id), columns=columns)

    def target(self, target_id: str) -> Target:
        return self._target_by_id[target_id]

    @cached_property
    def _target_by_id(self) -> dict[str, Target]:
        return {target.target_id: target for targets in self.targets.values() for target in targets}

    @cached_property
    def haystack_ids(self) -> list[str]:
        """In the order of their first query."""
        return list(dict.fromkeys(query.haystack_id for query in self.queries.values()))

    @cached_property
    def qrels(self) -> list[Qrel]:
        return [Qrel(**row) for row in self.folder.read("qrels").to_pylist()]

    def haystack_targets(self, haystack_id: str) -> list[Target]:
        """Return all targets of one haystack, over its queries."""
        return [target for targets in self.targets_by_query(haystack_id).values() for target in targets]

    def haystack_tables(self, haystack_id: str) -> tuple[list[Document], list[Query], list[Target], list[Qrel]]:
        """Return the documents, queries, targets and qrels of one haystack."""
        queries = [query for query in self.queries.values() if query.haystack_id == haystack_id]
        ids = {query.query_id for query in queries}
        qrels = [qrel for qrel in self.qrels if qrel.query_id in ids]
        return self.documents(haystack_id), queries, self.haystack_targets(haystack_id), qrels

    def released_scores(self, haystack_id: str) -> dict[tuple[str, str], dict[str, float]]:
        """Return what a release scored of a haystack: (query id, text) -> the mean of each measure over that text."""
        summaries = self.rows("summaries", haystack_id, ["summary_id", "query_id", "text"]).to_pylist()
        text_of = {row["summary_id"]: (row["query_id"], row["text"]) for row in summaries}
        found: dict[tuple[str, str], dict[str, list[float]]] = {}
        for row in self.rows("released_scores", haystack_id).to_pylist():
            found.setdefault(text_of[row["summary_id"]], {}).setdefault(row["measure"], []).append(row["value"])
        return {text: {name: fmean(values) for name, values in scores.items()} for text, scores in found.items()}

    def _targets_by_query(self, haystack_id: str) -> dict[str, list[Target]]:
        rows = self.rows("targets", haystack_id).to_pylist()
        found = in_groups((row["query_id"], Target(**row)) for row in rows)
        return {query_id: sorted(targets, key=lambda t: t.target_index) for query_id, targets in found.items()}

    def _documents(self, haystack_id: str) -> list[Document]:
        rows = self.rows("documents", haystack_id).to_pylist()
        return sorted((Document(**row) for row in rows), key=lambda document: document.doc_index)

    def _gold_numbers(self, haystack_id: str) -> dict[str, frozenset[int]] | None:
        """Target id -> numbers of the documents that state it; None if the haystack's documents are not shipped."""
        places = self.rows("documents", haystack_id, ["doc_id", "doc_index"]).to_pylist()
        if not places:
            return None
        number = {row["doc_id"]: row["doc_index"] + 1 for row in places}
        stated = gold_documents(Qrel(**row) for row in self.rows("qrels", haystack_id).to_pylist())
        return {
            target.target_id: frozenset(number[doc_id] for doc_id in stated.get(target.target_id, ()))
            for target in self.haystack_targets(haystack_id)
        }

    def _snapshot(self, table: str) -> Snapshot:
        """Return a table of a benchmark, which never changes."""
        if table not in self._snapshots:
            self._snapshots[table] = self.folder.snapshot(table)
        return self._snapshots[table]

    def _parts_of(self, table: str, haystack_id: str) -> list[str]:
        located = self._snapshot(table).located
        return list(takewhile(located.__contains__, (part_work_id(haystack_id, number) for number in count())))


class _Targets(Mapping[str, list[Target]]):
    """Query id -> its targets, of the queries that have any."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark

    def __getitem__(self, query_id: str) -> list[Target]:
        haystack_id = self._benchmark.queries[query_id].haystack_id
        return self._benchmark.targets_by_query(haystack_id)[query_id]

    def __iter__(self) -> Iterator[str]:
        for haystack_id in self._benchmark.haystack_ids:
            yield from self._benchmark.targets_by_query(haystack_id)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _interned(row: dict[str, Any]) -> dict[str, Any]:
    """Return *row* with one text in memory for all that are equal."""
    return row | {name: intern(row[name]) for name in _REPEATED if row[name] is not None}
