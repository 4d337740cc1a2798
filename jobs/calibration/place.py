"""The place of summaries that people label, a benchmark that has some or a run, and how those on sheets were drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from actors.storage.benchmark import MANIFEST, Benchmark
from actors.storage.folder import Folder, file_place
from longform.errors import UsageError
from longform.records import Document
from longform.results.corrected import Sample
from longform.rows import ContextRow, LabelRow, SummaryRow

RECORD = "run.json"


class LabelledPlace:
    """
    Summaries and their labels, of a benchmark or a run, with the benchmark that they were written for.

    Raises:
        UsageError: It is neither, or the run's benchmark is gone.
    """

    def __init__(self, url: str) -> None:
        self.folder = Folder(url)
        self.is_run = not self.folder.has(MANIFEST) and self.folder.has(RECORD)
        self.benchmark = Benchmark(self._benchmark_url() if self.is_run else url)

    def _benchmark_url(self) -> str:
        record = self.folder.read_json(RECORD, needs=["benchmark"])
        try:
            return str(record["benchmark"]["url"])
        except (KeyError, TypeError) as error:
            raise UsageError(f"{self.folder.url}: expected the record of a run, found none of its benchmark") from error

    @cached_property
    def summaries(self) -> dict[str, SummaryRow]:
        """Summary id -> row, those of the benchmark first and as they stand there; the steps of methods are none."""
        rows: list[SummaryRow] = self.folder.read("summaries").to_pylist()
        shipped = self.benchmark.folder.read("summaries", columns=["summary_id"])["summary_id"].to_pylist()
        first = {summary_id: number for number, summary_id in enumerate(shipped)}
        place = {query_id: number for number, query_id in enumerate(self.benchmark.queries)}

        def order(row: SummaryRow) -> tuple[int | str, ...]:
            """Sort by what workers have no part in, as the order in which they wrote; draws depend on it."""
            own = first.get(row["summary_id"], len(first))
            return own, row["summarizer"], row["setting"], place[row["query_id"]], row["summary_id"]

        return {row["summary_id"]: row for row in sorted(rows, key=order) if row["step"] is None}

    def labels(self) -> list[LabelRow]:
        rows: list[LabelRow] = self.folder.read("labels").to_pylist()
        return rows

    def documents(self, summary: SummaryRow) -> list[Document]:
        """Return the documents of a summary: those of its prompt, as far as it held them, else of its haystack."""
        documents = self.benchmark.documents(summary["haystack_id"])
        packed = self._contexts.get(summary["context_id"] or "")
        if packed is None:
            return documents
        by_id = {document.doc_id: document for document in documents}
        in_prompt = zip(packed["doc_ids"], packed["doc_chars"], strict=True)
        return [by_id[doc_id]._replace(text=by_id[doc_id].text[:chars]) for doc_id, chars in in_prompt]

    @cached_property
    def _contexts(self) -> dict[str, ContextRow]:
        rows: list[ContextRow] = self.folder.read("contexts").to_pylist() if self.is_run else []
        return {row["context_id"]: row for row in rows}


# ---------------------------------------------------------------- samples, beside sheets and then with the labels

BESIDE_SHEETS = "sample.json"
WITH_LABELS = "label_samples.json"


def add_samples(folder: Folder, name: str, samples: Sequence[Sample]) -> None:
    """Keep samples in the file *name*, with those that are there."""
    there = samples_in(folder, name)
    if new := [sample for sample in samples if sample not in there]:
        folder.write_json(name, [*there, *new])


def samples_in(folder: Folder, name: str) -> list[Sample]:
    found: list[Sample] = folder.read_json(name) if folder.has(name) else []
    return found


def samples_beside(sheets: Iterable[str]) -> list[Sample]:
    """Return the samples that stand beside sheets; none if these were moved without them."""
    folders = {folder.url: folder for folder, _ in map(file_place, sheets)}
    return [sample for folder in folders.values() for sample in samples_in(folder, BESIDE_SHEETS)]
