"""Files of JSON and of JSON Lines, as records with their places."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from longform.errors import InputError
from longform.formats.faults import Faults
from longform.formats.fields import ROOT, Record, describe, short

Lines = Iterable[bytes | str]
"""A file's lines, split at line feeds only: texts may hold the other characters that `str.splitlines` splits at."""

LINE = "(line)"
FILE = "(file)"
RECODE = "save it as UTF-8, as by: iconv -f cp1252 -t utf-8 OLD > NEW"
_BYTE_ORDER_MARK = "\ufeff"


def json_lines(lines: Lines, file: str, faults: Faults | None = None) -> Iterator[Record]:
    """
    Yield the objects of a JSON Lines file, one a line, counted from 1; blank lines are skipped.

    Args:
        lines: The lines of the file, with their ends.
        file: The file's name, for errors.
        faults: Collects the errors of lines; None: the first one is raised.

    Raises:
        InputError: A line is not UTF-8, not JSON, or not an object; or the whole file is no JSON Lines.
    """
    for number, line in enumerate(lines, start=1):
        if number == 1 and (wrong := no_json_lines(line, file)) is not None:
            raise wrong
        try:
            record = json_line(line, number, file)
        except InputError as error:
            if faults is None:
                raise
            faults.add(error)
        else:
            if record is not None:
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


def no_json_lines(line: bytes | str, file: str = "") -> InputError | None:
    """
    Return the problem of a whole file by its first line; None if the file may be JSON Lines.

    It is told once in place of an error for each line: the file is UTF-16, one list, or a spreadsheet's export.
    """
    expected, found = "JSON Lines in UTF-8, an object a line", None
    if isinstance(line, bytes) and (line.startswith(_MARKS_OF_UTF_16) or line[1:2] == b"\0"):
        found = "UTF-16; save the file as UTF-8"
    else:
        text = (line if isinstance(line, str) else line.decode(errors="replace")).removeprefix(_BYTE_ORDER_MARK).strip()
        if text.startswith("["):
            found = (
                "a list; write each of its objects on a line of its own, without the brackets and commas of the list"
            )
        elif text.startswith('"{""'):
            found = "a spreadsheet's export, with quotes around each line and doubled inside; undo the doubling"
    return None if found is None else InputError(file=file, record="line 1", field=FILE, expected=expected, found=found)


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


def text_lines(lines: Lines, file: str, faults: Faults | None = None) -> Iterator[tuple[int, str]]:
    """
    Yield (number from 1, text) of each line; a byte order mark before the first is dropped.

    Args:
        lines: The lines of the file, with their ends.
        file: The file's name, for errors.
        faults: Collects the errors of lines; None: the first one is raised.

    Raises:
        InputError: A line is not UTF-8.
    """
    for number, line in enumerate(lines, start=1):
        try:
            text = _decoded(line, file=file, label=f"line {number}", field=LINE)
        except InputError as error:
            if faults is None:
                raise
            faults.add(error)
        else:
            yield number, text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text


def _object(value: JsonValue, *, file: str, label: str, field: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(file=file, record=label, field=field, expected="an object", found=describe(value))
    return Record(value, file, label)


def _whole(content: bytes | str, file: str) -> JsonValue:
    text = _decoded(content, file=file, label=ROOT, field=FILE).removeprefix(_BYTE_ORDER_MARK)
    return _parsed(text, file=file, label=ROOT, field=FILE)


def _decoded(content: bytes | str, *, file: str, label: str, field: str) -> str:
    text = content if isinstance(content, str) else content.decode(errors="surrogateescape")
    if (found := not_text(text)) is None or isinstance(content, str):
        return text
    raise InputError(file=file, record=label, field=field, expected="text in UTF-8", found=found)


_NOT_TEXT = re.compile("[\0\udc80-\udcff]")


def not_text(text: str) -> str | None:
    """Describe the first NUL or byte that is not UTF-8 of a text, decoded with `surrogateescape`; None: it has none."""
    if (wrong := _NOT_TEXT.search(text)) is None:
        return None
    if wrong[0] == "\0":
        return f"a NUL byte at {wrong.start()}"
    at = len(text[: wrong.start()].encode(errors="surrogateescape"))
    return f"byte 0x{ord(wrong[0]) & 0xFF:02x} at {at}, which is not; if it is Windows' cp1252: {RECODE}"


def _parsed(text: str, *, file: str, label: str, field: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        why = f"{error.msg}, line {error.lineno} column {error.colno}"
    except (RecursionError, ValueError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
    else:
        return value
    found = f"{short(repr(text.strip()))} ({why})"
    raise InputError(file=file, record=label, field=field, expected="JSON", found=found)


def _distinct(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        msg = f"the field {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        raise ValueError(msg)
    return content
