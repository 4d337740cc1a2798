"""A benchmark folder, read a haystack at a time."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import count, takewhile
from typing import Any

from actors.storage.folder import Folder
from actors.storage.tables import Snapshot
from longform.errors import UsageError
from longform.records import Document, Qrel, Query, Target, gold_documents

MANIFEST = "benchmark.json"
_HAYSTACKS_HELD = 2  # neighbours in a job's order; a haystack is about 1 MB


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

    def __init__(self, url: str) -> None:
        self.folder = Folder(url)
        if not self.folder.has(MANIFEST):
            self.folder.check_reachable()  # a bucket that is not there looks empty
            msg = f"no benchmark at {url!r}: expected a folder with {MANIFEST}; make one with `longform ingest`"
            raise UsageError(msg)
        self.documents = lru_cache(maxsize=_HAYSTACKS_HELD)(self._documents)
        self._gold_numbers = lru_cache(maxsize=None)(self._read_gold_numbers)

    def __reduce__(self) -> tuple[type[Benchmark], tuple[str]]:
        return Benchmark, (self.folder.url,)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Sources, counts and the `dataset_hash`."""
        return dict(self.folder.read_json(MANIFEST))

    @cached_property
    def queries(self) -> dict[str, Query]:
        """Query id -> query, in the benchmark's order."""
        rows = self.folder.read("queries").to_pylist()
        return {row["query_id"]: Query(**row) for row in rows}

    @cached_property
    def targets(self) -> dict[str, list[Target]]:
        """Query id -> its targets, in their order."""
        found: dict[str, list[Target]] = {}
        for row in self.folder.read("targets").to_pylist():
            found.setdefault(row["query_id"], []).append(Target(**row))
        return {query_id: sorted(targets, key=lambda t: t.target_index) for query_id, targets in found.items()}

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

    def gold_numbers(self, haystack_id: str) -> dict[str, frozenset[int]] | None:
        """Target id -> numbers of the documents that state it; None if the haystack's documents are not shipped."""
        return self._gold_numbers(haystack_id)

    def haystack_targets(self, haystack_id: str) -> list[Target]:
        """Return all targets of one haystack, over its queries."""
        return self._targets_by_haystack.get(haystack_id, [])

    @cached_property
    def _targets_by_haystack(self) -> dict[str, list[Target]]:
        found: dict[str, list[Target]] = {}
        for targets in self.targets.values():
            for target in targets:
                found.setdefault(target.haystack_id, []).append(target)
        return found

    def _documents(self, haystack_id: str) -> list[Document]:
        rows = self._all_documents.read(work_ids=self._parts_of(haystack_id)).to_pylist()
        return sorted((Document(**row) for row in rows), key=lambda document: document.doc_index)

    def _read_gold_numbers(self, haystack_id: str) -> dict[str, frozenset[int]] | None:
        columns = ["doc_id", "doc_index"]
        places = self._all_documents.read(work_ids=self._parts_of(haystack_id), columns=columns).to_pylist()
        if not places:
            return None
        number = {row["doc_id"]: row["doc_index"] + 1 for row in places}
        stated = self._gold_documents
        return {
            target.target_id: frozenset(number[doc_id] for doc_id in stated.get(target.target_id, ()))
            for target in self.haystack_targets(haystack_id)
        }

    @cached_property
    def _gold_documents(self) -> dict[str, frozenset[str]]:
        return gold_documents(self.qrels)

    @cached_property
    def _all_documents(self) -> Snapshot:
        return self.folder.snapshot("documents")

    def _parts_of(self, haystack_id: str) -> list[str]:
        return list(
            takewhile(
                self._all_documents.located.__contains__, (part_work_id(haystack_id, number) for number in count())
            )
        )
