"""The list of long tests names tests that exist, and is made of what pytest prints."""

from __future__ import annotations

import re

from tests.long_tests import long_tests, measured
from tests.places import ROOT


def test_each_long_test_exists() -> None:
    gone = []
    for name in long_tests():
        path, _, function = name.partition("::")
        file = ROOT / path
        if not file.exists() or not re.search(rf"def {function.rpartition('::')[2]}\(", file.read_text()):
            gone.append(name)
    assert gone == [], "renamed or moved: correct tests/long_tests.txt"


def test_cases_of_a_test_are_summed() -> None:
    durations = [
        "0.20s call     tests/a/test_a.py::test_one[x]",
        "0.15s setup    tests/a/test_a.py::test_one[y]",
        "0.29s call     tests/a/test_a.py::test_two",
        "9.00s call     tests/jobs/test_b.py::test_three",
        "===== 4 passed in 9.64s =====",
    ]
    assert measured(durations) == ["tests/a/test_a.py::test_one"]
