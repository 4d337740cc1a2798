from collections.abc import Callable

import numpy as np
import pytest

from lab.fits.judge_examples import LabelledSet, LabelledSummary
from lab.fits.reach_spelling import spelling_reach
from lab.fits.spelling_judge import (
    FIT,
    SpelledEvidence,
    SpelledExample,
    SpellingModel,
    fit_spelling,
    grams,
    spelled_evidence,
    spelled_examples,
)
from longform.errors import LongformError
from longform.records import Target
from longform.text.citations import Bullet
from tests.lab.fits.made_rows import made_rows

FERRY = "The ferry leaves at seven on 12 days."
LOCKERS = "Lockers cost ten dollars."


def made_examples(**sizes: int) -> list[SpelledExample]:
    """Labels that follow recall."""
    answers = ("none", "partial", "full")
    return [
        SpelledExample(*made.key, SpelledEvidence(0, made.recall, made.share, made.missing), answers[made.step], 0)
        for made in made_rows(**sizes)
    ]


EXAMPLES = made_examples()


def fit(examples: list[SpelledExample], left_out: tuple[str, ...] = ()) -> SpellingModel:
    return fit_spelling(examples, strength=1.0, left_out=left_out)


# ---------------------------------------------------------------- evidence


def test_grams_are_of_words_in_lower_case_without_marks() -> None:
    assert grams("- **To** be! [3][4]") == {" to ", "to b", "o be", " be "}


def test_evidence_of_two_insights_and_two_bullets_by_hand() -> None:
    """Words "ab cd" have the grams `_ab_ ab_c b_cd _cd_`, and "ab xy" shares one of its four with them."""
    first, second = spelled_evidence(["ab cd", "ab xy"], ["- ab cd [1]", "- uv"])
    nobody, mine, other = (np.exp(FIT.sharpness * fit) for fit in (FIT.nobody, 2.0, 0.5))
    assert first == (0, 1.0, pytest.approx(mine / (mine + other + nobody)), 0.0)
    assert second == (0, 0.25, pytest.approx(other / (mine + other + nobody)), 0.0)


def test_numbers_that_the_bullet_lacks_count() -> None:
    [same] = spelled_evidence([FERRY], [FERRY])
    [other] = spelled_evidence([FERRY], [FERRY.replace("12", "13")])
    assert (same.numbers_missing, other.numbers_missing) == (0.0, 0.5)


def test_summary_without_bullets_says_nothing() -> None:
    model = fit(EXAMPLES)
    evidence = spelled_evidence([FERRY, LOCKERS], [])
    assert model.scores(evidence).tolist() == [0.0, 0.0]
    assert model.readings(evidence) == [("none", None), ("none", None)]


# ---------------------------------------------------------------- fit


@pytest.mark.parametrize(
    ("left_out", "is_left_out"),
    [
        pytest.param(("h1",), lambda e: e.haystack_id == "h1", id="haystack"),
        pytest.param(("h0-q2",), lambda e: e.query_id == "h0-q2", id="query"),
    ],
)
def test_rows_of_a_left_out_group_never_reach_the_fit(
    left_out: tuple[str, ...], is_left_out: Callable[[SpelledExample], bool]
) -> None:
    poisoned = [e._replace(answer="full") if is_left_out(e) else e for e in EXAMPLES]
    assert fit(poisoned, left_out) == fit(EXAMPLES, left_out)
    assert fit(poisoned) != fit(EXAMPLES)


def test_cuts_give_the_answers_the_shares_of_the_labels() -> None:
    model = fit(EXAMPLES)
    answers = [answer for answer, _ in model.readings([e.evidence for e in EXAMPLES])]
    for answer in ("none", "partial", "full"):
        expected = sum(e.answer == answer for e in EXAMPLES)
        assert answers.count(answer) == pytest.approx(expected, abs=1)


def test_labels_of_one_kind_are_an_error() -> None:
    with pytest.raises(LongformError, match="expected examples of all labels"):
        fit([e for e in EXAMPLES if e.answer != "partial"])


# ---------------------------------------------------------------- reach


def labelled(name: str, haystack_id: str) -> LabelledSet:
    """Two queries of two insights. Summaries say all, a part, or nothing of the first one, and are labelled so."""
    queries = [f"{haystack_id}-q{place}" for place in range(2)]
    targets = {
        query: [
            Target(f"{query}-{place}", "insight", query, haystack_id, place, None, text)
            for place, text in enumerate((FERRY, LOCKERS))
        ]
        for query in queries
    }
    said = {"full": FERRY, "partial": "The ferry leaves on days.", "none": "Nothing of it."}
    summaries = [
        LabelledSummary(f"{query}-{answer}", query, haystack_id, "x", (Bullet(line, []),), (answer, None), (0, None))
        for query in queries
        for answer, line in said.items()
    ]
    return LabelledSet(name, targets, summaries)


def test_pairs_without_a_label_are_no_examples() -> None:
    examples = spelled_examples(labelled("a", "h0"))
    assert [(e.query_id, e.answer) for e in examples[:3]] == [
        ("h0-q0", "full"),
        ("h0-q0", "partial"),
        ("h0-q0", "none"),
    ]
    assert len(examples) == 6


def test_reach_says_of_each_figure_what_it_was_fitted_and_measured_on() -> None:
    first, second = labelled("GPT-4o's", "h0"), labelled("GPT-4o's", "h1")
    both = LabelledSet("GPT-4o's", {**first.targets, **second.targets}, [*first.summaries, *second.summaries])
    rows = spelling_reach(labelled("people's", "h0"), both, labelled("talks", "h2"))
    pearson = [(row.fitted_on, row.scored_on) for row in rows if row.measure == "judge by spelling: pearson"]
    assert pearson == [
        ("people's, without the query", "people's"),
        ("GPT-4o's, without the haystack", "people's"),
        ("GPT-4o's, without the haystack", "GPT-4o's labels, haystack h0"),
        ("GPT-4o's, without the haystack", "GPT-4o's labels, haystack h1"),
        ("people's", "talks"),
        ("GPT-4o's", "talks"),
    ]
    assert all(row.value > 0.9 for row in rows if row.measure == "judge by spelling: pearson")
    assert len(spelling_reach(labelled("people's", "h0"), both, None)) == 16
