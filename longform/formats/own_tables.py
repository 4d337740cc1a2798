"""
Documents as rows of a table, an id, a title and a text a row: CSV and TSV files, and data sets of Hugging Face.

`Dataset.save_to_disk` writes streams of Arrow, `data-*.arrow`, which `state.json` names in their order;
`DatasetDict.save_to_disk` writes a folder of these a split, and `dataset_dict.json`. The library itself is not needed
to read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from longform.errors import UsageError
from longform.formats.faults import Faults, numbered
from longform.formats.fields import Record
from longform.formats.files import Found, Named, SourceFile, only_folder, refused
from longform.formats.folder import own_haystack
from longform.formats.table_rows import DOC_ID_NAMES, TEXT_NAMES, TITLE_NAMES, Columns, records
from longform.formats.texts import FileText


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
