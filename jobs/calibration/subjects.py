"""The things that people label: summaries of a benchmark or a run, queries by a rubric, or the targets of queries."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from actors.storage.benchmark import ACCOUNT
from actors.storage.folder import Folder, file_place
from jobs.calibration.place import LabelledPlace
from longform.axes import axes_of
from longform.errors import UsageError
from longform.judges.kind import Kind, SheetKind
from longform.judges.rubrics import Rubric, TargetCheck
from longform.judges.sheets import Filled, SheetPair, read_sheet
from longform.keys import content_key, in_groups
from longform.records import Document
from longform.rows import LabelRow, SummaryRow
from longform.settings.systems import SystemName, named_system
from longform.text.citations import bullets
from longform.text.sentences import release_sentences


class SheetDocuments(NamedTuple):
    """A file of documents beside the sheets."""

    name: str
    documents: Sequence[Document]

    @property
    def content(self) -> bytes:
        texts = [
            f"[{document.number}] {document.title or ''}".rstrip() + f"\n\n{document.text}\n"
            for document in self.documents
        ]
        return "\n\n".join(texts).encode()


def _documents_file(documents: Sequence[Document]) -> SheetDocuments:
    """Name the file of documents; equal documents are one file."""
    return SheetDocuments(f"documents/{content_key([document.text for document in documents])}.txt", documents)


class Subjects(ABC):
    """The things in a benchmark or run that people label, by id."""

    unit: ClassVar[str]
    """The option of `annotate` that counts them."""

    def __init__(self, place: LabelledPlace, kind: SheetKind) -> None:
        self.place, self.kind = place, kind

    @abstractmethod
    def strata(self) -> dict[str, list[str]]:
        """Return the ids of what may have something to label, in groups that are sampled apart."""

    @abstractmethod
    def pairs(self, subject: str) -> Iterator[SheetPair]:
        """Give what people label of a subject; nothing if it failed."""

    @abstractmethod
    def documents(self, subject: str) -> SheetDocuments | None:
        """Return the documents that they read beside the sheet; None: none."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """Say what has something to label."""

    def all_pairs(self, subjects: Iterable[str] | None = None) -> Iterator[SheetPair]:
        """Give the pairs of *subjects*; None: of all."""
        named = subjects if subjects is not None else (one for group in self.strata().values() for one in group)
        return (pair for one in named for pair in self.pairs(one))

    @cached_property
    def there(self) -> Mapping[str, Sequence[str]]:
        """Return the ids of what has something to label, in the groups of `strata`."""
        return {name: [one for one in ids if any(True for _ in self.pairs(one))] for name, ids in self.strata().items()}

    def chosen(self, n: int | None, seed: int) -> list[str]:
        """
        Choose what to label: *n* of each group at random, or all that have something to label.

        Raises:
            UsageError: There are none, or fewer.
        """
        found: list[str] = []
        for name, there in self.there.items():
            if n is not None and there and not 0 < n <= len(there):
                of_group = f" of {name}" if name else ""
                raise UsageError(f"--{self.unit}: expected a number from 1 to {len(there)}{of_group}, found {n}")
            picked = (
                range(len(there)) if n is None else random.Random(seed).sample(range(len(there)), min(n, len(there)))
            )
            found += [there[number] for number in sorted(picked)]
        if not found:
            raise UsageError(f"{self.place.folder.url}: expected {self.expected}, found none")
        return found


class SummarySubjects(Subjects):
    """
    Summaries, by targets of their query or sentence by sentence.

    Summaries of each of *systems* are sampled apart; if none is named, all summaries are one group.
    """

    unit = "summaries"

    def __init__(self, place: LabelledPlace, kind: SheetKind, systems: Sequence[str] = ()) -> None:
        super().__init__(place, kind)
        self.systems = systems

    def strata(self) -> dict[str, list[str]]:
        if not self.systems:
            return {"": list(self.place.summaries)}
        found = in_groups((_system_of(row), summary_id) for summary_id, row in self.place.summaries.items())
        named = [named_system(name, found, asked="--system") for name in self.systems]
        return {str(name): found[name] for name in named}

    @property
    def expected(self) -> str:
        has = "text" if self.kind.of_documents else f"text and a {self.kind.targets} of their query"
        return f"summaries with {has} to label for {self.kind.task}"

    def pairs(self, subject: str) -> Iterator[SheetPair]:
        summary = self.place.summaries[subject]
        assert isinstance(self.kind, Kind)
        if summary["text"] is not None:
            of_kind = _sentences if self.kind.of_documents else _targets
            yield from of_kind(self.place, self.kind, summary, summary["text"])

    def documents(self, subject: str) -> SheetDocuments | None:
        if not self.kind.of_documents:
            return None
        return _documents_file(self.place.documents(self.place.summaries[subject]))


def _system_of(row: SummaryRow) -> SystemName:
    """Return the name that reports give the system of a summary; `longform.evidence.summaries` makes the same."""
    setting = row["setting"] if row["retriever"] is not None else axes_of(row).words(with_budget=False)
    return SystemName(row["summarizer"], setting)


def _targets(place: LabelledPlace, kind: Kind, summary: SummaryRow, text: str) -> Iterator[SheetPair]:
    lines = [bullet.text for bullet in bullets(text)]
    shown = [f"{number}. {line}" for number, line in enumerate(lines, start=1)] if kind.links else lines
    query = place.benchmark.queries[summary["query_id"]]
    for target in place.benchmark.targets.get(summary["query_id"], []):
        if target.kind == kind.targets:
            of_text, of_item = kind.fields
            columns = {"query": query.text, of_text: "\n".join(shown), of_item: target.text}
            yield SheetPair(summary["summary_id"], target.kind, target.target_id, None, len(lines), columns)


def _sentences(place: LabelledPlace, kind: Kind, summary: SummaryRow, text: str) -> Iterator[SheetPair]:
    file = _documents_file(place.documents(summary)).name
    for place_of, sentence in enumerate(release_sentences(text)):
        columns = {"documents": file, kind.fields[1]: sentence}
        yield SheetPair(summary["summary_id"], kind.targets, summary["haystack_id"], place_of, 0, columns)


class QuerySubjects(Subjects):
    """Queries with their first reference summary and gold documents, by the criteria of a rubric."""

    unit = "queries"

    def strata(self) -> dict[str, list[str]]:
        return in_groups((one.dataset or "", one.query_id) for one in self.place.benchmark.queries.values())

    @property
    def expected(self) -> str:
        return f"queries with a reference and gold documents to rate for {self.kind.task}"

    def pairs(self, subject: str) -> Iterator[SheetPair]:
        assert isinstance(self.kind, Rubric)
        benchmark = self.place.benchmark
        references = [target.text for target in benchmark.targets.get(subject, []) if target.kind == "reference"]
        found = self.documents(subject)
        if references and found is not None:
            shown = {
                "documents": found.name,
                "query": benchmark.queries[subject].text,
                "summary": references[0],
            }
            for one in self.kind.criteria:
                columns = {**shown, "criterion": f"{one.name}: {one.question}"}
                yield SheetPair(subject, self.kind.targets, one.name, None, 0, columns)

    def documents(self, subject: str) -> SheetDocuments | None:
        if (gold := self._gold.get(subject)) is None:
            return None
        haystack = self.place.benchmark.documents(self.place.benchmark.queries[subject].haystack_id)
        return _documents_file([document for document in haystack if document.doc_id in gold])

    @cached_property
    def _gold(self) -> dict[str, list[str]]:
        return in_groups((one.query_id, one.doc_id) for one in self.place.benchmark.qrels if one.relevance > 0)


def known_targets(folder: Folder) -> dict[str, Mapping[str, Any]]:
    """Return what the account of a synthesis says of each target, `score` and `spans`; nothing if there is none."""
    if not folder.has(ACCOUNT):
        return {}
    points = (point for one in folder.read_json(ACCOUNT)["haystacks"] for point in one.get("points", ()))
    return {point["target_id"]: point for point in points}


class TargetSubjects(QuerySubjects):
    """Queries, a row for each of their targets, with the passages that are said to ground it."""

    @property
    def expected(self) -> str:
        return f"queries with a key point and gold documents to check for {self.kind.task}"

    def pairs(self, subject: str) -> Iterator[SheetPair]:
        assert isinstance(self.kind, TargetCheck)
        benchmark = self.place.benchmark
        if (file := self.documents(subject)) is None:
            return
        for target in benchmark.targets.get(subject, []):
            if target.kind == self.kind.checks:
                spans = self._known.get(target.target_id, {}).get("spans", ())
                shown = {
                    "documents": file.name,
                    "query": benchmark.queries[subject].text,
                    target.kind: target.text,
                    "passages": "\n".join(f"[{span['doc_id']}] {span['text']}" for span in spans),
                }
                yield SheetPair(subject, self.kind.targets, target.target_id, None, 0, shown)

    @cached_property
    def _known(self) -> Mapping[str, Mapping[str, Any]]:
        return known_targets(self.place.benchmark.folder)


# ---------------------------------------------------------------- filled sheets


def read_sheets(subjects: Subjects, urls: Sequence[str]) -> list[Filled]:
    """
    Read filled sheets.

    Raises:
        UsageError: A file cannot be read, a cell is not what it may be, or two sheets label a pair for one annotator.
    """
    pairs = {pair.key: pair for pair in subjects.all_pairs()}
    found: dict[tuple[str, str], tuple[str, Filled]] = {}
    for url in dict.fromkeys(urls):
        for one in read_sheet(subjects.kind, _content(url), url, pairs):
            first, _ = found.setdefault((one.annotator, one.pair.key), (url, one))
            if first != url:
                raise UsageError(f"{url}: pair {one.pair.key} of annotator {one.annotator!r} is in {first}, too")
    return [one for _, one in found.values()]


def _content(url: str) -> bytes:
    folder, name = file_place(url)
    try:
        return folder.read_bytes(name)
    except OSError as error:
        raise UsageError(f"{url}: expected a filled sheet: {error}") from error


def label_row(one: Filled) -> LabelRow:
    return {
        "annotator": one.annotator,
        "summary_id": one.pair.summary_id,
        "unit_index": one.pair.unit_index,
        "target_kind": one.pair.target_kind,
        "target_id": one.pair.target_id,
        "mode": "full",
        "doc_position": None,
        "chunk_index": None,
        "repeat": 0,
        "answer": one.answer,
        "probability": None,
        "linked_unit": one.linked_unit,
        "failure": None,
        "reply": one.note,
        "prompt_version": None,
        "call_id": None,
        "text_index": None,
    }


def label_key(row: LabelRow) -> str:
    return SheetPair(row["summary_id"], row["target_kind"], row["target_id"], row["unit_index"], 0, {}).key
