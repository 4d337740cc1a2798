"""
Read published or own files into a benchmark folder.

    longform ingest summhay topic_news3.json.gz topic_news5.json.gz --out BENCH
    longform ingest summhay eval_benchmark_data.json.gz --out HUMAN
    longform ingest longformfact generation/multixscience.jsonl.gz --out BENCH
    longform ingest beir scifact/ --out BENCH
    longform ingest jsonl my_corpus/ --out BENCH

Reads   SummHay's files (plain or gzipped, or a folder of topic_*.json), longformfact's (labels or inputs), a BEIR
        folder, or a folder of plain JSON Lines
Writes  documents, queries, targets, qrels, rankings, summaries, labels; benchmark.json last. Malformed input: nothing
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import logging
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pyarrow.fs as pafs

from actors.storage.folder import open_location
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.write_benchmark import HaystackRows, write_benchmark
from longform.errors import UsageError
from longform.formats.beir import read_beir
from longform.formats.fields import json_object, json_objects
from longform.formats.jsonl import read_jsonl
from longform.formats.longformfact import read_longformfact
from longform.formats.summhay import read_human_study, read_topic

_LOG = logging.getLogger(__name__)
_GZIP = b"\x1f\x8b"
_HASH_CHUNK = 1 << 20
_JSONL_FILES = ("documents", "queries", "insights", "qrels", "summaries", "labels")


class SourceFile:
    """A local or remote file, plain or gzipped."""

    def __init__(self, url: str) -> None:
        self.name = url.rstrip("/").rsplit("/", 1)[-1]
        self._filesystem, self._path = open_location(url)

    def open(self) -> BinaryIO:
        raw = io.BufferedReader(self._filesystem.open_input_file(self._path))
        packed = raw.peek(2)[:2] == _GZIP
        return gzip.open(raw) if packed else raw  # type: ignore[return-value]  # both read bytes

    def read(self) -> bytes:
        with self.open() as stream:
            return stream.read()

    def lines(self) -> Iterator[bytes]:
        with self.open() as stream:
            yield from stream

    def identity(self) -> dict[str, str]:
        """Name and hash of its content as stored, for the manifest."""
        digest = hashlib.sha256()
        with self._filesystem.open_input_stream(self._path, compression=None) as stream:
            while chunk := stream.read(_HASH_CHUNK):
                digest.update(chunk)
        return {"name": self.name, "sha256": digest.hexdigest()}


def files_under(url: str) -> dict[str, SourceFile]:
    """Path below the folder -> file, sorted; a file stands for itself. A path that is not there is a UsageError."""
    filesystem, root = open_location(url)
    info = filesystem.get_file_info(root)
    if info.type == pafs.FileType.File:
        return {info.base_name: SourceFile(url)}
    if info.type == pafs.FileType.NotFound:
        msg = f"{url}: expected a file or a folder, found nothing"
        raise UsageError(msg)
    found = filesystem.get_file_info(pafs.FileSelector(root, recursive=True))
    names = sorted(file.path[len(root) :].lstrip("/") for file in found if file.type == pafs.FileType.File)
    if twice := {name for name in names if f"{name}.gz" in names}:
        raise UsageError(f"{url}: {sorted(twice)} stand both plain and gzipped; keep one of each")
    return {name: SourceFile(f"{url.rstrip('/')}/{name}") for name in names}


def summhay_files(urls: Sequence[str]) -> list[SourceFile]:
    """The files named, and of a folder its `topic_*.json` and `topic_*.json.gz`."""
    found: list[SourceFile] = []
    for url in urls:
        files = files_under(url)
        is_folder = url.rstrip("/").rsplit("/", 1)[-1] not in files
        chosen = [f for f in files.values() if not is_folder or _is_topic(f.name)]
        if not chosen:
            msg = f"{url}: expected topic_*.json or topic_*.json.gz files, found {list(files)[:5]}"
            raise UsageError(msg)
        found.extend(chosen)
    return found


def _is_topic(name: str) -> bool:
    return name.startswith("topic_") and name.endswith((".json", ".json.gz"))


def read_summhay(files: Sequence[SourceFile]) -> Iterator[HaystackRows]:
    """The haystacks of topic files, and those of a file of human labels (a JSON list)."""
    for file in files:
        content = file.read()
        if content.lstrip()[:1] == b"[":
            yield from read_human_study(json_objects(content, file.name))
        else:
            yield read_topic(json_object(content, file.name))


def read_beir_folder(url: str, files: dict[str, SourceFile]) -> Iterator[HaystackRows]:
    by_name = {name.removesuffix(".gz"): file for name, file in files.items()}
    for required in ("corpus.jsonl", "queries.jsonl"):
        if required not in by_name:
            msg = (
                f"{url}: expected {required} (BEIR: corpus.jsonl, queries.jsonl, qrels/*.tsv), found {list(files)[:5]}"
            )
            raise UsageError(msg)
    qrels = {
        name: file.lines() for name, file in by_name.items() if name.startswith("qrels/") and name.endswith(".tsv")
    }
    if not qrels:
        msg = f"{url}: expected qrels/*.tsv, found {list(files)[:5]}"
        raise UsageError(msg)
    name = url.rstrip("/").rsplit("/", 1)[-1]
    found = read_beir(name, by_name["corpus.jsonl"].lines(), by_name["queries.jsonl"].lines(), qrels)
    if found.n_queries_dropped:
        _LOG.warning("%s: %d queries without a judgement are left out", url, found.n_queries_dropped)
    yield found.haystack


def read_jsonl_folder(url: str, files: dict[str, SourceFile]) -> Iterator[HaystackRows]:
    by_name = {name.removesuffix(".gz"): file for name, file in files.items()}
    known = {f"{stem}.jsonl" for stem in _JSONL_FILES}
    if unknown := [name for name in by_name if name.endswith(".jsonl") and name not in known]:
        msg = f"{url}: expected {sorted(known)}, found {unknown}"
        raise UsageError(msg)
    yield from read_jsonl({name: file.lines() for name, file in by_name.items() if name in known})


def longformfact_files(urls: Sequence[str]) -> list[SourceFile]:
    """The files named, and all `.jsonl` and `.jsonl.gz` of a folder."""
    found = [file for url in urls for file in files_under(url).values()]
    if wrong := [file.name for file in found if not file.name.removesuffix(".gz").endswith(".jsonl")]:
        raise UsageError(f"expected .jsonl or .jsonl.gz files, found {wrong[:5]}")
    return found


def read_longformfact_files(files: Sequence[SourceFile], *, keep_empty: bool) -> Iterator[HaystackRows]:
    for file in files:
        name = file.name.removesuffix(".gz").removesuffix(".jsonl")
        yield from read_longformfact(name, file.lines(), keep_empty=keep_empty)


def ingest(kind: str, urls: Sequence[str], out: str, *, keep_empty: bool = False) -> dict[str, object]:
    """The manifest of the benchmark made of *urls*; *keep_empty* is of longformfact alone."""
    if keep_empty and kind != "longformfact":
        raise UsageError(f"--keep-empty is for longformfact, found it with {kind}")
    if kind == "summhay":
        files = summhay_files(urls)
        haystacks = read_summhay(files)
    elif kind == "longformfact":
        files = longformfact_files(urls)
        haystacks = read_longformfact_files(files, keep_empty=keep_empty)
    else:
        if len(urls) != 1:
            msg = f"ingest {kind} takes one folder, got {len(urls)} paths"
            raise UsageError(msg)
        named = files_under(urls[0])
        files = list(named.values())
        reader = read_beir_folder if kind == "beir" else read_jsonl_folder
        haystacks = reader(urls[0], named)
    kept = {"documents": "empty ones kept"} if keep_empty else {}
    sources = [file.identity() | kept for file in files]
    return write_benchmark(out, haystacks, sources=sources, dataset=kind if kind == "summhay" else None)


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("ingest", __doc__)
    parser.add_argument("kind", choices=["summhay", "longformfact", "beir", "jsonl"])
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--out", required=True, metavar="BENCH")
    parser.add_argument("--keep-empty", action="store_true", help="longformfact: keep documents without text")

    def work(arguments: argparse.Namespace) -> Outcome:
        manifest = ingest(arguments.kind, arguments.paths, arguments.out, keep_empty=arguments.keep_empty)
        rows = manifest["rows"]
        assert isinstance(rows, dict)
        counts = ", ".join(f"{count:,} {table}" for table, count in rows.items() if count)
        words = f"{arguments.out}: {manifest['n_haystacks']} haystacks, {counts}"
        return Outcome({"benchmark": arguments.out, **manifest}, words)

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
