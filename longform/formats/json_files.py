"""Files of JSON and of JSON Lines, as records with their places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from longform.errors import InputError
from longform.formats.fields import ROOT, Record, describe, short

Lines = Iterable[bytes | str]
"""A file's lines, split at line feeds only: texts may hold the other characters that `str.splitlines` splits at."""

LINE = "(line)"
FILE = "(file)"
_BYTE_ORDER_MARK = "\ufeff"


def json_lines(lines: Lines, file: str) -> Iterator[Record]:
    """
    Yield the objects of a JSON Lines file, one a line, counted from 1; blank lines are skipped.

    Raises:
        InputError: A line is not UTF-8, not JSON, or not an object.
    """
    for number, line in enumerate(lines, start=1):
        if (record := json_line(line, number, file)) is not None:
            yield record


def json_line(line: bytes | str, number: int, file: str) -> Record | None:
    """
    Return the object of line *number*, from 1, of a JSON Lines file; None if the line is blank.

    Raises:
        InputError: The line is not UTF-8, not JSON, or not an object.
    """
    label = f"line {number}"
    text = _decoded(line, file=file, label=label, field=LINE)
    text = text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text
    if not text.strip():
        return None
    return _object(_parsed(text, file=file, label=label, field=LINE), file=file, label=label, field=LINE)


_MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def no_json_lines(line: bytes | str) -> InputError | None:
    """
    Return the problem of a whole file by its first line; None if the file may be JSON Lines.

    It is told once in place of an error for each line: the file is UTF-16, one list, or a spreadsheet's export.
    """
    expected, found = "JSON Lines in UTF-8, an object a line", None
    if isinstance(line, bytes) and line.startswith(_MARKS_OF_UTF_16):
        found = "UTF-16; save the file as UTF-8"
    else:
        text = (line if isinstance(line, str) else line.decode(errors="replace")).removeprefix(_BYTE_ORDER_MARK).strip()
        if text.startswith("["):
            found = (
                "a list; write each of its objects on a line of its own, without the brackets and commas of the list"
            )
        elif text.startswith('"{""'):
            found = "a spreadsheet's export, with quotes around each line and doubled inside; undo the doubling"
    return None if found is None else InputError(file="", record="line 1", field=FILE, expected=expected, found=found)


def json_object(content: bytes | str, file: str) -> Record:
    """Return the object that a whole JSON file holds, labelled `(root)`."""
    return _object(_whole(content, file), file=file, label=ROOT, field=FILE)


def json_objects(content: bytes | str, file: str) -> list[Record]:
    """Return the objects of the list that a whole JSON file holds, labelled `(file)[0]`, `(file)[1]` and so on."""
    whole = _whole(content, file)
    if not isinstance(whole, list):
        raise InputError(file=file, record=ROOT, field=FILE, expected="a list", found=describe(whole))
    return [
        _object(value, file=file, label=ROOT, field=f"{FILE}[{index}]")._replace(label=f"{FILE}[{index}]")
        for index, value in enumerate(whole)
    ]


def text_lines(lines: Lines, file: str) -> Iterator[tuple[int, str]]:
    """
    Yield (number from 1, text) of each line; a byte order mark before the first is dropped.

    Raises:
        InputError: A line is not UTF-8.
    """
    for number, line in enumerate(lines, start=1):
        text = _decoded(line, file=file, label=f"line {number}", field=LINE)
        yield number, text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text


def _object(value: JsonValue, *, file: str, label: str, field: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(file=file, record=label, field=field, expected="an object", found=describe(value))
    return Record(value, file, label)


def _whole(content: bytes | str, file: str) -> JsonValue:
    text = _decoded(content, file=file, label=ROOT, field=FILE).removeprefix(_BYTE_ORDER_MARK)
    return _parsed(text, file=file, label=ROOT, field=FILE)


def _decoded(content: bytes | str, *, file: str, label: str, field: str) -> str:
    if isinstance(content, str):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        found = f"byte 0x{content[error.start]:02x} at {error.start}, which is not"
        raise InputError(file=file, record=label, field=field, expected="text in UTF-8", found=found) from error


def _parsed(text: str, *, file: str, label: str, field: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        found = f"{short(repr(text.strip()))} ({error.msg}, line {error.lineno} column {error.colno})"
    except (ValueError, RecursionError) as error:
        found = f"{short(repr(text.strip()))} ({error})"
    else:
        return value
    raise InputError(file=file, record=label, field=field, expected="JSON", found=found)


def _distinct(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        msg = f"the field {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        raise ValueError(msg)
    return content
