"""
Tests that take a third of a second or more; `make test-quick` leaves them out, and all of tests/jobs.

They stand in `long_tests.txt`, as they were measured:

    pytest -m "not slow" --durations=0 > durations.txt && python -m tests.long_tests durations.txt
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")
_LEAST_S = 0.3  # of all cases of a test together
_LINE = re.compile(r"\s*([\d.]+)s (?:call|setup|teardown)\s+(tests/[^\s\[]+)")


def long_tests() -> list[str]:
    """Return `path::name` of each."""
    return LIST.read_text().split()


def measured(durations: Iterable[str]) -> list[str]:
    """Return the tests whose *durations*, lines of pytest, sum to a third of a second, without those of tests/jobs."""
    seconds: Counter[str] = Counter()
    for line in durations:
        if (found := _LINE.match(line)) and not found[2].startswith("tests/jobs/"):
            seconds[found[2]] += float(found[1])  # type: ignore[assignment]
    return sorted(name for name, taken in seconds.items() if taken >= _LEAST_S)


if __name__ == "__main__":
    LIST.write_text("\n".join(measured(Path(sys.argv[1]).read_text().splitlines())) + "\n")
