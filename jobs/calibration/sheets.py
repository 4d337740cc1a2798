"""
Sheets for people to label, and the labels that come back: as CSV, or as a page that is filled in a browser.

The page needs no network and gives the CSV that is read back. Texts of summaries and documents are anyone's. They stand
in the page as JSON, reach it as text nodes, and its policy lets its own script run and nothing else.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Literal

from actors.storage.folder import Folder
from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import LabelledPlace
from jobs.calibration.subjects import SheetDocuments, Subjects, label_key, label_row
from longform.errors import UsageError
from longform.judges.kind import SheetKind
from longform.judges.sheets import Filled, SheetPair, guide, offered, sheet
from longform.keys import content_key, in_groups
from longform.metrics.verdict_means import LABEL_SEPARATOR, NO_LABEL
from longform.report.page import rendered
from longform.rows import LabelRow

_NO_FILE_NAME = frozenset('/\\:*?"<>|')
GUIDE = "guide.md"
SheetForm = Literal["csv", "html"]


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
    Write a sheet for each annotator, the guide, and the documents that annotators read; return the files of the sheets.

    *chosen* maps an annotator to ids of subjects. A sheet as HTML is a page that holds the documents and gives the CSV.

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


def _checked_name(annotator: str) -> str:
    if not annotator.strip() or annotator.startswith(RELEASED) or _NO_FILE_NAME & set(annotator):
        raise UsageError(f"--annotator: expected a name that a file can have, found {annotator!r}")
    return annotator


# ---------------------------------------------------------------- as a page

_SCRIPTS = ("element.js", "sheet.js")
_STYLES = ("report.css", "sheet.css")
_KEYS = 9  # digits that choose an answer


def _page(kind: SheetKind, pairs: Sequence[SheetPair], annotator: str, files: Mapping[str, SheetDocuments]) -> bytes:
    """Return the page of an annotator's sheet, with the documents that its rows name."""
    file = f"{annotator}.csv"
    named = dict.fromkeys(text for pair in pairs for text in pair.shown.values() if text in files)
    answers = [NO_LABEL, *kind.labels] if kind.labels else offered(kind)
    data = {
        "sheet": content_key(kind.task, annotator, [pair.key for pair in pairs]),
        "annotator": annotator,
        "file": file,
        "columns": list(kind.columns),
        "answers": answers,
        "words": [answer.replace("_", " ") for answer in answers],
        "several": bool(kind.labels),
        "separator": LABEL_SEPARATOR,
        "none": NO_LABEL,
        "links": kind.links,
        "counted": [answer for answer, number in kind.counts.items() if number] if kind.links else [],
        "justified": kind.is_justified,
        "pairs": [
            {"key": pair.key, "n_units": pair.n_units, "shown": [[name, text] for name, text in pair.shown.items()]}
            for pair in pairs
        ],
        "documents": {name: files[name].content.decode() for name in named},
    }
    told = (
        f"{len(pairs):,} rows for {annotator}. Answers stay in this browser, if it allows that, and leave it only as "
        f"the download {file}, which longform annotate --filled reads. Save it in the folder of this page. Leave a row "
        "without an answer that you cannot judge."
    )
    page = rendered(
        "sheet.html.j2",
        f"Sheet of {annotator}: {kind.task.replace('_', ' ')}",
        None,
        scripts=_SCRIPTS,
        styles=_STYLES,
        told=told,
        n_answers=min(_KEYS, len(answers)),
        links=kind.links,
        guide=guide(kind),
        data=json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"),
    )
    return page.encode()


# ---------------------------------------------------------------- back in


def keep_labels(place: LabelledPlace, kind: SheetKind, filled: Iterable[Filled]) -> None:
    """
    Write the labels of sheets into the table `labels`; a pair that was labelled before gets its new label, or none.

    Raises:
        UsageError: An annotator's labels came with the benchmark, or the annotator is a model.
    """
    by_annotator = in_groups((one.annotator, one) for one in filled)
    work_ids = {annotator: content_key("sheet", kind.task, annotator) for annotator in by_annotator}
    before = {annotator: _of_sheets(place, kind, annotator, work_id) for annotator, work_id in work_ids.items()}
    for annotator, rows in by_annotator.items():
        new = {one.pair.key for one in rows}
        kept = [row for row in before[annotator] if label_key(row) not in new]
        labels = [*kept, *(label_row(one) for one in rows if one.answer is not None)]
        work_id = work_ids[annotator]
        place.folder.forget("labels", [work_id])
        place.folder.commit("labels", [place.folder.write_part("labels", labels, work_ids=[work_id])])


def _of_sheets(place: LabelledPlace, kind: SheetKind, annotator: str, work_id: str) -> list[LabelRow]:
    """Return an annotator's labels, all of which came from sheets."""
    _checked_name(annotator)
    rows: list[LabelRow] = place.folder.read("labels", work_ids=[work_id]).to_pylist()
    if sum(row["annotator"] == annotator for row in labels_of(place, kind)) > len(rows):
        raise UsageError(f"annotator {annotator!r} has labels that are of no sheet: expected a name of your own")
    return rows


def labels_of(place: LabelledPlace, kind: SheetKind) -> list[LabelRow]:
    """Return all labels of a kind that have an answer."""
    return [row for row in place.labels() if row["target_kind"] == kind.targets and row["answer"] in kind.counts]
