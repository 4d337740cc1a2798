"""Files of JSON and of JSON Lines, as records with their places; rows that cannot be read are collected."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pydantic import JsonValue

from longform.errors import DanglingError, InputError
from longform.formats.fields import ROOT, Record, describe, short

_LOG = logging.getLogger(__name__)
SHOWN = 20
"""The most rows that a message names; the others are counted."""

SKIP = "--skip-unreadable"


class FaultyRowsError(InputError):
    """Rows of files are not what their format says; its place is that of the first, and its words name them by line."""

    def __init__(self, first: InputError, told: str) -> None:
        super().__init__(
            file=first.file, record=first.record, field=first.field, expected=first.expected, found=first.found
        )
        self.args = (told,)


def first_lines(lines: Sequence[object], n: int | None = None) -> str:
    """Return the first *lines*, indented, and how many more there are of *n*; None: of these."""
    n = len(lines) if n is None else n
    more = [f"  and {n - SHOWN:,} more"] if n > SHOWN else []
    return "\n".join([*(f"  {line}" for line in lines[:SHOWN]), *more])


class Faults:
    """
    Collects the errors of rows while a reader goes on with the others.

    Rows with errors are left out and told if *skip*; otherwise they end the reading after the last row.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self.n = 0
        self.blind = False  # a row that others refer to is faulty: a reference to nothing tells nothing new
        self._skip = skip
        self._first: list[InputError] = []

    def add(self, error: InputError) -> None:
        if isinstance(error, DanglingError) and self.blind and not self._skip:
            return
        self.n += 1
        if len(self._first) < SHOWN:
            self._first.append(error)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Collect an error of the row that is read within."""
        try:
            yield
        except InputError as error:
            self.add(error)

    def settle(self) -> None:
        """
        Tell of the rows that were left out.

        Raises:
            FaultyRowsError: There are any, and they are not to be left out.
        """
        if not self.n:
            return
        lines = first_lines(self._first, self.n)
        if self._skip:
            _LOG.warning("rows that cannot be read are left out: %s\n%s", f"{self.n:,}", lines)
        elif self.n == 1:
            raise FaultyRowsError(self._first[0], f"{self._first[0]}; mend it, or go on without it by {SKIP}")
        else:
            told = f"{self.n:,} rows cannot be read; nothing was written. Mend them, or go on without them by {SKIP}"
            raise FaultyRowsError(self._first[0], f"{told}\n{lines}")
        self.n, self._first = 0, []


class _AtOnce(Faults):
    """Raises each error as it comes."""

    def add(self, error: InputError) -> None:
        raise error


AT_ONCE = _AtOnce()


def numbered(rows: Iterable[Record], faults: Faults, before: int = 0) -> Iterator[tuple[int, Record]]:
    """Yield each row with its place, counted on from *before*; rows that their source gave up have a place, too."""
    pending, place = iter(rows), before
    while True:
        known = faults.n
        record = next(pending, None)
        place += 1 + faults.n - known
        if record is None:
            return
        yield place, record


Lines = Iterable[bytes | str]
"""A file's lines, split at line feeds only: texts may hold the other characters that `str.splitlines` splits at."""

LINE = "(line)"
FILE = "(file)"
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_WESTERN = re.compile(
    rb"[\x80\x84\x85\x91-\x97\x99\xa0\xa3\xa7\xa9\xab\xae\xb0\xb4\xb7\xbb\xc0-\xd6\xd8-\xf6\xf8-\xff]{1,2}"
)
_MOSTLY = 0.75  # of the bytes beyond ASCII
_BYTE_ORDER_MARK = "\ufeff"


def recoding(content: bytes) -> str:
    """
    Say how to save bytes as UTF-8.

    In texts of cp1252 letters beyond ASCII stand alone or in pairs; in other scripts they are most of the text, and in
    cp1250 some are signs of cp1252. Which other encoding it is cannot be known, and a wrong one gives other words.
    """
    runs = _BEYOND_ASCII.findall(content)
    western = sum(len(run) for run in runs if _WESTERN.fullmatch(run))
    if western >= _MOSTLY * sum(map(len, runs)):
        return "maybe Windows' cp1252; save it as UTF-8, as by: iconv -f cp1252 -t utf-8 OLD > NEW, and read it over"
    others = "gb18030, big5, shift_jis, euc-kr, cp1251, cp1250"
    return f"likely {others} or so; save it as UTF-8, as by: iconv -f ENCODING -t utf-8 OLD > NEW, and read it over"


def json_lines(lines: Lines, file: str, faults: Faults = AT_ONCE) -> Iterator[Record]:
    """
    Yield the objects of a JSON Lines file, one a line, counted from 1; blank lines are skipped.

    Raises:
        InputError: A line is not UTF-8, not JSON, or not an object; or the whole file is no JSON Lines.
    """
    for number, line in enumerate(lines, start=1):
        if number == 1 and (wrong := no_json_lines(line, file)) is not None:
            raise wrong
        record = None
        with faults.caught():
            record = json_line(line, number, file)
        if record is not None:
            yield record


def json_line(line: bytes | str, number: int, file: str) -> Record | None:
    """Return the object of line *number*, from 1, of a file; None if it is blank. Another content is an InputError."""
    place = _Place(file, f"line {number}", LINE)
    text = place.text(line)
    text = text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text
    return place.object(place.parsed(text)) if text.strip() else None


_UTF_16 = "UTF-16; save the file as UTF-8"
_OTHER_FORMS = {
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
    b"[": "a list; write each of its objects on a line of its own, without the brackets and commas of the list",
    b'"{""': "a spreadsheet's export, with quotes around each line and doubled inside; undo the doubling",
    b"PK\x03\x04": "a packed file, as workbooks (.xlsx) are; save the sheet as .csv",
    b"\xd0\xcf\x11\xe0": "a file of an old Office; save it as .csv",
    b"PAR1": "Parquet; write each row as an object on a line",
    b"%PDF": "a PDF",
    b"<": "HTML or XML",
}
"""The first bytes of a file -> its form, and what to do."""


def no_json_lines(line: bytes | str, file: str = "") -> InputError | None:
    """Return the problem of a whole file by its first line, told once for all lines; None if it may be JSON Lines."""
    start = line if isinstance(line, bytes) else line.encode(errors="surrogatepass")
    start = start.removeprefix(_BYTE_ORDER_MARK.encode()).lstrip()
    found = next((told for first, told in _OTHER_FORMS.items() if start.startswith(first)), None)
    found = _UTF_16 if found is None and start[1:2] == b"\0" else found
    expected = "JSON Lines in UTF-8, an object a line"
    return None if found is None else InputError(file=file, record="line 1", field=FILE, expected=expected, found=found)


def json_object(content: bytes | str, file: str) -> Record:
    """Return the object that a whole JSON file holds, labelled `(root)`."""
    place = _Place(file, ROOT, FILE)
    return place.object(place.parsed(whole_text(content, file)))


def json_objects(content: bytes | str, file: str) -> list[Record]:
    """Return the objects of the list that a whole JSON file holds, labelled `(file)[0]`, `(file)[1]` and so on."""
    place = _Place(file, ROOT, FILE)
    whole = place.parsed(whole_text(content, file))
    if not isinstance(whole, list):
        raise place.error("a list", describe(whole))
    names = (f"{FILE}[{index}]" for index in range(len(whole)))
    return [
        place._replace(field=name).object(value)._replace(label=name) for name, value in zip(names, whole, strict=True)
    ]


def text_lines(lines: Lines, file: str, faults: Faults = AT_ONCE) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, text) of each line in UTF-8; a byte order mark before the first is dropped."""
    for number, line in enumerate(lines, start=1):
        text = None
        with faults.caught():
            text = _Place(file, f"line {number}", LINE).text(line)
        if text is not None:
            yield number, text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text


def whole_text(content: bytes | str, file: str) -> str:
    """Return the text of a whole file in UTF-8, as it is."""
    return _Place(file, ROOT, FILE).text(content).removeprefix(_BYTE_ORDER_MARK)


class _Place(NamedTuple):
    """The place of a text in JSON: a line, or a whole file."""

    file: str
    label: str
    field: str

    def error(self, expected: str, found: str) -> InputError:
        return InputError(file=self.file, record=self.label, field=self.field, expected=expected, found=found)

    def text(self, content: bytes | str) -> str:
        text = content if isinstance(content, str) else content.decode(errors="surrogateescape")
        if (found := not_text(text)) is None or isinstance(content, str):
            return text
        raise self.error("text in UTF-8", found)

    def parsed(self, text: str) -> JsonValue:
        try:
            value: JsonValue = json.loads(text.rstrip(_SPACE), object_pairs_hook=_distinct)
        except json.JSONDecodeError as error:
            line = "" if self.field == LINE else f"line {error.lineno} "  # of a line its label tells which
            why = f"{error.msg}, {line}column {error.colno}"
        except (RecursionError, ValueError) as error:
            why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        else:
            return value
        raise self.error("JSON", f"{short(repr(text.strip()))} ({why})")

    def object(self, value: JsonValue) -> Record:
        if not isinstance(value, dict):
            raise self.error("an object", describe(value))
        return Record(value, self.file, self.label)


_SPACE = " \t\r\n"  # of JSON
_NOT_TEXT = re.compile("[\0\udc80-\udcff]")


def not_text(text: str) -> str | None:
    """Describe the first NUL or byte that is not UTF-8 of a text, decoded with `surrogateescape`; None: it has none."""
    if (wrong := _NOT_TEXT.search(text)) is None:
        return None
    if wrong[0] == "\0":
        return f"a NUL byte at {wrong.start()}"
    at = len(text[: wrong.start()].encode(errors="surrogateescape"))
    return f"byte 0x{ord(wrong[0]) & 0xFF:02x} at {at}, which is not, {recoding(text.encode(errors='surrogateescape'))}"


def _distinct(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        msg = f"the field {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        raise ValueError(msg)
    return content
