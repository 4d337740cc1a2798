"""Tables that people keep, CSV of any delimiter and JSON Lines, as records with their places."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence

from longform.errors import InputError, UsageError
from longform.formats.fields import Record, nothing
from longform.formats.files import SourceFile
from longform.formats.json_files import json_lines
from longform.formats.texts import NoTextError, decoded, ending_of

_DELIMITERS = ",;\t|"
_SNIFFED = 65_536  # characters
HEADER = "(header)"

TEXT_NAMES = ("text", "contents", "content", "body", "document", "passage", "abstract")
TITLE_NAMES = ("title", "headline", "name")
DOC_ID_NAMES = ("doc_id", "docid", "docno", "_id", "id", "document_id", "url", "path")
QUERY_NAMES = ("query", "question", "text", "title")
QUERY_ID_NAMES = ("query_id", "qid", "_id", "id", "question_id", "number")


def records(file: SourceFile) -> Iterator[Record]:
    """
    Yield the rows of a table by the ending of its file: .jsonl, .csv or .tsv.

    Raises:
        UsageError: The ending is another.
        InputError: The content is not what the ending says.
    """
    match ending_of(file.path):
        case ".jsonl" | ".ndjson":
            yield from json_lines(file.lines(), file.path)
        case ".csv" | ".tsv":
            yield from csv_records(file.read(), file.path)
        case ending:
            raise UsageError(f"{file.path}: expected .jsonl, .csv or .tsv, found {ending or 'no ending'}")


def csv_records(content: bytes, file: str) -> Iterator[Record]:
    """
    Yield the rows of a CSV file with a header; empty cells are left out, and so are empty rows.

    Raises:
        InputError: It is not UTF-8, has no header, or a row has more cells than the header.
    """
    try:
        text = decoded(content)
    except NoTextError as error:
        raise InputError(file=file, record="(root)", field="(file)", expected="UTF-8", found=str(error)) from error
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, file))
    header = [name.strip() for name in next(reader, [])]
    if not any(header) or len({*header}) < len(header):
        found = repr(header) if header else "an empty file"
        raise InputError(file=file, record="line 1", field=HEADER, expected="names of columns, each once", found=found)
    for cells in reader:
        label = f"line {reader.line_num}"
        if len(cells) > len(header):
            raise InputError(
                file=file,
                record=label,
                field=HEADER,
                expected=f"{len(header)} cells, as in the header; quote cells that hold the delimiter",
                found=f"{len(cells)}",
            )
        row = {name: cell for name, cell in zip(header, cells, strict=False) if cell.strip()}
        if row:
            yield Record({**row}, file, label)


def _delimiter(text: str, file: str) -> str:
    """Return the delimiter that the header holds most often, tabs in .tsv files."""
    if ending_of(file) == ".tsv":
        return "\t"
    header = text[:_SNIFFED].split("\n", 1)[0]
    return max(_DELIMITERS, key=header.count)


class Columns:
    """
    Finds the column of each field: the one that is named, else the first of the usual names that a row has.

    Args:
        named: Field -> the column that the user names; left out or empty: a usual one.
        usual: Field -> its usual names.
    """

    def __init__(self, named: Mapping[str, str], usual: Mapping[str, Sequence[str]]) -> None:
        self._named, self._usual = named, usual

    def text(self, record: Record, field: str) -> str:
        """
        Return the text of a field.

        Raises:
            InputError: The row has none.
        """
        found = self.known(record, field)
        if found is None or not found.strip():
            name = self._named.get(field)
            expected = f"a filled column {name}" if name else f"a filled column of {', '.join(self._usual[field])}"
            raise record.error(name or field, expected=expected, found=nothing(record.content))
        return found

    def known(self, record: Record, field: str) -> str | None:
        """Return the text of a field; None if the row has none."""
        names = [self._named[field]] if self._named.get(field) else self._usual[field]
        by_lower = {name.lower(): name for name in record.content}
        for name in names:
            value = record.content.get(name, record.content.get(by_lower.get(name.lower(), name)))
            if value is not None:
                return value if isinstance(value, str) else str(value)
        return None
