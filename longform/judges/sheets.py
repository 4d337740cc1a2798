"""
Annotation sheets: pairs that people label in a spreadsheet, as CSV, out and back in.

A row is found again by its column `pair`, whatever a spreadsheet does to the order of rows and columns, the encoding,
the separator or the line ends. What a cell may say follows from the kind of judgement.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from longform.errors import UsageError
from longform.judges.kind import SheetKind
from longform.keys import content_key
from longform.metrics.verdict_means import LABEL_SEPARATOR, NO_LABEL, label_set
from longform.text.visible import plain_cell

PAIR, ANNOTATOR, NOTE = "pair", "annotator", "note"
_ANSWER, _LINK = "answer", "linked_unit"
_BETWEEN_LABELS = re.compile(r"[+,;\n]")
_SEPARATORS = (",", ";", "\t")
_LONGEST_CELL = sys.maxsize  # a summary may be longer than the 131,072 characters that `csv` allows


class SheetPair(NamedTuple):
    """A summary, or a unit of it, or a query with its example, that people label."""

    summary_id: str  # the id of the query, if its example is rated
    target_kind: str
    target_id: str
    unit_index: int | None  # from 0; None: the whole summary
    n_units: int  # units of the summary, that an answer may link
    shown: Mapping[str, str]  # column -> text that the annotator needs

    @property
    def key(self) -> str:
        """The content of `pair`; the letter keeps a spreadsheet from reading a number."""
        return f"p{content_key(self.summary_id, self.target_kind, self.target_id, self.unit_index)}"


class Filled(NamedTuple):
    """A row that came back."""

    pair: SheetPair
    annotator: str
    answer: str | None  # None: nothing was filled in
    linked_unit: int | None  # from 0; None: no unit
    note: str | None


def check_columns(kind: SheetKind) -> None:
    """
    Raises:
        UsageError: The kind names columns that a sheet does not have.
    """
    if unknown := set(kind.columns) - {_ANSWER, _LINK}:
        raise UsageError(f"{kind.task}: expected columns {_ANSWER} and {_LINK}, found {sorted(unknown)}")


def sheet(kind: SheetKind, pairs: Sequence[SheetPair], annotator: str) -> bytes:
    """Return the sheet of an annotator, with empty columns to fill; UTF-8 with the mark that spreadsheets need."""
    shown = list(dict.fromkeys(name for pair in pairs for name in pair.shown))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    writer.writerow([PAIR, ANNOTATOR, *shown, *kind.columns, NOTE])
    for pair in pairs:
        texts = [plain_cell(pair.shown.get(name, "")) for name in shown]
        writer.writerow([pair.key, annotator, *texts, *("" for _ in kind.columns), ""])
    return out.getvalue().encode("utf-8-sig")


def offered(kind: SheetKind) -> list[str]:
    """Return the answers that people may give, of which each is one word."""
    return [answer for answer in kind.counts if answer not in kind.judges_alone]


def guide(kind: SheetKind) -> str:
    """Say in words what to fill in."""
    lines = [
        f"Fill the columns {' and '.join(kind.columns)} of your sheet; leave a row empty that you cannot judge.",
        f"- {_ANSWER}: {_answers(kind)}",
    ]
    if kind.links:
        lines.append(f"- {_LINK}: the number of the line that says it, from 1; empty if no line does")
    note = "why you answer so, in a few words" if kind.is_justified else "what you want to remark, or nothing"
    lines.append(f"- {NOTE}: {note}")
    lines.append(f"Keep the columns {PAIR} and {ANNOTATOR} as they are. Sort and widen as you like.")
    return "\n".join([*lines, *(["", kind.explained] if kind.explained else [])]) + "\n"


def _answers(kind: SheetKind) -> str:
    if kind.labels:
        return (
            f"{NO_LABEL}, or all that apply of {', '.join(kind.labels)}, with {LABEL_SEPARATOR} or a comma between them"
        )
    *others, last = offered(kind)
    return f"{', '.join(others)} or {last}"


# ---------------------------------------------------------------- back in


def read_sheet(kind: SheetKind, content: bytes, name: str, pairs: Mapping[str, SheetPair]) -> list[Filled]:
    """
    Read a sheet as a spreadsheet saved it; rows may be missing.

    The file is UTF-8, UTF-16 or Windows-1252, its cells between commas, semicolons or tabs; *name* is for messages.
    *pairs* are all that may be labelled, by key.

    Raises:
        UsageError: A cell is not what it may be: the message names sheet, row, column, and what was expected.
    """
    head, *rows = _cells(content, name) or [[]]
    columns = [cell.strip().lower() for cell in head]
    needed = [PAIR, ANNOTATOR, *kind.columns, *([NOTE] if kind.is_justified else [])]
    if missing := [column for column in needed if column not in columns]:
        raise UsageError(f"{name}, row 1: expected the columns {', '.join(needed)}, found none called {missing[0]}")
    at = {column: columns.index(column) for column in (*needed, NOTE) if column in columns}
    found: list[Filled] = []
    seen: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = _Cells(name, number, {column: row[n].strip() if n < len(row) else "" for column, n in at.items()})
        one = _filled(kind, cells, pairs)
        first = seen.setdefault((one.pair.key, one.annotator), number)
        if first != number:
            raise cells.error(PAIR, f"each pair once, found that of row {first}")
        found.append(one)
    return found


class _Cells(NamedTuple):
    """The cells of one row, with the place of the row for messages; the row of the heads is 1."""

    sheet: str
    number: int
    text: Mapping[str, str]

    def error(self, column: str, expected: str) -> UsageError:
        return UsageError(f"{self.sheet}, row {self.number}, column {column}: expected {expected}")


def _filled(kind: SheetKind, cells: _Cells, pairs: Mapping[str, SheetPair]) -> Filled:
    key, annotator = cells.text[PAIR], cells.text[ANNOTATOR]
    pair = pairs.get(key)
    if pair is None:
        raise cells.error(PAIR, f"the key of a pair of these summaries, found {key!r}")
    if not annotator:
        raise cells.error(ANNOTATOR, "a name, found nothing")
    stated = cells.text[_ANSWER]
    answer = _answer(kind, stated)
    if stated and answer is None:
        raise cells.error(_ANSWER, f"{_answers(kind)}, found {stated!r}")
    if answer is not None and kind.is_justified and not cells.text[NOTE]:
        raise cells.error(NOTE, f"why {_ANSWER} is {answer}, in a few words; found nothing")
    link = _linked_unit(kind, cells, pair, answer) if kind.links else None
    return Filled(pair, annotator, answer, link, cells.text.get(NOTE) or None)


def _answer(kind: SheetKind, stated: str) -> str | None:
    if kind.labels:
        return label_set([part.strip() for part in _BETWEEN_LABELS.split(stated.casefold())], kind.labels)
    known = {answer.casefold(): answer for answer in offered(kind)}
    return known.get(stated.casefold()) or known.get(str(_whole_number(stated)))


def _linked_unit(kind: SheetKind, cells: _Cells, pair: SheetPair, answer: str | None) -> int | None:
    stated = cells.text[_LINK]
    if not stated:
        return None
    if answer is None:
        raise cells.error(_ANSWER, f"{_answers(kind)} beside {_LINK} {stated!r}, found nothing")
    if kind.counts[answer] == 0:
        raise cells.error(_LINK, f"nothing beside the answer {answer}, found {stated!r}")
    number = _whole_number(stated)
    if number is None or not 1 <= number <= pair.n_units:
        raise cells.error(_LINK, f"the number of a line, from 1 to {pair.n_units}, or nothing; found {stated!r}")
    return number - 1


def _whole_number(text: str) -> int | None:
    """Read a number as spreadsheets write it: 2, 2.0 or 2,0."""
    whole, _, rest = text.replace(",", ".").partition(".")
    return int(whole) if whole.isascii() and whole.isdigit() and not rest.strip("0") else None


def _cells(content: bytes, name: str) -> list[list[str]]:
    text = _decoded(content)
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        read = [list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)) for separator in _SEPARATORS]
    except csv.Error as error:
        raise UsageError(f"{name}: expected a table of CSV: {error}") from error
    finally:
        csv.field_size_limit(before)
    return max(read, key=lambda rows: len(rows[0]) if rows else 0)


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")  # texts are not read back, keys and answers are ASCII
