"""Tables that people keep, CSV of any delimiter and JSON Lines, as records with their places."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from longform.errors import InputError, UsageError
from longform.formats.fields import ID_EXPECTED, Record, describe, has_surrogates, is_id, nothing, read_as_text
from longform.formats.files import SourceFile, refused
from longform.formats.json_files import AT_ONCE, LINE, Faults, json_lines, not_text
from longform.formats.texts import NoTextError, decoded, ending_of, marked

_DELIMITERS = ",;\t|"
_SNIFFED = 65_536  # characters
_SHOWN = 200  # characters of a header
HEADER = "(header)"
_SEPARATOR = re.compile(r'"?sep=(.)"?(?:\r\n?|\n)', re.IGNORECASE)  # a line that Excel reads
_NO_NAME = re.compile(r"Unnamed: \d+")  # a column that pandas read without a name
_OPENED = re.compile(r'(?:^|\t)"(?:[^"\t]*|[^"\t]*"[^"\t]+)(?:\t|$)')  # a quote that closes nowhere, or before the end
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)"|([^,;|'"]+)""")

TEXT_NAMES = ("text", "contents", "content", "body", "document", "passage", "abstract", "page_content", "segment")
TITLE_NAMES = ("title", "headline", "name")
DOC_ID_NAMES = ("doc_id", "docid", "docno", "_id", "id", "document_id", "url", "path")
QUERY_NAMES = ("query", "question", "text", "title", "user_input")
QUERY_ID_NAMES = ("query_id", "qid", "_id", "id", "question_id", "number")


def records(file: SourceFile, faults: Faults = AT_ONCE) -> Iterator[Record]:
    """Yield the rows of a table by the ending of its file: .jsonl, .csv or .tsv; another one is a UsageError."""
    match ending_of(file.path):
        case ".jsonl" | ".ndjson":
            yield from json_lines(file.lines(), file.path, faults)
        case ".csv" | ".tsv":
            yield from csv_records(file.read(), file.path, faults)
        case ending:
            raise UsageError(f"{file.path}: expected .jsonl, .csv or .tsv, found {ending or 'no ending'}")


def csv_records(content: bytes, file: str, faults: Faults = AT_ONCE) -> Iterator[Record]:
    """
    Yield the rows of a CSV file with a header, blank cells as ""; rows of blank cells are left out.

    A first column without a name numbers the rows of a data frame, and is left out.

    Raises:
        InputError: It has no header in UTF-8, or a quote is not closed, so that nobody knows where rows end.
    """
    try:
        text = decoded(content) if marked(content) else content.decode(errors="surrogateescape")
    except NoTextError as error:
        raise refused(file, "UTF-8", str(error)) from error
    rows = _rows(text, file, faults)
    place, first = next(rows, ("line 1", []))
    header = [_NO_NAME.sub("", name.strip()) for name in first]
    while header and not header[-1]:
        header.pop()
    if not header or len({*header}) < len(header) or "" in header[1:] or not_text("".join(header)):
        found = repr(header)[:_SHOWN] if header else "an empty file"
        found = "binary content, or another encoding" if not_text("".join(header)) else found
        expected = "names of columns in UTF-8, each once"
        raise InputError(file=file, record=place, field=HEADER, expected=expected, found=found)
    for label, cells in rows:
        row = zip(header, cells, strict=False)
        record = Record({name: cell if cell.strip() else "" for name, cell in row if name}, file, label)
        found_in = not_text("".join(cells))
        if any(cell.strip() for cell in cells[len(header) :]):
            expected = f"{len(header)} cells, as in the header; quote cells that hold the delimiter"
            faults.add(record.error(HEADER, expected=expected, found=f"{len(cells)}"))
        elif found_in is not None:
            faults.add(record.error(LINE, expected="text in UTF-8", found=found_in))
        elif any(record.content.values()):
            yield record


def _rows(text: str, file: str, faults: Faults) -> Iterator[tuple[str, list[str]]]:
    """Yield the place of each row, the line in which it begins, and its cells; a line `sep=;` names the delimiter."""
    csv.field_size_limit(sys.maxsize)
    stated = _SEPARATOR.match(text)
    before = 1 if stated else 0
    lines = io.StringIO(text[stated.end() :] if stated else text, newline="")
    delimiter = stated[1] if stated else _delimiter(text, file)
    quoted = delimiter != "\t" or not _is_unquoted(text)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    while True:
        label = f"line {before + reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            record = Record({}, file, label)
            expected = "a delimiter or the end of the line behind a closing quote (quotes of a text are doubled)"
            cut = "unexpected end" in str(error)
            found = "no closing quote" if cut else f"other characters in line {before + reader.line_num}"
            (AT_ONCE if cut else faults).add(record.error(LINE, expected=expected, found=found))
        else:
            if cells is None:
                return
            yield label, cells


def _is_unquoted(text: str) -> bool:
    """Return whether quotes are characters of a text between tabs: every line is a row, and one opens no cell."""
    lines = [line for line in text.splitlines() if line.strip()]
    is_row = len({line.count("\t") for line in lines}) == 1
    return is_row and any(_OPENED.search(line) for line in lines)


def _delimiter(text: str, file: str) -> str:
    """Return the delimiter that the header holds most often, tabs in .tsv files."""
    if ending_of(file) == ".tsv":
        return "\t"
    header = text[:_SNIFFED].replace("\r", "\n").split("\n", 1)[0]
    return max(_DELIMITERS, key=header.count)


class Columns:
    """
    Finds the column of each field: the one that is named, else the first of the usual names that a row has.

    *named* maps a field to the column that the user names by an option, empty if by none; *usual* maps it to its usual
    names.
    """

    def __init__(self, named: Mapping[str, str], usual: Mapping[str, Sequence[str]]) -> None:
        self._named, self._usual = named, usual

    def text(self, record: Record, field: str) -> str:
        """Return the text of a field; a row without one is an InputError."""
        found = self.known(record, field)
        if not found:
            name = self._named.get(field)
            expected = f"a filled column {name}" if name else f"a filled column of {', '.join(self._usual[field])}"
            expected += f"; name it by --{field}-column" if name == "" else ""
            filled = [one for one, value in record.content.items() if value not in ("", None)]
            raise record.error(name or field, expected=expected, found=nothing(filled))
        return found

    def id(self, record: Record, usual: str) -> str:
        """Return the id of a row, *usual* if it has none; one that is blank or cannot be printed is an InputError."""
        found = self.known(record, "id")
        if found is not None and not is_id(found):
            raise record.error("id", expected=ID_EXPECTED, found=describe(found))
        return usual if found is None else found

    def known(self, record: Record, field: str) -> str | None:
        """Return the text of a field, a whole number as its digits; "" if it is blank, None if the row has none."""
        names = [self._named[field]] if self._named.get(field) else self._usual[field]
        blank = None
        by_lower = {name.lower(): name for name in record.content}
        for name in (by_lower.get(name.lower(), name) if name not in record.content else name for name in names):
            value = read_as_text(record.content.get(name))
            if value is None:
                continue
            if not isinstance(value, str) or has_surrogates(value) or "\0" in value:
                expected = "a string of whole characters, without NUL, or a whole number"
                raise record.error(name, expected=expected, found=describe(value))
            if value.strip():
                return value
            blank = ""
        return blank


def listed(cell: str, known: Callable[[str], bool]) -> list[object]:
    """Return the entries of a cell: a list of JSON or Python, or entries with `;`, `|`, or `,` if known, between."""
    if known(cell):
        return [cell]
    bare = cell.strip()
    if bare.startswith("[") and bare.endswith("]"):
        try:
            return list(json.loads(bare))
        except (ValueError, RecursionError):
            return ["".join(one).strip() for one in _QUOTED.findall(bare[1:-1]) if "".join(one).strip()]
    parts = [part.strip() for part in re.split("[;|]", bare) if part.strip()]
    return [one for part in parts for one in parted(part, known)]


def parted(entry: str, known: Callable[[str], bool]) -> list[str]:
    """Return the parts of an entry with commas between, if each is known and the whole is not; else the whole."""
    parts = [part.strip() for part in entry.split(",")]
    return parts if not known(entry) and all(map(known, parts)) else [entry]
