"""Sheets for the summaries of a benchmark or a run, or for queries, and the labels that come back."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil
from typing import ClassVar, Literal, NamedTuple

from actors.storage.folder import Folder, file_place
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import LabelledPlace
from jobs.calibration.sheet_page import sheet_page
from longform.axes import axes_of
from longform.errors import UsageError
from longform.judges.kind import Kind, SheetKind
from longform.judges.rubrics import Rubric
from longform.judges.sheets import Filled, SheetPair, guide, read_sheet, sheet
from longform.keys import content_key, in_groups
from longform.records import Document
from longform.rows import LabelRow, SummaryRow
from longform.settings.system_names import SystemName, named_system
from longform.text.citations import bullets
from longform.text.punkt import release_sentences

_NO_FILE_NAME = frozenset('/\\:*?"<>|')
GUIDE = "guide.md"
SheetForm = Literal["csv", "html"]


class SheetDocuments(NamedTuple):
    """A file of documents beside the sheets."""

    name: str
    documents: Sequence[Document]

    @property
    def content(self) -> bytes:
        """Return the documents with their numbers and titles."""
        texts = [
            f"[{document.number}] {document.title or ''}".rstrip() + f"\n\n{document.text}\n"
            for document in self.documents
        ]
        return "\n\n".join(texts).encode()


def _documents_file(documents: Sequence[Document]) -> SheetDocuments:
    """Name the file of documents; equal documents are one file."""
    return SheetDocuments(f"documents/{content_key([document.text for document in documents])}.txt", documents)


class Subjects(ABC):
    """
    The things that people label, by id.

    Args:
        place: Of the benchmark or run.
        kind: Of the labels.
    """

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

    Args:
        place: Of the benchmark or run.
        kind: Of the labels.
        systems: Names of the systems that are sampled apart; none: all summaries are one group.
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
        has = "text" if self.kind.targets == "document" else f"text and a {self.kind.targets} of their query"
        return f"summaries with {has} to label for {self.kind.task}"

    def pairs(self, subject: str) -> Iterator[SheetPair]:
        summary = self.place.summaries[subject]
        assert isinstance(self.kind, Kind)
        if summary["text"] is not None:
            of_kind = _sentences if self.kind.targets == "document" else _targets
            yield from of_kind(self.place, self.kind, summary, summary["text"])

    def documents(self, subject: str) -> SheetDocuments | None:
        if self.kind.targets != "document":
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
        gold = self._gold.get(subject, frozenset())
        haystack = self.place.benchmark.documents(self.place.benchmark.queries[subject].haystack_id) if gold else []
        return _documents_file([document for document in haystack if document.doc_id in gold]) if gold else None

    @cached_property
    def _gold(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for qrel in self.place.benchmark.qrels:
            if qrel.relevance > 0:
                found.setdefault(qrel.query_id, set()).add(qrel.doc_id)
        return {query_id: frozenset(doc_ids) for query_id, doc_ids in found.items()}


def dealt(chosen: Sequence[str], annotators: Sequence[str], overlap: float, seed: int) -> dict[str, list[str]]:
    """
    Deal subjects out: a share of *overlap* of them, drawn at random, to all annotators, and the others in turn.

    Returns:
        Annotator -> subjects, in their order.
    """
    mixed = random.Random(seed).sample(range(len(chosen)), len(chosen))
    n_shared = ceil(round(overlap * len(chosen), 6))
    shared, rest = mixed[:n_shared], mixed[n_shared:]
    places = {name: sorted([*shared, *rest[turn :: len(annotators)]]) for turn, name in enumerate(annotators)}
    return {name: [chosen[place] for place in own] for name, own in places.items()}


def write_sheets(
    subjects: Subjects, chosen: Mapping[str, Sequence[str]], out: str, *, form: SheetForm = "csv"
) -> list[str]:
    """
    Write a sheet for each annotator, the guide, and the documents that annotators read.

    Args:
        subjects: Of the labels.
        chosen: Annotator -> what the sheet is about.
        out: The folder.
        form: CSV, or a page that holds the documents and gives the CSV.

    Returns:
        The files of the sheets.

    Raises:
        UsageError: A name is no annotator's, or a sheet is there already, which may be filled.
    """
    folder, kind = Folder(out), subjects.kind
    names = {annotator: f"{_checked_name(annotator)}.{form}" for annotator in chosen}
    taken = [*names.values(), *(f"{annotator}.csv" for annotator in chosen)]
    if there := [name for name in taken if folder.has(name)]:
        raise UsageError(f"{out}: expected no sheet {there[0]!r}, found one, which may be filled; name another folder")
    folder.write_bytes(GUIDE, guide(kind).encode())
    everyone = dict.fromkeys(one for own in chosen.values() for one in own)
    files = {found.name: found for one in everyone if (found := subjects.documents(one)) is not None}
    for file in files.values() if form == "csv" else ():
        folder.write_bytes(file.name, file.content)
    for annotator, name in names.items():
        pairs = list(subjects.all_pairs(chosen[annotator]))
        folder.write_bytes(
            name, sheet(kind, pairs, annotator) if form == "csv" else _page(kind, pairs, annotator, files)
        )
    return [f"{out.rstrip('/')}/{name}" for name in names.values()]


def _page(kind: SheetKind, pairs: Sequence[SheetPair], annotator: str, files: Mapping[str, SheetDocuments]) -> bytes:
    """Return the page of an annotator's sheet, with the documents that its rows name."""
    named = dict.fromkeys(text for pair in pairs for text in pair.shown.values() if text in files)
    documents = {name: files[name].content.decode() for name in named}
    return sheet_page(kind, pairs, annotator, file=f"{annotator}.csv", documents=documents)


def _checked_name(annotator: str) -> str:
    if not annotator.strip() or annotator.startswith(RELEASED) or _NO_FILE_NAME & set(annotator):
        raise UsageError(f"--annotator: expected a name that a file can have, found {annotator!r}")
    return annotator


# ---------------------------------------------------------------- back in


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


def keep_labels(place: LabelledPlace, kind: SheetKind, filled: Iterable[Filled]) -> None:
    """
    Write the labels of sheets into the table `labels`; a pair that was labelled before gets its new label, or none.

    Raises:
        UsageError: An annotator's labels came with the benchmark, or the annotator is a model.
    """
    by_annotator = in_groups((one.annotator, one) for one in filled)
    work_ids = {annotator: _work_id(kind, annotator) for annotator in by_annotator}
    before = {annotator: _rows_of(place, work_id) for annotator, work_id in work_ids.items()}
    for annotator in by_annotator:
        _check_own(place, kind, annotator, len(before[annotator]))
    for annotator, rows in by_annotator.items():
        new = {one.pair.key for one in rows}
        kept = [row for row in before[annotator] if label_key(row) not in new]
        labels = [*kept, *(label_row(one) for one in rows if one.answer is not None)]
        work_id = work_ids[annotator]
        place.folder.forget("labels", [work_id])
        place.folder.commit("labels", [place.folder.write_part("labels", labels, work_ids=[work_id])])


def _work_id(kind: SheetKind, annotator: str) -> str:
    return content_key("sheet", kind.task, annotator)


def _rows_of(place: LabelledPlace, work_id: str) -> list[LabelRow]:
    rows: list[LabelRow] = place.folder.read("labels", work_ids=[work_id]).to_pylist()
    return rows


def _check_own(place: LabelledPlace, kind: SheetKind, annotator: str, n_of_sheets: int) -> None:
    _checked_name(annotator)
    there = [row for row in labels_of(place, kind) if row["annotator"] == annotator]
    if len(there) > n_of_sheets:
        raise UsageError(f"annotator {annotator!r} has labels that are of no sheet: expected a name of your own")


def label_row(one: Filled) -> LabelRow:
    """Return the label of a row of a sheet."""
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
    """Return the key of the pair that a label is of."""
    return SheetPair(row["summary_id"], row["target_kind"], row["target_id"], row["unit_index"], 0, {}).key


def labels_of(place: LabelledPlace, kind: SheetKind) -> list[LabelRow]:
    """Return all labels of a kind that have an answer."""
    return [row for row in place.labels() if row["target_kind"] == kind.targets and row["answer"] in kind.counts]
