"""
Write a benchmark folder: its tables a haystack at a time, one commit a table at the end, the manifest last.

A folder without its manifest is no benchmark, so a writer that stops half-way leaves nothing a reader would take; on
malformed input the written tables are removed again.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypedDict

from actors.storage.benchmark import MANIFEST, part_work_id
from actors.storage.folder import Folder
from actors.storage.tables import Part
from longform.errors import UsageError
from longform.formats.rows import HaystackRows

RowContent = dict[str, object]
"""A row as a dict, as `Folder.write_part` takes it."""


class Manifest(TypedDict):
    """The content of `benchmark.json`."""

    n_haystacks: int
    rows: dict[str, int]
    dataset_hash: str
    sources: list[dict[str, str]]


TABLES = HaystackRows._fields[1:]
_DOCUMENTS_A_PART = 2000  # about 12 MB of text; other tables have a part a haystack, so that no group is split


def write_benchmark(
    out_url: str,
    haystacks: Iterable[HaystackRows],
    *,
    sources: Sequence[dict[str, str]],
    dataset: str | None = None,
) -> Manifest:
    """
    Return the manifest of the benchmark now at *out_url*: sources, rows of each table, and the dataset's hash.

    Haystacks are consumed one at a time. The benchmark is made from *sources*, {"name", "sha256"} each; the same
    sources again are not written again. *dataset* names the data set of queries that state none; the hash does not
    depend on it.

    Raises:
        UsageError: Another benchmark stands there.
    """
    folder = Folder(out_url)
    if folder.has(MANIFEST):
        return same_or_refuse(folder, sources)
    try:
        manifest = _write_tables(folder, haystacks, dataset, sources)
        folder.write_json(MANIFEST, manifest, sealed=True)
    except BaseException:
        for table in TABLES:
            folder.delete_table(table)
        folder.delete_if_empty()
        raise
    return manifest


def same_or_refuse(folder: Folder, sources: Sequence[dict[str, str]]) -> Manifest:
    """Return the manifest of the benchmark in *folder*; one that is made from other sources is a UsageError."""
    manifest: Manifest = folder.read_json(MANIFEST)
    if manifest["sources"] != list(sources):
        names = [source["name"] for source in manifest["sources"]]
        same = names == [source["name"] for source in sources]
        why = " with other contents or settings, or by another version," if same else ""
        raise UsageError(
            f"{folder.url}: a benchmark made from {names}{why} stands here; name another folder, or delete this one"
        )
    return manifest


def _write_tables(
    folder: Folder, haystacks: Iterable[HaystackRows], dataset: str | None, sources: Sequence[dict[str, str]]
) -> Manifest:
    for table in TABLES:
        if folder.parts(table):  # of a writer that died between its commits and its manifest
            folder.delete_table(table)
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    seen: set[str] = set()
    parts: dict[str, list[Part]] = {table: [] for table in TABLES}
    for haystack in haystacks:
        if haystack.haystack_id in seen:
            raise UsageError(f"two inputs are haystack {haystack.haystack_id!r}; give each haystack once")
        seen.add(haystack.haystack_id)
        for table in TABLES:
            rows = (dict(row) if isinstance(row, Mapping) else row._asdict() for row in getattr(haystack, table))
            for number, chunk in enumerate(_chunks(rows, _DOCUMENTS_A_PART if table == "documents" else None)):
                digest.update(json.dumps([table, chunk], sort_keys=True, allow_nan=False).encode())
                work_ids = [part_work_id(haystack.haystack_id, number)]
                named = [row | {"dataset": row["dataset"] or dataset} for row in chunk] if table == "queries" else chunk
                parts[table].append(folder.write_part(table, named, work_ids=work_ids))
                counts[table] += len(chunk)
    for table in TABLES:
        if parts[table]:
            folder.commit(table, parts[table])
    return {
        "n_haystacks": len(seen),
        "rows": {table: counts[table] for table in TABLES},
        "dataset_hash": digest.hexdigest()[:20],
        "sources": list(sources),
    }


def _chunks(rows: Iterable[RowContent], size: int | None) -> Iterator[list[RowContent]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk
