"""
Put answers that were written elsewhere beside a benchmark: its tables `summaries` and `contexts` grow, all else stays.

The benchmark's manifest is not changed, so that the runs on it stay runs on it; `outputs/` has a file for each file of
answers. What is written is committed in one go, after the last line of the last file was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from actors.storage.benchmark import MANIFEST, Benchmark
from actors.storage.folder import Folder
from actors.storage.tables import Part
from jobs.files.write_benchmark import TABLES
from longform.errors import UsageError
from longform.formats.document_names import DocumentNames
from longform.formats.files import SourceFile
from longform.formats.output_citations import MarksRead, Numbering, accounts_told
from longform.formats.outputs import HaystackOf, Identity, OutputsReader, Problem, ReadAnswer, identity, told_in_words
from longform.formats.rows import ShippedRow
from longform.keys import content_key, in_groups

OUTPUTS = "outputs"
"""The folder of a benchmark with a file for each file of answers."""

ALL_TABLES = (*TABLES, "contexts")
"""Tables of a benchmark, those that grow by answers included."""

BARE = ("documents", "queries", "targets", "qrels")
"""Tables that answers are judged by."""

_IDENTITY = ["summary_id", "query_id", "summarizer", "setting", "order", "elapsed_minutes", "repeat"]


class Added(NamedTuple):
    """Answers that stand beside a benchmark."""

    benchmark: str  # URL of the benchmark that has them
    n_answers: int  # new answers
    n_known: int  # answers that the benchmark had before
    n_empty: int  # new answers without words
    systems: Mapping[str, int]  # name -> number of its answers in these files
    problems: Sequence[Problem]  # warnings, by file and line
    marks: Sequence[MarksRead]  # each system's citations

    def document(self) -> dict[str, Any]:
        """Return the same as JSON has it."""
        return {
            **self._asdict(),
            "problems": [problem._asdict() for problem in self.problems],
            "marks": [one.document() for one in self.marks],
        }

    def words(self) -> str:
        """Return the same for people, without the problems."""
        by_system = ", ".join(f"{system} {n:,}" for system, n in self.systems.items())
        known = f", {self.n_known:,} were there already" if self.n_known else ""
        empty = f", {self.n_empty:,} of them empty" if self.n_empty else ""
        added = f"{self.benchmark}: {self.n_answers:,} answers added{empty}{known} ({by_system or 'no system'})"
        return "\n".join([added, *accounts_told(self.marks)])


def _haystack_of(benchmark: Benchmark) -> HaystackOf:
    @cache
    def names(haystack_id: str) -> DocumentNames:
        rows = benchmark.rows("documents", haystack_id, ["doc_id", "doc_index", "title"]).to_pylist()
        titles = {row["doc_id"]: row["title"] for row in rows if row["title"]}
        return DocumentNames({row["doc_id"]: row["doc_index"] + 1 for row in rows}, titles)

    def haystack(query_id: str) -> tuple[str, DocumentNames] | None:
        query = benchmark.queries.get(query_id)
        return None if query is None else (query.haystack_id, names(query.haystack_id))

    return haystack


def add_outputs(
    bench_url: str,
    files: Sequence[SourceFile],
    *,
    out: str | None = None,
    numbering: Numbering | None = None,
    tables: Collection[str] = ALL_TABLES,
) -> Added:
    """
    Read answers to the queries of a benchmark, and put them beside it.

    Answers in the *files* of JSON Lines that stand there already are left as they are. *out* is a copy of the
    benchmark, of these *tables*, that takes the answers; None: the benchmark itself does. *numbering* is for lines that
    name none.

    Raises:
        UsageError: A file has an error, each of which the message names by line; nothing was written. Or another
            benchmark stands at *out*.
    """
    source = Benchmark(bench_url)
    target = _target(source, out)
    known = target or (source if out is None or "summaries" in tables else None)
    reader = OutputsReader(_haystack_of(source), numbering, _there(known))
    for file in files:
        reader.read(file.lines(), file.path)
    answers = list(reader.answers())
    if errors := [problem for problem in reader.problems if problem.kind == "error"]:
        lines = "\n".join(told_in_words(reader.problems))
        told = f"{len(errors):,} error{'s' if len(errors) > 1 else ''} in the answers"
        raise UsageError(f"{told}; nothing was written\n{lines}")
    if not answers and not reader.n_known:
        raise UsageError(f"{', '.join(file.path for file in files)}: expected at least one answer, found none")
    if out is not None and target is None:
        copy_benchmark(source.folder, Folder(out), tables)
    folder = source.folder if out is None else Folder(out)
    if answers:
        _write(folder, answers)
    account = accounts_told([*reader.marks.values()])
    systems = Counter(answer.summary["summarizer"] for answer in answers)
    for file in files:
        own = [problem._asdict() for problem in reader.problems if problem.file == file.path]
        aside = {one.summary["summary_id"]: one.aside for one in answers if one.aside and one.file == file.path}
        note = {**file.identity(), "numbering": numbering, "problems": own, "set_aside": aside, "marks": account}
        name = f"{OUTPUTS}/{content_key(note['sha256'], numbering)}.json"
        if not folder.has(name):
            folder.write_json(name, note)
    n_empty = sum(answer.summary["text"] is not None and not answer.summary["text"].strip() for answer in answers)
    return Added(
        folder.url, len(answers), reader.n_known, n_empty, dict(systems), reader.problems, [*reader.marks.values()]
    )


def marks_told(folder: Folder) -> list[str]:
    """Return the account of the marks in all answers that were put beside a benchmark, in sentences."""
    notes = [folder.read_json(f"{OUTPUTS}/{name}") for name in folder.names(OUTPUTS)]
    return [*dict.fromkeys(line for note in notes for line in note.get("marks", ()))]


def _target(source: Benchmark, out: str | None) -> Benchmark | None:
    """Return the copy that stands at *out*; None if none does, or none is wanted."""
    if out is None or not Folder(out).has(MANIFEST):
        return None
    found = Benchmark(out)
    if found.manifest["dataset_hash"] != source.manifest["dataset_hash"]:
        raise UsageError(
            f"{out}: a benchmark of other documents or queries than {source.folder.url} stands here; name another --out"
        )
    return found


def _there(benchmark: Benchmark | None) -> dict[Identity, str]:
    """Return the summary id of each text that a benchmark ships."""
    batches = benchmark.folder.batches("summaries", columns=_IDENTITY) if benchmark is not None else ()
    return {identity(row): row["summary_id"] for batch in batches for row in batch.to_pylist()}


def _write(folder: Folder, answers: Sequence[ReadAnswer]) -> None:
    """Commit the documents that writers saw, then the texts: a text that counts has what it points to."""
    contexts = {one.context["context_id"]: one.context for one in answers if one.context is not None}
    held = {row["context_id"] for row in folder.read("contexts", columns=["context_id"]).to_pylist()}
    new = [row for key, row in contexts.items() if key not in held]
    if new:
        folder.commit("contexts", [_part(folder, "contexts", new, "context_id")])
    by_haystack = in_groups((answer.summary["haystack_id"], answer.summary) for answer in answers)
    folder.commit("summaries", [_part(folder, "summaries", rows, "summary_id") for rows in by_haystack.values()])


def _part(folder: Folder, table: str, rows: Sequence[ShippedRow], key: str) -> Part:
    work_id = content_key("outputs", [row[key] for row in rows])
    return folder.write_part(table, [{**row, "work_id": work_id} for row in rows], work_ids=[work_id])


def copy_benchmark(source: Folder, target: Folder, tables: Collection[str] = ALL_TABLES) -> None:
    """Copy a benchmark, or some of its tables; parts go first and the manifest last, so that half a copy is none."""
    for table in tables:
        names = sorted(source.sizes(table), key=lambda name: name.startswith("_"))
        for name in names:
            target.write_bytes(f"{table}/{name}", source.read_bytes(f"{table}/{name}"))
    for name in source.names():
        if name != MANIFEST:
            target.write_bytes(name, source.read_bytes(name))
    manifest = source.read_json(MANIFEST)
    counts = {table: n if table in tables else 0 for table, n in manifest["rows"].items()}
    target.write_json(MANIFEST, manifest | {"rows": counts}, sealed=True)
