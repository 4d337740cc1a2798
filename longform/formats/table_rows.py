"""Tables that people keep, CSV of any delimiter and JSON Lines, as records with their places."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence

from longform.errors import InputError, UsageError
from longform.formats.faults import Faults
from longform.formats.fields import Record, describe, has_surrogates, nothing, read_as_text
from longform.formats.files import SourceFile
from longform.formats.json_files import LINE, json_lines, not_text
from longform.formats.texts import NoTextError, decoded, ending_of, marked

_DELIMITERS = ",;\t|"
_SNIFFED = 65_536  # characters
_SHOWN = 200  # characters of a header
HEADER = "(header)"

TEXT_NAMES = ("text", "contents", "content", "body", "document", "passage", "abstract")
TITLE_NAMES = ("title", "headline", "name")
DOC_ID_NAMES = ("doc_id", "docid", "docno", "_id", "id", "document_id", "url", "path")
QUERY_NAMES = ("query", "question", "text", "title")
QUERY_ID_NAMES = ("query_id", "qid", "_id", "id", "question_id", "number")


def records(file: SourceFile, faults: Faults | None = None) -> Iterator[Record]:
    """
    Yield the rows of a table by the ending of its file: .jsonl, .csv or .tsv.

    Args:
        file: The table.
        faults: Collects the errors of rows; None: the first one is raised.

    Raises:
        UsageError: The ending is another.
        InputError: The content is not what the ending says.
    """
    match ending_of(file.path):
        case ".jsonl" | ".ndjson":
            yield from json_lines(file.lines(), file.path, faults)
        case ".csv" | ".tsv":
            yield from csv_records(file.read(), file.path, faults)
        case ending:
            raise UsageError(f"{file.path}: expected .jsonl, .csv or .tsv, found {ending or 'no ending'}")


def csv_records(content: bytes, file: str, faults: Faults | None = None) -> Iterator[Record]:
    """
    Yield the rows of a CSV file with a header; empty cells are left out, and so are empty rows.

    Args:
        content: The whole file.
        file: The file's name, for errors.
        faults: Collects the errors of rows; None: the first one is raised.

    Raises:
        InputError: It has no header in UTF-8, or a row is not UTF-8 or has more cells than the header.
    """
    try:
        text = decoded(content) if marked(content) else content.decode(errors="surrogateescape")
    except NoTextError as error:
        raise InputError(file=file, record="(root)", field="(file)", expected="UTF-8", found=str(error)) from error
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, file))
    header = [name.strip() for name in next(reader, [])]
    if not any(header) or len({*header}) < len(header) or not_text("".join(header)):
        found = repr(header)[:_SHOWN] if header else "an empty file"
        found = "binary content, or another encoding" if not_text("".join(header)) else found
        expected = "names of columns in UTF-8, each once"
        raise InputError(file=file, record="line 1", field=HEADER, expected=expected, found=found)
    for cells in reader:
        row = {name: cell for name, cell in zip(header, cells, strict=False) if cell.strip()}
        label = f"line {reader.line_num}"
        wrong = None
        if len(cells) > len(header):
            expected = f"{len(header)} cells, as in the header; quote cells that hold the delimiter"
            wrong = InputError(file=file, record=label, field=HEADER, expected=expected, found=f"{len(cells)}")
        elif (found_in := not_text("".join(cells))) is not None:
            wrong = InputError(file=file, record=label, field=LINE, expected="text in UTF-8", found=found_in)
        if wrong is not None and faults is None:
            raise wrong
        if wrong is not None and faults is not None:
            faults.add(wrong)
        elif row:
            yield Record({**row}, file, label)


def _delimiter(text: str, file: str) -> str:
    """Return the delimiter that the header holds most often, tabs in .tsv files."""
    if ending_of(file) == ".tsv":
        return "\t"
    header = text[:_SNIFFED].replace("\r", "\n").split("\n", 1)[0]
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
        """
        Return the text of a field, a whole number as its digits; None if the row has none.

        Raises:
            InputError: The field holds another thing, or what UTF-8 cannot hold.
        """
        names = [self._named[field]] if self._named.get(field) else self._usual[field]
        by_lower = {name.lower(): name for name in record.content}
        for name in (by_lower.get(name.lower(), name) if name not in record.content else name for name in names):
            value = read_as_text(record.content.get(name))
            if value is None:
                continue
            if not isinstance(value, str) or has_surrogates(value) or "\0" in value:
                expected = "a string of whole characters, without NUL, or a whole number"
                raise record.error(name, expected=expected, found=describe(value))
            return value
        return None
