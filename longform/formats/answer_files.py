"""
Answers in files as people keep them, as lines of JSON that `longform.formats.outputs` reads.

A table (.csv, .tsv) has the names of fields as its header; `documents` and `citations` are lists with `;` between. A
text (.md, .txt) is one answer: `SYSTEM/QUERY.md`, or `QUERY.md` in a folder that is named like the system.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath

from longform.formats.files import SourceFile
from longform.formats.table_rows import csv_records
from longform.formats.texts import ending_of, file_text

LINES, TABLES, TEXTS = (".jsonl",), (".csv", ".tsv"), (".md", ".txt")
ENDINGS = (*LINES, *TABLES, *TEXTS)
_NUMBERS = frozenset(
    ("budget_tokens", "input_tokens", "output_tokens", "cost_usd", "seconds", "elapsed_minutes", "repeat")
)
_LISTS = frozenset(("documents", "citations"))


class AnswerFile:
    """
    A table, or the text of one answer, whose lines are those of JSON Lines.

    Args:
        file: The table or text.
        place: Its path below a folder that has the system's name as its own, such as `rag/q1.md`.
    """

    def __init__(self, file: SourceFile, place: str) -> None:
        self.name, self.path = file.name, file.path
        self._file, self._place = file, PurePosixPath(place.removesuffix(".gz"))

    def read(self) -> bytes:
        return self._file.read()

    def identity(self) -> dict[str, str]:
        """Return the path in place of the name, since `rag/q1.md` and `agent/q1.md` are two answers."""
        return {**self._file.identity(), "name": self.path}

    def lines(self) -> Iterator[bytes]:
        """
        Yield a line of JSON an answer, at the number of the line where the table has it.

        Raises:
            InputError: The content is no UTF-8 or no table.
        """
        if ending_of(self.name) in TEXTS:
            text = file_text(self._file.read(), self.path)
            answer = {"query_id": self._place.stem, "system": self._place.parent.name, "text": text}
            yield json.dumps(answer).encode()
            return
        number = 0
        for record in csv_records(self._file.read(), self.path):
            at = int(record.label.removeprefix("line "))
            yield from [b"\n"] * (at - number - 1)
            number = at
            yield json.dumps({name: _value(name, str(cell)) for name, cell in record.content.items()}).encode()


def _value(name: str, cell: str) -> object:
    """Return a cell as JSON has its field; one that cannot be is left a text, so that its error shows it."""
    if name in _LISTS:
        parts = [part.strip() for part in cell.split(";") if part.strip()]
        return [int(part) if name == "citations" and part.isdecimal() else part for part in parts]
    if name in _NUMBERS:
        try:
            found = float(cell)
        except ValueError:
            return cell
        return int(found) if found.is_integer() else found
    return cell
