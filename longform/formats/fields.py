"""
Parsed JSON with checked fields: a wrong one is an error that names file, record and field.

A record's label is its line in a JSON Lines file (`line 17`) or the way to it in a JSON file
(`subtopics[3].insights[0]`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from longform.errors import InputError

Lines = Iterable[bytes | str]
"""A file's lines, split at line feeds only: texts may hold the other characters that `str.splitlines` splits at."""

Values = list[Any]  # the class below has a method called list
Strings = list[str]

ROOT = "(root)"
LINE = "(line)"
FILE = "(file)"
_BYTE_ORDER_MARK = "\ufeff"
_INT32 = range(-(2**31), 2**31)  # the integers of our tables
_SHOWN_CHARACTERS = 60
_SHOWN_NAMES = 12
_TYPE_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object"}


class Record:
    """
    A JSON object and its place.

    A getter raises InputError if the field is missing or of another type: a boolean is no integer, NaN is no number,
    and a string is what UTF-8 can hold (JSON can escape half of a surrogate pair, Parquet cannot store it).
    """

    __slots__ = ("content", "file", "label")

    def __init__(self, content: Mapping[str, Any], *, file: str, label: str) -> None:
        self.content = content
        self.file = file
        self.label = label

    def error(self, field: str, *, expected: str, found: str | None = None) -> InputError:
        """The error to raise about a field; *found* is a description of its value unless given."""
        if found is None:
            found = describe(self.content[field]) if field in self.content else self._nothing()
        return InputError(file=self.file, record=self.label, field=field, expected=expected, found=found)

    def has(self, field: str) -> bool:
        """Return whether the field is there and not null."""
        return self.content.get(field) is not None

    def only(self, allowed: Collection[str]) -> None:
        """Refuse a field that is not *allowed*: it is likely a misspelt one."""
        for field in self.content:
            if field not in allowed:
                raise self.error(field, expected=f"only the fields {', '.join(allowed)}", found="a field of this name")

    def string(self, field: str) -> str:
        """A string, perhaps an empty one."""
        value = self.content.get(field)
        if not _is_text(value):
            raise self.error(field, expected="a string")
        return str(value)

    def filled(self, field: str) -> str:
        """A string with more than white space in it."""
        value = self.string(field)
        if not value.strip():
            raise self.error(field, expected="a string that is not empty")
        return value

    def optional_string(self, field: str) -> str | None:
        """Return None if the field is missing or null."""
        return self.string(field) if self.has(field) else None

    def integer(self, field: str, *, minimum: int | None = None) -> int:
        """Return a whole number of 32 bits, as the tables hold it."""
        value = self.content.get(field)
        lowest = _INT32.start if minimum is None else minimum
        if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value < _INT32.stop:
            raise self.error(field, expected="an integer of 32 bits" + _at_least(minimum))
        return value

    def number(self, field: str, *, minimum: float | None = None) -> float:
        """A finite number."""
        value = _finite(self.content.get(field))
        if value is None or (minimum is not None and value < minimum):
            raise self.error(field, expected="a finite number" + _at_least(minimum))
        return value

    def choice(self, field: str, allowed: Collection[str]) -> str:
        """One of the *allowed* strings."""
        value = self.content.get(field)
        if not isinstance(value, str) or value not in allowed:
            raise self.error(field, expected="one of " + ", ".join(map(repr, allowed)))
        return value

    def list(self, field: str) -> Values:
        """A list of anything."""
        value = self.content.get(field)
        if not isinstance(value, list):
            raise self.error(field, expected="a list")
        return value

    def strings(self, field: str) -> Strings:
        """A list of strings; the error names the first item that is none, as `field[2]`."""
        values = self.list(field)
        for index, value in enumerate(values):
            if not _is_text(value):
                item = f"{field}[{index}]"
                raise self.error(field=item, expected="a string", found=describe(value))
        return values

    def mapping(self, field: str) -> dict[str, Any]:
        """An object, as a plain dict."""
        value = self.content.get(field)
        if not isinstance(value, dict):
            raise self.error(field, expected="an object")
        return value

    def object(self, field: str) -> Record:
        """An object, as a record of its own."""
        return self._inner(field, self.mapping(field))

    def objects(self, field: str) -> Records:
        """A list of objects, labelled `field[0]`, `field[1]` and so on."""
        records = []
        for index, value in enumerate(self.list(field)):
            item = f"{field}[{index}]"
            if not isinstance(value, dict):
                raise self.error(field=item, expected="an object", found=describe(value))
            records.append(self._inner(item, value))
        return records

    def _inner(self, place: str, content: Mapping[str, Any]) -> Record:
        label = place if self.label == ROOT else f"{self.label}.{place}"
        return Record(content, file=self.file, label=label)

    def _nothing(self) -> str:
        names = [_short(name) for name in [*self.content][:_SHOWN_NAMES]]
        more = ", ..." if len(self.content) > len(names) else ""
        return f"nothing (the record has {', '.join(names)}{more})" if names else "nothing (the record is empty)"


Records = list[Record]


def json_lines(lines: Lines, file: str) -> Iterator[Record]:
    """
    The objects of a JSON Lines file, one a line, counted from 1; blank lines are skipped.

    Raises:
        InputError: A line is not UTF-8, not JSON, or not an object.
    """
    for number, text in text_lines(lines, file):
        if text.strip():
            label = f"line {number}"
            value = _parsed(text, file=file, label=label, field=LINE)
            yield Record(Record({LINE: value}, file=file, label=label).mapping(LINE), file=file, label=label)


def json_object(content: bytes | str, file: str) -> Record:
    """The object that a whole JSON file holds, labelled `(root)`."""
    whole = _whole_file(content, file)
    return Record(whole.mapping(FILE), file=file, label=ROOT)


def json_objects(content: bytes | str, file: str) -> Records:
    """The objects of the list that a whole JSON file holds, labelled `(file)[0]`, `(file)[1]` and so on."""
    return _whole_file(content, file).objects(FILE)


def text_lines(lines: Lines, file: str) -> Iterator[tuple[int, str]]:
    """
    (number from 1, text) of each line; a byte order mark before the first is dropped.

    Raises:
        InputError: A line is not UTF-8.
    """
    for number, line in enumerate(lines, start=1):
        text = _decoded(line, file=file, label=f"line {number}", field=LINE)
        yield number, text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text


def describe(value: Any) -> str:
    """Describe a JSON value in few words: its type, and at most 60 characters of it."""
    if value is None:
        return "null"
    shown = ascii(value) if isinstance(value, str) and not _is_text(value) else repr(value)
    return f"{_TYPE_NAMES[type(value)]} {_short(shown)}"


def _whole_file(content: bytes | str, file: str) -> Record:
    text = _decoded(content, file=file, label=ROOT, field=FILE).removeprefix(_BYTE_ORDER_MARK)
    return Record({FILE: _parsed(text, file=file, label=ROOT, field=FILE)}, file=file, label=ROOT)


def _decoded(content: bytes | str, *, file: str, label: str, field: str) -> str:
    if isinstance(content, str):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        found = f"byte 0x{content[error.start]:02x} at {error.start}, which is not"
        raise InputError(file=file, record=label, field=field, expected="text in UTF-8", found=found) from error


def _parsed(text: str, *, file: str, label: str, field: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        found = f"{_short(repr(text.strip()))} ({error.msg}, line {error.lineno} column {error.colno})"
    except (ValueError, RecursionError) as error:
        found = f"{_short(repr(text.strip()))} ({error})"
    raise InputError(file=file, record=label, field=field, expected="JSON", found=found)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        msg = f"the field {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        raise ValueError(msg)
    return content


def _short(shown: str) -> str:
    return shown if len(shown) <= _SHOWN_CHARACTERS else shown[:_SHOWN_CHARACTERS] + "..."


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _at_least(minimum: float | None) -> str:
    return "" if minimum is None else f" of at least {minimum}"
