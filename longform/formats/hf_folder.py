"""
Data sets as Hugging Face's `datasets` saves them to disk: streams of Arrow, named by `state.json` in their order.

`Dataset.save_to_disk` writes `data-*.arrow`, `dataset_info.json` and `state.json`; `DatasetDict.save_to_disk` writes a
folder of these a split, and `dataset_dict.json`. The library itself is not needed to read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from longform.errors import UsageError
from longform.formats.bounds import refused
from longform.formats.faults import Faults
from longform.formats.fields import Record
from longform.formats.files import Found, Named, SourceFile, only_folder
from longform.formats.folder import own_haystack
from longform.formats.own_tables import document_columns, texts_of

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
