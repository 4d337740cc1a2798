"""
Files of one's own as documents, and the questions to them: texts in a folder, tables, data sets of Hugging Face.

A folder has .txt, .md, .html, .pdf and .docx, in folders or not. A document's id is its path below the folder, such as
`minutes/march.md`, and documents stand in the order of their ids, numbers in them as numbers: 2.txt before 10.txt.
Hidden files are passed over.

A table, CSV or TSV, has an id, a title and a text a row, and so has a data set. `Dataset.save_to_disk` writes streams
of Arrow, `data-*.arrow`, which `state.json` names in their order; `DatasetDict.save_to_disk` writes a folder of these a
split, and `dataset_dict.json`. The library itself is not needed to read them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from longform.errors import InputError, UsageError
from longform.formats.asked import questions, wanted_of
from longform.formats.fields import Record
from longform.formats.files import Found, Named, SourceFile, last_part, only_folder, refused
from longform.formats.json_files import Faults, first_lines, numbered
from longform.formats.jsonl import DEFAULT_HAYSTACK
from longform.formats.rows import HaystackRows
from longform.formats.table_rows import DOC_ID_NAMES, TEXT_NAMES, TITLE_NAMES, Columns, records
from longform.formats.texts import FileText, NoTextError, text_of
from longform.keys import in_groups
from longform.records import Document

_LOG = logging.getLogger(__name__)


def folder_files(
    named: Named,
    *,
    queries: Sequence[SourceFile],
    insights: Sequence[SourceFile] = (),
    skip_unreadable: bool = False,
) -> Found:
    """
    Return the haystack of the one folder that is named.

    Raises:
        UsageError: There are no documents or questions, or files give no text: all of them are named.
        InputError: A file of questions or insights is not as its ending says.
    """
    url, files = only_folder(named, "folder")
    shown = {path: file for path, file in files.items() if not any(part.startswith(".") for part in path.split("/"))}
    texts, problems = _texts(shown)
    _tell(url, problems, len(texts), skip=skip_unreadable)
    _tell_twice(texts)
    used = {path: file for path, file in shown.items() if path.removesuffix(".gz") in texts}
    haystack = own_haystack(texts, queries, insights, Faults(skip=skip_unreadable))
    return Found([_Together(url, used), *queries, *insights], [haystack])


class _Together:
    """All files of a folder as one source: a manifest of 10,000 names would be read by nobody."""

    def __init__(self, url: str, files: Mapping[str, SourceFile]) -> None:
        self.name = self.path = last_part(url)
        self._files = files

    def lines(self) -> Iterator[bytes]:
        for file in self._files.values():
            yield from file.lines()

    def read(self) -> bytes:
        return b"".join(self.lines())

    def identity(self) -> dict[str, str]:
        """Return the folder's name, and the hash of the paths and contents of its files."""
        found = hashlib.sha256()
        for path in sorted(self._files):
            found.update(f"{path}\0{self._files[path].identity()['sha256']}\n".encode())
        return {"name": self.name, "files": str(len(self._files)), "sha256": found.hexdigest()}


def own_haystack(
    texts: Mapping[str, FileText], queries: Sequence[SourceFile], wanted: Sequence[SourceFile], faults: Faults
) -> HaystackRows:
    """
    Return documents by their ids, and the questions to them, as one haystack.

    Raises:
        InputError: Rows are faulty, of the documents or of these files, and not to be left out.
        UsageError: No document is left, or no question.
    """
    asked = {one.query_id: one for one in questions(queries, faults)}
    targets, qrels = wanted_of(wanted, asked, texts, faults)
    faults.settle()
    if not texts:
        raise UsageError("expected at least one document, found no row that can be read")
    return HaystackRows(DEFAULT_HAYSTACK, documents_of(texts), [*asked.values()], targets, qrels)


def documents_of(texts: Mapping[str, FileText]) -> list[Document]:
    """Return texts as the documents of one haystack, in their order."""
    return [
        Document(doc_id, DEFAULT_HAYSTACK, index, found.title, found.text)
        for index, (doc_id, found) in enumerate(texts.items())
    ]


def _texts(files: Mapping[str, SourceFile]) -> tuple[dict[str, FileText], dict[str, str]]:
    """Return the text of each file that has one, and of each other the reason."""
    texts: dict[str, FileText] = {}
    problems: dict[str, str] = {}
    for path in sorted(files, key=_by_numbers):
        try:
            texts[path.removesuffix(".gz")] = text_of(path, files[path].read())
        except NoTextError as error:
            problems[path] = str(error)
        except InputError as error:
            problems[path] = f"expected {error.expected}, found {error.found}"
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)  # words of Arrow repeat the path
            problems[path] = f"it cannot be read ({why}); give yourself the right to read it, or delete it"
    return texts, problems


def _by_numbers(path: str) -> tuple[str, str]:
    """Return the key of an order that is that of texts but where two names have other numbers at one place."""
    return re.sub("0*([0-9]+)", lambda found: f"{len(found[1]):04}{found[1]}", path), path


def _tell(url: str, problems: Mapping[str, str], n_texts: int, *, skip: bool) -> None:
    lines = first_lines([f"{path}: {why}" for path, why in problems.items()])
    if problems and not skip:
        raise UsageError(
            f"{url}: {len(problems)} of {len(problems) + n_texts} files give no text; nothing was written. Mend them, "
            f"or leave them out by --skip-unreadable\n{lines}"
        )
    if not n_texts:
        raise UsageError(
            f"{url}: expected documents (.txt, .md, .html, .pdf, .docx), found none{lines and chr(10)}{lines}"
        )
    if problems:
        _LOG.warning("%s: %d files give no text and are left out\n%s", url, len(problems), lines)


def _tell_twice(texts: Mapping[str, FileText]) -> None:
    by_text = in_groups((found.text, doc_id) for doc_id, found in texts.items())
    twice = [", ".join(same[:3]) + (", ..." if len(same) > 3 else "") for same in by_text.values() if len(same) > 1]
    if twice:
        _LOG.warning("files have the same text; each counts as a document of its own\n%s", first_lines(twice))


# ---------------------------------------------------------------- rows of tables


def csv_files(
    named: Named,
    *,
    queries: Sequence[SourceFile],
    insights: Sequence[SourceFile] = (),
    text_column: str = "",
    id_column: str = "",
    title_column: str = "",
    skip_unreadable: bool = False,
) -> Found:
    """
    Return the documents of the CSV files that are named as one haystack.

    Raises:
        UsageError: There is no question or no row.
        InputError: A row has no text, or an id stands twice.
    """
    files = [file for found in named.values() for file in found.values()]
    columns = document_columns({"text": text_column, "id": id_column, "title": title_column})
    faults = Faults(skip=skip_unreadable)
    texts = texts_of((record for file in files for record in records(file, faults)), columns, faults)
    haystack = own_haystack(texts, queries, insights, faults)
    return Found([*files, *queries, *insights], [haystack])


def document_columns(named: Mapping[str, str]) -> Columns:
    """Return the columns of documents: those that are named, else the usual ones."""
    return Columns(named, {"text": TEXT_NAMES, "id": DOC_ID_NAMES, "title": TITLE_NAMES})


def texts_of(rows: Iterable[Record], columns: Columns, faults: Faults) -> Mapping[str, FileText]:
    """
    Return the documents of rows by their ids; rows without an id are numbered from 1.

    A row that has no text, or an id that stands above, is a fault.
    """
    found: dict[str, FileText] = {}
    for number, record in numbered(rows, faults):
        with faults.caught():
            doc_id = columns.id(record, str(number))
            if doc_id in found:
                raise record.error(
                    "id", expected="an id that no row above has; name its column by --id-column", found=doc_id
                )
            found[doc_id] = FileText(columns.known(record, "title") or None, columns.text(record, "text"))
    return found


_STATE = "state.json"


def hf_files(
    named: Named,
    *,
    queries: Sequence[SourceFile],
    insights: Sequence[SourceFile] = (),
    text_column: str = "",
    id_column: str = "",
    title_column: str = "",
    split: str = "",
    skip_unreadable: bool = False,
) -> Found:
    """
    Return the rows of a saved data set as the documents of one haystack.

    Raises:
        UsageError: It is none, or has several splits and none is named, or there is no question.
        InputError: A row has no text, or an id stands twice.
    """
    url, files = only_folder(named, "hf")
    folder = _folder_of_split(url, files, split)
    parts = [files[f"{folder}{name}"] for name in _parts(files[f"{folder}{_STATE}"], url)]
    faults = Faults(skip=skip_unreadable)
    columns = document_columns({"text": text_column, "id": id_column, "title": title_column})
    texts = texts_of(_rows(parts), columns, faults)
    return Found([*parts, *queries, *insights], [own_haystack(texts, queries, insights, faults)])


def _folder_of_split(url: str, files: Mapping[str, SourceFile], split: str) -> str:
    """Return the folder of the data, with a slash behind it unless it is the whole."""
    if _STATE in files and not split:
        return ""
    splits = [path.removesuffix(f"/{_STATE}") for path in files if path.endswith(f"/{_STATE}")]
    if not splits:
        raise UsageError(
            f"{url}: expected a folder of Dataset.save_to_disk or DatasetDict.save_to_disk ({_STATE}, data-*.arrow), "
            f"found {', '.join([*files][:5]) or 'nothing'}"
        )
    if split and split not in splits:
        raise UsageError(f"--split: expected one of {', '.join(splits)}, found {split}")
    if not split and len(splits) > 1:
        raise UsageError(f"{url}: several splits; name one by --split: {', '.join(splits)}")
    return f"{split or splits[0]}/"


def _parts(state: SourceFile, url: str) -> list[str]:
    try:
        return [str(one["filename"]) for one in json.loads(state.read())["_data_files"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{url}: {state.path}: expected `_data_files` with a `filename` each ({error})") from error


def _rows(parts: Sequence[SourceFile]) -> Iterator[Record]:
    number = 0
    for part in parts:
        try:
            with pa.ipc.open_stream(part.read()) as stream:
                for batch in stream:
                    for row in batch.to_pylist():
                        number += 1
                        yield Record(row, part.path, f"row {number}")
        except pa.ArrowException as error:
            raise refused(part.path, "a stream of Arrow", str(error)) from error
