"""Citations by a support judge: which documents a bullet cites, and what a missing verdict may not decide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.repair.twins import HOWS, Cited, Held, Support, counts, judged_citations, judged_text
from longform.text.citations import bullets

NUMBERS = st.one_of(st.none(), st.floats(0, 1))
SUPPORT = st.dictionaries(st.integers(1, 9), NUMBERS, max_size=6)


def held(numbers: dict[int, float | None]) -> Support:
    """Return the verdicts of a judge whose cut is 0.5."""
    return {number: None if value is None else Held(value >= 0.5, value) for number, value in numbers.items()}


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        pytest.param({3: 0.9, 1: 0.5, 2: 0.49}, Cited((1, 3), "supported"), id="at-or-above"),
        pytest.param({1: 0.2, 2: 0.4, 3: 0.3}, Cited((2,), "best"), id="best-when-none"),
        pytest.param({5: 0.4, 2: 0.4, 3: 0.3}, Cited((2,), "best"), id="first-of-equals"),
        pytest.param({1: 0.0, 2: 0.0}, Cited((), "unsupported"), id="no-to-all"),
        pytest.param({1: 0.9, 2: None}, Cited((1,), "incomplete"), id="known-ones-stand"),
        pytest.param({1: 0.4, 2: None}, Cited(None, "undecided"), id="missing-could-be-best"),
        pytest.param({1: 0.0, 2: None}, Cited(None, "undecided"), id="missing-could-support"),
        pytest.param({1: None, 2: None}, Cited(None, "unjudged"), id="all-missing"),
        pytest.param({}, Cited(None, "unjudged"), id="never-asked"),
    ],
)
def test_bullet_cites_what_supports_it(support: dict[int, float | None], expected: Cited) -> None:
    assert judged_citations(held(support)) == expected


def test_the_answer_decides_whatever_the_number() -> None:
    assert judged_citations({1: Held(True, 0.2), 2: Held(False, 0.6)}) == Cited((1,), "supported")


@given(SUPPORT)
def test_a_missing_verdict_is_never_cited_and_never_read_as_a_number(support: dict[int, float | None]) -> None:
    cited = judged_citations(held(support))
    without = judged_citations(held({n: value for n, value in support.items() if value is not None}))

    assert all(support[number] is not None for number in cited.numbers or ())
    assert cited.numbers in (without.numbers, None)


TEXT = "Two things:\n- The bridge costs 5 million [3].\n- The library opens [1, 2]\n- Nobody knows [2]\n[1][2]"


def test_text_cites_by_verdicts_and_keeps_what_has_none() -> None:
    numbers = {0: {1: 0.9}, 1: {1: 0.8, 2: 0.6, 3: 0.1}, 2: {1: 0.1, 2: 0.3}, 4: {3: 0.9}}
    found = judged_text(TEXT, {unit: held(of) for unit, of in numbers.items()})

    assert found.text.split("\n") == [
        "Two things:",
        "- The bridge costs 5 million. [1][2]",
        "- The library opens [2]",
        "- Nobody knows [2]",
        "[1][2]",
    ]
    assert found.hows == ["no_statement", "supported", "best", "unjudged", "no_statement"]


@given(st.text(alphabet="ab [],12:\n- ", max_size=40), SUPPORT)
def test_no_line_comes_or_goes(text: str, support: dict[int, float | None]) -> None:
    """A verdict names a bullet by its place."""
    found = judged_text(text, dict.fromkeys(range(9), held(support)))

    assert len(bullets(found.text)) == len(bullets(text)) == len(found.hows)


def test_counts_name_every_way_also_those_that_did_not_happen() -> None:
    assert counts(["best", "unjudged", "best"]) == dict.fromkeys(HOWS, 0) | {"best": 2, "unjudged": 1}
