"""
Finds the files of answers that a command names, and reads them as lines of JSON (`longform.formats.outputs`).

JSON Lines stay as they are. A table (.csv, .tsv) has the names of fields as its header; `documents` and `citations` are
lists with `;` between. A text (.md, .txt) is one answer: `SYSTEM/QUERY.md`, or `QUERY.md` in a folder that is named
like the system.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from jobs.files.located_file import LocatedFile, files_under
from longform.errors import UsageError
from longform.formats.files import SourceFile
from longform.formats.outputs import OutputLine
from longform.formats.table_rows import csv_records, listed
from longform.formats.texts import ending_of, file_text
from longform.text.citations import bounded

LINES, TABLES, TEXTS = (".jsonl",), (".csv", ".tsv"), (".md", ".txt")
ENDINGS = (*LINES, *TABLES, *TEXTS)
_NUMBERS = frozenset(
    ("budget_tokens", "input_tokens", "output_tokens", "cost_usd", "seconds", "elapsed_minutes", "repeat")
)


def output_files(urls: Sequence[str]) -> list[SourceFile]:
    """
    Return the files of answers that are named; of a folder, those of JSON Lines and tables, or else the texts.

    Raises:
        UsageError: One is not there, is named twice, or texts and other files lie in one folder.
    """
    found: list[tuple[LocatedFile, str]] = []
    for url in urls:
        under = files_under(url)
        names = [*under] if len(under) == 1 else _answers(under)
        if not names:
            raise UsageError(f"{url}: expected a file of answers ({', '.join(ENDINGS)}), found none")
        _check_one_kind(url, names)
        folder = Path(url).absolute().name if "://" not in url else url.rstrip("/").rsplit("/", 1)[-1]
        alone = next(iter(under.values())).url == url
        found += [(under[name], _of_one(url) if alone else f"{folder}/{name}") for name in names]
    located = [file.url for file, _ in found]
    if twice := sorted({url for url in located if located.count(url) > 1}):
        raise UsageError(f"expected each file of answers once, found {', '.join(twice)} twice")
    paths = [file.path for file, _ in found]
    apart = [(LocatedFile(one.url, one.url) if paths.count(one.path) > 1 else one, place) for one, place in found]
    return [
        file if ending_of(file.name) not in ENDINGS[len(LINES) :] else AnswerFile(file, place) for file, place in apart
    ]


def _of_one(url: str) -> str:
    """Return the place of a text that is named itself: its folder is its system."""
    return str(Path(url).absolute()) if "://" not in url else url


def _answers(under: Mapping[str, LocatedFile]) -> list[str]:
    """Return the names of JSON Lines, or else of tables and texts, without hidden ones."""
    shown = [name for name in under if not any(part.startswith(".") for part in name.split("/"))]
    lines = [name for name in shown if ending_of(name) in LINES]
    return lines or [name for name in shown if ending_of(name) in ENDINGS]


def _check_one_kind(url: str, names: Sequence[str]) -> None:
    texts = [name for name in names if ending_of(name) in TEXTS]
    if texts and len(texts) < len(names):
        other = next(name for name in names if name not in texts)
        raise UsageError(f"{url}: expected texts or tables of answers, found both ({texts[0]}, {other}); part them")


class AnswerFile:
    """
    A table, or the text of one answer, whose lines are those of JSON Lines.

    *place* is the path below a folder that has the system's name as its own, such as `rag/q1.md`.
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
        """Yield a line of JSON an answer, at the number of the line where the table has it."""
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
            yield json.dumps(_answer(record.content)).encode()


def _answer(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row as a line of answers: names of fields in small letters, and an answer without words as one."""
    plain = {name: re.sub(r"[\s-]+", "_", name).lower() for name in row}
    fields = {plain[name] if plain[name] in OutputLine.model_fields else name: str(row[name]) for name in row}
    found = {name: _value(name, cell) for name, cell in fields.items() if cell}
    return found if {"text", "bullets", "failure"} & {*found} or "text" not in fields else found | {"text": ""}


def _value(name: str, cell: str) -> object:
    """Return a cell as JSON has its field; one that cannot be is left a text, so that its error shows it."""
    if name in ("documents", "citations"):
        parts = listed(cell, lambda _: False)
        whole = [bounded(one) if isinstance(one, str) and one.isdecimal() else one for one in parts]
        return whole if name == "citations" else parts
    if name in _NUMBERS:
        try:
            found = float(cell)
        except ValueError:
            return cell
        return int(found) if found.is_integer() else found
    return cell
