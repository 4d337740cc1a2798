"""
Compare the results of one run with those of another, as before and after a change of the code.

    python -m tests.compare_results BEFORE AFTER [--tolerance 1e-9]

BEFORE and AFTER are run folders or `results.json` files. Every value of BEFORE must stand in AFTER; what only AFTER has
is counted and is no difference. Of results with tables these, cards and sizes are compared: what older versions wrote
beside them is the same once more. Times, places and the record of the run are not compared.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple

IGNORED = frozenset({"run", "url", "minutes", "seconds", "ledger", "missing_ledgers", "reused"})
"""Names of places, of times, and of what depends on which calls are in flight together."""
NAMES = (
    "dataset",
    "judge",
    "second",
    "setting",
    "system",
    "summarizer",
    "measure",
    "minutes",
    "stage",
    "model",
    "kind",
)
"""The fields by which a row of BEFORE is found in AFTER."""


def tables_of(document: Any) -> Any:
    """Return what is compared of a JSON document: its tables, cards and sizes; if it has no tables, all of it."""
    if not isinstance(document, Mapping):
        return document
    if "tables" not in document:
        return {name: tables_of(value) for name, value in document.items()}
    run = document["run"] if isinstance(document.get("run"), Mapping) else {}
    sizes = {name: run[name] for name in ("size", "clusters") if name in run}
    return {**{name: document[name] for name in ("tables", "cards") if name in document}, **sizes}


def differences(before: Any, after: Any, *, tolerance: float, where: str = "") -> Iterator[str]:
    """Yield a line for each value of *before* that *after* lacks or has otherwise."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in [name for name in before if name not in IGNORED]:
            if name not in after:
                yield f"{where}.{name}: is gone"
            else:
                yield from differences(before[name], after[name], tolerance=tolerance, where=f"{where}.{name}")
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, tolerance, where)
    elif not _equal(before, after, tolerance):
        yield f"{where}: {before!r} became {after!r}"


def _of_lists(before: list[Any], after: list[Any], tolerance: float, where: str) -> Iterator[str]:
    fields = [field for field in NAMES if any(isinstance(row, Mapping) and field in row for row in before)]
    known, named = _by_name(before, fields), _by_name(after, fields)
    if known is None or named is None:
        if len(before) != len(after):
            yield f"{where}: {len(before)} entries became {len(after)}"
        for place, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from differences(one, other, tolerance=tolerance, where=f"{where}[{place}]")
        return
    for name, row in known.items():
        place = f"{where}[{', '.join(str(part) for part in name if part is not None)}]"
        if name in named:
            yield from differences(row, named[name], tolerance=tolerance, where=place)
        else:
            yield f"{place}: is gone"


def _by_name(rows: Sequence[Any], fields: Sequence[str]) -> dict[tuple[Any, ...], Mapping[str, Any]] | None:
    """Rows by their *fields*; None if they are no rows, or these do not tell them apart."""
    if not all(isinstance(row, Mapping) for row in rows):
        return None
    found = {tuple(None if isinstance(row.get(name), dict) else row.get(name) for name in fields): row for row in rows}
    return found if len(found) == len(rows) else None


def _equal(before: Any, after: Any, tolerance: float) -> bool:
    if isinstance(before, float) and isinstance(after, int | float):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
    return bool(before == after)


class Number(NamedTuple):
    """A number's address: the names that lead to its table, the row by its own names, the column in the row."""

    document: str
    name: str
    key: tuple[str, ...]
    column: str


TOP = Number("", "", (), "")


def numbers(value: Any, where: Number = TOP) -> dict[Number, float]:
    """Return every number below *value*; rows of a list are found by the fields of NAMES, or else all short texts."""
    if isinstance(value, Mapping):
        parts = [(where._replace(column=_joined(where.column, name)), value[name]) for name in value]
        found = [numbers(part, place) for place, part in parts if place.column.rpartition(".")[2] not in IGNORED]
        return {number: one for some in found for number, one in some.items()}
    if isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
        name = _joined(where.name, where.column)
        places = [where._replace(name=name, key=(*where.key, *key), column="") for key in _keys(value)]
        return {n: one for place, row in zip(places, value, strict=True) for n, one in numbers(row, place).items()}
    if isinstance(value, list):
        each = [numbers(part, where._replace(column=f"{where.column}[{n}]")) for n, part in enumerate(value)]
        return {number: one for some in each for number, one in some.items()}
    return {where: float(value)} if isinstance(value, int | float) and not isinstance(value, bool) else {}


def numbers_apart(
    before: Mapping[Number, float],
    after: Mapping[Number, float],
    *,
    tolerance: float,
    names: Mapping[str, str | None] | None = None,
) -> Iterator[str]:
    """
    Yield a line for each number of *before* that *after* lacks or has otherwise.

    Args:
        names: A name that a step moved, or a name and a column joined by a stop -> the new one; None: it is gone.
    """
    moved = names or {}
    for number, value in before.items():
        whole = _joined(number.name, number.column)
        to = moved[whole] if whole in moved else moved.get(number.name, number.name)
        if to is None:
            continue
        name, _, column = to.rpartition(".") if whole in moved else (to, "", number.column)
        there = number._replace(name=name, column=column)
        if there not in after:
            yield f"{number}: {value} is gone"
        elif not _equal(value, after[there], tolerance):
            yield f"{number}: {value!r} became {after[there]!r}"


def _joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return what tells the *rows* apart; equal ones are numbered."""
    named = {name for row in rows for name, value in row.items() if isinstance(value, str)}
    texts = sorted(name for name in named if all(_tells(str(row.get(name))) for row in rows))
    for fields in (NAMES, texts):
        keys = [
            tuple(str(row[name]) for name in fields if not isinstance(row.get(name), dict | NoneType)) for row in rows
        ]
        if len(set(keys)) == len(keys):
            return keys
    seen: Counter[tuple[str, ...]] = Counter()
    numbered = []
    for key in keys:
        seen[key] += 1
        numbered.append((*key, str(seen[key])))
    return numbered


def _tells(text: str) -> bool:
    """Return true if *text* may name a row: it is short, and no place, as each run has its own."""
    return len(text) < 100 and not text.startswith(("/", "s3://"))


def _numbers(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(_numbers(part) for name, part in value.items() if name not in IGNORED)
    if isinstance(value, list):
        return sum(map(_numbers, value))
    return int(isinstance(value, int | float) and not isinstance(value, bool))


def _read(place: str) -> Any:
    path = Path(place)
    return tables_of(json.loads((path / "results.json" if path.is_dir() else path).read_text()))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the results of two runs.")
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--tolerance", type=float, default=0.0)
    given = parser.parse_args(argv)
    before, after = _read(given.before), _read(given.after)
    found = list(differences(before, after, tolerance=given.tolerance))
    parts = Counter(line.split("[")[0] for line in found)
    print("\n".join(found[:40]))
    print(f"{_numbers(before):,} numbers before, {_numbers(after):,} after, {len(found):,} differences {dict(parts)}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
