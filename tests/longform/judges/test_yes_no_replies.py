from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.call import TokenLogprobs
from longform.chat.first_word import stated_word, yes_probability
from longform.judges.kind import Group
from longform.judges.kinds.key_point import KEY_POINT
from longform.judges.kinds.support import SUPPORT
from longform.judges.replies import CONTRADICTS, UNREADABLE


@pytest.mark.parametrize(
    ("reply", "ours", "release"),
    [
        pytest.param("<think>\nNo, wait.\n</think>\n\nYes, it does.", "supported", "supported", id="after-thinking"),
        pytest.param("It says no such thing.</think>No.", "unsupported", "unsupported", id="after-a-lone-mark"),
        pytest.param("Answer: Yes", "supported", "supported", id="named"),
        pytest.param('**Final answer:** "no"', "unsupported", "unsupported", id="named-and-marked-up"),
        pytest.param('{"answer": "yes"}', "supported", "supported", id="in-json"),
        pytest.param("The year is stated.\n\n**Yes.**\n", "supported", "supported", id="last-line"),
        pytest.param("The answer is no.", "unsupported", "unsupported", id="in-a-sentence"),
        ("Yes. The document says so.", "supported", "supported"),
        ("No, it is left open.", "unsupported", "unsupported"),
        ("yes", "supported", "supported"),
        ("NO", "unsupported", "unsupported"),
        pytest.param("**Yes.** It says so.", "supported", "supported", id="marked-up"),
        pytest.param('\n"No." The year differs.', "unsupported", "unsupported", id="quoted"),
        pytest.param("I am not sure.", None, "unsupported", id="no-inside-not"),
        pytest.param("I do not know.", None, "unsupported", id="no-inside-know"),
        pytest.param("The eyes have it", None, "supported", id="yes-inside-eyes"),
        pytest.param("Yesterday it was said.", None, "supported", id="yes-inside-yesterday"),
        pytest.param("Nothing says so.", None, "unsupported", id="no-inside-nothing"),
        pytest.param("The answer is no, yes?", None, "supported", id="yes-goes-before-no"),
        pytest.param("No. The eyes have it.", "unsupported", "unsupported", id="how-it-starts-goes-first"),
        pytest.param("Yes or no? Hard to tell.", None, "supported", id="both-on-offer"),
        pytest.param("Yes/No", None, "supported", id="both-with-a-stroke"),
        pytest.param("No-one can tell.", None, "unsupported", id="no-one"),
        pytest.param("It is stated.", None, None, id="neither"),
        pytest.param("", None, None, id="nothing"),
    ],
)
def test_what_a_reply_says_by_both_readings(reply: str, ours: str | None, release: str | None) -> None:
    read = [SUPPORT.read(reply, None, Group("d", ("A document.",), ()), fidelity) for fidelity in ("ours", "release")]
    assert [(one.answer, one.failure) for one in read] == [
        (answer, None if answer else UNREADABLE) for answer in (ours, release)
    ]


def test_two_answers_are_none_and_their_contradiction_is_named() -> None:
    read = SUPPORT.read("Yes, at first sight.\n\nFinal answer: no", None, Group("d", ("A document.",), ()), "ours")
    assert (read.answer, read.failure) == (None, CONTRADICTS)


@given(st.text())
def test_ours_never_answers_where_the_release_cannot(reply: str) -> None:
    if stated_word(reply, fidelity="release") is None:
        assert stated_word(reply) is None


def token(text: str, *top: tuple[str, float]) -> TokenLogprobs:
    return TokenLogprobs(text, log(dict(top).get(text, 0.01)), tuple((word, log(p)) for word, p in top))


def test_all_ways_to_write_a_word_count_together() -> None:
    first = token("Yes", ("Yes", 0.5), (" yes", 0.2), ("No", 0.1), ("no.", 0.05), ("YES", 0.05), ("The", 0.1))
    assert yes_probability([first]) == pytest.approx(0.75 / 0.9)


def test_marks_before_the_first_word_are_passed_over() -> None:
    marks = token("**", ("**", 0.9), ("Yes", 0.1))
    assert yes_probability(
        [marks, token("No", ("No", 0.6), ("Yes", 0.2)), token("Yes", ("Yes", 1.0))]
    ) == pytest.approx(0.25)


def test_the_answer_s_own_place_counts_wherever_it_stands() -> None:
    """Reasoning begins with other words, and the release takes the first one."""
    before = [token(text, (text, 1.0)) for text in ("<think>", "No", " way", "</think>", "Answer", ":")]
    tokens = [*before, token(" Yes", (" Yes", 0.6), (" No", 0.2))]
    assert yes_probability(tokens) == pytest.approx(0.75)
    assert yes_probability(tokens, fidelity="release") is None


def test_a_token_that_is_not_among_its_own_alternatives_counts() -> None:
    assert yes_probability([TokenLogprobs("Yes", log(0.3), (("No", log(0.1)),))]) == pytest.approx(0.75)


def test_a_token_among_its_own_alternatives_counts_once() -> None:
    assert yes_probability([token("Yes", ("Yes", 0.3), ("No", 0.3))]) == pytest.approx(0.5)


@pytest.mark.parametrize("logprobs", [None, (), (token(".", (".", 1.0)),), (token("The", ("The", 0.9), ("A", 0.1)),)])
def test_without_either_word_it_is_unknown(logprobs: tuple[TokenLogprobs, ...] | None) -> None:
    assert yes_probability(logprobs) is None


@given(st.floats(-30, 0), st.floats(-30, 0))
def test_it_is_the_share_of_yes(yes: float, no: float) -> None:
    found = yes_probability([TokenLogprobs("Yes", yes, (("Yes", yes), ("No", no)))])
    assert found == pytest.approx(exp(yes) / (exp(yes) + exp(no)))


@given(number=st.floats(0, 1), bounds=st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted))
def test_between_two_bounds_a_judge_of_support_is_unsure_and_its_number_stays(
    number: float, bounds: list[float]
) -> None:
    low, high = bounds
    verdict = SUPPORT.by_number(number, bounds)
    expected = "supported" if number > high else "unsure" if number > low else "unsupported"
    assert (verdict.answer, SUPPORT.number(verdict.answer, verdict.probability)) == (expected, number)
    one_bound = SUPPORT.by_number(number, [high]).answer
    assert one_bound == ("supported" if number > high else "unsupported")


def test_a_kind_without_a_word_for_unsure_has_the_middle_of_two_bounds_as_its_one() -> None:
    assert [KEY_POINT.by_number(number, (0.4, 0.6)).answer for number in (0.49, 0.51)] == ["not_entailed", "entailed"]
