"""
Compare the results of one run with those of another, as before and after a change of the code.

    python -m tests.compare_results BEFORE AFTER [--tolerance 1e-9]

BEFORE and AFTER are run folders or `results.json` files. Every value of BEFORE must stand in AFTER; what only AFTER has
is counted and is no difference. Times, places and the record of the run are not compared.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

IGNORED = frozenset({"run", "url", "minutes", "seconds", "ledger", "missing_ledgers"})
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


def _numbers(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(_numbers(part) for name, part in value.items() if name not in IGNORED)
    if isinstance(value, list):
        return sum(map(_numbers, value))
    return int(isinstance(value, int | float) and not isinstance(value, bool))


def _read(place: str) -> Any:
    path = Path(place)
    return json.loads((path / "results.json" if path.is_dir() else path).read_text())


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
