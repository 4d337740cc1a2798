"""Sheets of one kind of judgement for the summaries of a benchmark or a run, and the labels that come back."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from actors.storage.folder import Folder, file_place
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import LabelledPlace
from longform.errors import UsageError
from longform.judges.kind import Kind
from longform.judges.sheets import Filled, SheetPair, guide, read_sheet, sheet
from longform.keys import content_key
from longform.rows import LabelRow, SummaryRow
from longform.text.citations import bullets
from longform.text.punkt import release_sentences

_NO_FILE_NAME = frozenset('/\\:*?"<>|')
GUIDE = "guide.md"


def pairs_of(place: LabelledPlace, kind: Kind, summaries: Iterable[SummaryRow]) -> Iterator[SheetPair]:
    """Give what people label of *summaries*; nothing of one that failed."""
    for summary in summaries:
        if summary["text"] is not None:
            of_kind = _sentences if kind.targets == "document" else _targets
            yield from of_kind(place, kind, summary, summary["text"])


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
    file = documents_file(place, summary)
    for place_of, sentence in enumerate(release_sentences(text)):
        columns = {"documents": file, kind.fields[1]: sentence}
        yield SheetPair(summary["summary_id"], kind.targets, summary["haystack_id"], place_of, 0, columns)


def documents_file(place: LabelledPlace, summary: SummaryRow) -> str:
    """Name the file with the documents of a summary; equal documents are one file."""
    return f"documents/{content_key([document.text for document in place.documents(summary)])}.txt"


def chosen(place: LabelledPlace, kind: Kind, n_summaries: int | None, seed: int) -> list[SummaryRow]:
    """
    Choose the summaries to label: *n_summaries* at random, or all that have something to label.

    Raises:
        UsageError: There are none, or fewer.
    """
    there = [row for row in place.summaries.values() if any(True for _ in pairs_of(place, kind, [row]))]
    if not there:
        expected = "text" if kind.targets == "document" else f"text and a {kind.targets} of their query"
        raise UsageError(f"{place.folder.url}: expected summaries with {expected} to label for {kind.task}, found none")
    if n_summaries is None:
        return there
    if not 0 < n_summaries <= len(there):
        raise UsageError(f"--summaries: expected a number from 1 to {len(there)}, found {n_summaries}")
    picked = set(random.Random(seed).sample(range(len(there)), n_summaries))
    return [row for number, row in enumerate(there) if number in picked]


def write_sheets(
    place: LabelledPlace, kind: Kind, summaries: Sequence[SummaryRow], annotators: Sequence[str], out: str
) -> list[str]:
    """
    Write a sheet for each annotator, the guide, and the documents that sentences are checked against.

    Returns:
        The files of the sheets.

    Raises:
        UsageError: A name is no annotator's, or a sheet is there already, which may be filled.
    """
    folder, pairs = Folder(out), list(pairs_of(place, kind, summaries))
    names = {annotator: f"{_checked_name(annotator)}.csv" for annotator in annotators}
    if there := [name for name in names.values() if folder.has(name)]:
        raise UsageError(f"{out}: expected no sheet {there[0]!r}, found one, which may be filled; name another folder")
    folder.write_bytes(GUIDE, guide(kind).encode())
    if kind.targets == "document":
        for summary in {documents_file(place, row): row for row in summaries}.values():
            folder.write_bytes(documents_file(place, summary), _numbered_documents(place, summary).encode())
    for annotator, name in names.items():
        folder.write_bytes(name, sheet(kind, pairs, annotator))
    return [f"{out.rstrip('/')}/{name}" for name in names.values()]


def _numbered_documents(place: LabelledPlace, summary: SummaryRow) -> str:
    texts = [
        f"[{document.number}] {document.title or ''}".rstrip() + f"\n\n{document.text}\n"
        for document in place.documents(summary)
    ]
    return "\n\n".join(texts)


def _checked_name(annotator: str) -> str:
    if not annotator.strip() or annotator.startswith(RELEASED) or _NO_FILE_NAME & set(annotator):
        raise UsageError(f"--annotator: expected a name that a file can have, found {annotator!r}")
    return annotator


# ---------------------------------------------------------------- back in


def read_sheets(place: LabelledPlace, kind: Kind, urls: Sequence[str]) -> list[Filled]:
    """
    Read filled sheets.

    Raises:
        UsageError: A file cannot be read, a cell is not what it may be, or two sheets label a pair for one annotator.
    """
    pairs = {pair.key: pair for pair in pairs_of(place, kind, place.summaries.values())}
    found: dict[tuple[str, str], tuple[str, Filled]] = {}
    for url in dict.fromkeys(urls):
        for one in read_sheet(kind, _content(url), url, pairs):
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


def keep_labels(place: LabelledPlace, kind: Kind, filled: Iterable[Filled]) -> None:
    """
    Write the labels of sheets into the table `labels`; a pair that was labelled before gets its new label, or none.

    Raises:
        UsageError: An annotator's labels came with the benchmark, or the annotator is a model.
    """
    by_annotator: dict[str, list[Filled]] = {}
    for one in filled:
        by_annotator.setdefault(one.annotator, []).append(one)
    work_ids = {annotator: _work_id(kind, annotator) for annotator in by_annotator}
    before = {annotator: _rows_of(place, work_id) for annotator, work_id in work_ids.items()}
    for annotator in by_annotator:
        _check_own(place, kind, annotator, len(before[annotator]))
    for annotator, rows in by_annotator.items():
        new = {one.pair.key for one in rows}
        kept = [row for row in before[annotator] if _key(row) not in new]
        labels = [*kept, *(_label(one) for one in rows if one.answer is not None)]
        work_id = work_ids[annotator]
        place.folder.forget("labels", [work_id])
        place.folder.commit("labels", [place.folder.write_part("labels", labels, work_ids=[work_id])])


def _work_id(kind: Kind, annotator: str) -> str:
    return content_key("sheet", kind.task, annotator)


def _rows_of(place: LabelledPlace, work_id: str) -> list[LabelRow]:
    rows: list[LabelRow] = place.folder.read("labels", work_ids=[work_id]).to_pylist()
    return rows


def _check_own(place: LabelledPlace, kind: Kind, annotator: str, n_of_sheets: int) -> None:
    _checked_name(annotator)
    there = [row for row in labels_of(place, kind) if row["annotator"] == annotator]
    if len(there) > n_of_sheets:
        raise UsageError(f"annotator {annotator!r} has labels that are of no sheet: expected a name of your own")


def _label(one: Filled) -> LabelRow:
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


def _key(row: LabelRow) -> str:
    return SheetPair(row["summary_id"], row["target_kind"], row["target_id"], row["unit_index"], 0, {}).key


def labels_of(place: LabelledPlace, kind: Kind) -> list[LabelRow]:
    """Return all labels of a kind that have an answer."""
    return [row for row in place.labels() if row["target_kind"] == kind.targets and row["answer"] in kind.counts]
