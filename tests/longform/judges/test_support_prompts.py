import pytest

from longform.judges.support_prompts import (
    NO_SENTENCE,
    SupportGroup,
    SupportVerdict,
    by_threshold,
    in_place,
    open_cells,
    settled,
    unjudged,
)

GROUPS = [
    SupportGroup("a", "Text A.", ("s1", "s2", "s1", " ")),
    SupportGroup("empty", " \n", ("s1", "")),
    SupportGroup("a", "Text A.", ("s3", "s2")),
    SupportGroup("none", "Text B.", ()),
]


def test_every_cell_is_asked_about_once_and_settled_ones_never() -> None:
    assert open_cells(GROUPS) == {"Text A.": ["s1", "s2", "s3"]}


def test_verdicts_stand_in_their_places() -> None:
    judged = {("Text A.", f"s{i}"): SupportVerdict("supported", i / 10) for i in (1, 2, 3)}
    found = in_place(GROUPS, judged)
    assert [[verdict.value for verdict in row] for row in found] == [[0.1, 0.2, 0.1, None], [0, None], [0.3, 0.2], []]
    assert found[0][3].failure == found[1][1].failure == NO_SENTENCE


def test_an_empty_document_supports_nothing() -> None:
    assert settled(" ", "A sentence.") == SupportVerdict("unsupported", 0.0)
    assert settled("Text.", "A sentence.") is None


def test_unjudged_is_no_number() -> None:
    assert unjudged("http_500").value is None
    assert SupportVerdict("supported", None).value == 1
    assert SupportVerdict("unsupported", None).value == 0


@pytest.mark.parametrize(("probability", "answer"), [(0.5, "unsupported"), (0.51, "supported"), (0.0, "unsupported")])
def test_supported_is_above_the_threshold(probability: float, answer: str) -> None:
    assert by_threshold(probability, 0.5).answer == answer
