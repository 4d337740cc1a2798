import pytest

from longform.judges.kind import Group, Verdict, in_place, open_groups
from longform.judges.kinds.support import NO_SENTENCE, SUPPORT

GROUPS = [
    Group("a", ("Text A.",), ("s1", "s2", "s1", " ")),
    Group("empty", (" \n",), ("s1", "")),
    Group("a", ("Text A.",), ("s3", "s2")),
    Group("none", ("Text B.",), ()),
]


def test_every_cell_is_asked_about_once_and_settled_ones_never() -> None:
    assert open_groups(SUPPORT, GROUPS) == [Group("a", ("Text A.",), ("s1", "s2", "s3"))]


def test_verdicts_stand_in_their_places() -> None:
    judged = [[Verdict("supported", i / 10) for i in (1, 2, 3)]]
    found = in_place(SUPPORT, GROUPS, open_groups(SUPPORT, GROUPS), judged)
    numbers = [[SUPPORT.number(v.answer, v.probability) for v in row] for row in found]
    assert numbers == [[0.1, 0.2, 0.1, None], [0, None], [0.3, 0.2], []]
    assert found[0][3].failure == found[1][1].failure == NO_SENTENCE


def test_an_empty_document_supports_nothing() -> None:
    assert SUPPORT.settle(Group("d", (" ",), ()), "A sentence.") == Verdict("unsupported", 0.0)
    assert SUPPORT.settle(Group("d", ("Text.",), ()), "A sentence.") is None


def test_unjudged_is_no_number() -> None:
    assert SUPPORT.number(None, 0.4) is None
    assert SUPPORT.number("supported", None) == 1
    assert SUPPORT.number("unsupported", None) == 0


@pytest.mark.parametrize(("probability", "answer"), [(0.5, "unsupported"), (0.51, "supported"), (0.0, "unsupported")])
def test_supported_is_above_the_threshold(probability: float, answer: str) -> None:
    assert SUPPORT.by_number(probability, [0.5]).answer == answer


def test_one_text_that_answers_two_queries_is_judged_for_each() -> None:
    asked = [Group("a", ("Text A.",), ("s",), query=query) for query in ("Who?", "Where?", "Who?")]
    opened = open_groups(SUPPORT, asked)
    judged = [[Verdict("supported", 1)], [Verdict(None, 0)]]

    assert [group.query for group in opened] == ["Who?", "Where?"]
    assert [of[0].answer for of in in_place(SUPPORT, asked, opened, judged)] == ["supported", None, "supported"]
