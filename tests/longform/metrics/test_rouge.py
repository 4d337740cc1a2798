"""ROUGE: answers of Google's `rouge_score` 0.1.2 with stemming, and what has no score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.metrics.measure import Facts, Measure
from longform.metrics.rouge import MEASURES, RELEASED, longest_common, rouge_l, rouge_n, rouge_words
from longform.records import Target

ROUGE_1, ROUGE_2, ROUGE_L = MEASURES


@pytest.mark.parametrize(
    ("summary", "reference", "known"),
    [
        pytest.param(
            "the cat was found under the bed",
            "the cat was under the bed",
            (0.923076923076923, 0.7272727272727272, 0.923076923076923),
            id="one word more",
        ),
        pytest.param(
            "The runners were running quickly, 3 times.",
            "A runner runs 3 times quickly.",
            (0.7692307692307692, 0.1818181818181818, 0.6153846153846153),
            id="stems",
        ),
        pytest.param("one two", "three four", (0, 0, 0), id="nothing shared"),
        pytest.param("", "three four", (0, 0, 0), id="empty"),
    ],
)
def test_known_answers(summary: str, reference: str, known: tuple[float, float, float]) -> None:
    own, wanted = rouge_words(summary), rouge_words(reference)

    assert (rouge_n(own, wanted, 1), rouge_n(own, wanted, 2), rouge_l(own, wanted)) == pytest.approx(known)


@given(st.text("ab c", max_size=12), st.text("ab c", max_size=12))
def test_the_longest_common_subsequence_is_that_of_the_plain_recursion(one: str, other: str) -> None:
    def plain(a: str, b: str) -> int:
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
        return table[-1][-1]

    assert longest_common(one, other) == plain(one, other)


@dataclass(frozen=True, eq=False)
class Texts:
    """A haystack of targets alone."""

    targets: Callable[[], list[Target]]


def facts(text: str | None, *references: str, failure: str | None = None) -> Facts:
    targets = [Target(f"r{i}", "reference", "q", "h", i, None, text) for i, text in enumerate(references)]
    others = [Target("i", "insight", "q", "h", 0, None, text or ""), Target("x", "reference", "p", "h", 0, None, "x y")]
    haystack: Any = Texts(lambda: [*targets, *others])
    return Facts(query_id="q", text=text, failure=failure, haystack=haystack)


def test_the_best_of_several_references_counts_and_citations_do_not() -> None:
    """An insight with the summary's own words, or another query's reference, would give more."""
    found = ROUGE_1.per_summary(facts("red blue [1, 2]", "green", "red green"))

    assert (found.total, found.n) == (0.5, 1)


def test_the_released_reading_counts_a_citation_as_words() -> None:
    """Four words, one of them among the two of the reference: 2 x 1 / (4 + 2)."""
    found = RELEASED[0].per_summary(facts("red blue [1, 2]", "red green"))

    assert (found.measure, found.total, found.n) == ("rouge_1_released", pytest.approx(1 / 3), 1)


@pytest.mark.parametrize("measure", [*MEASURES, *RELEASED])
def test_no_score_without_a_reference_or_a_text(measure: Measure) -> None:
    assert measure.per_summary(facts("red")).reason == "the query has no reference text"
    assert measure.per_summary(facts(None, "red", failure="length")).reason == "summary_failed: length"
    assert measure.per_summary(facts(None, "red", failure="length")).value is None
