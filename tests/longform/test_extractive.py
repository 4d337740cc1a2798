import pytest

from longform.citations import bullets
from longform.extractive import bullet_lines, extract, statement

PLANTED = {
    "The library opens at seven on exam days, two hours earlier than usual.": [2, 5, 9],
    "Library lockers can be rented for ten dollars a month from October.": [3, 5, 7],
    "Quiet rooms in the library must be booked a week before.": [2, 4, 8],
}
WEATHER = "A cold front crosses the northern valley and brings heavy snow tonight."
COLOURS = "amber blue crimson dun ecru fawn green hazel indigo jade".split()
FRUITS = "apples berries cherries dates elders figs grapes hops imbes jujubes".split()
OTHERS = [
    f"The {colour} team of district {place} exported {20 + place} barges of {fruit}."
    for place, (colour, fruit) in enumerate(zip(COLOURS, FRUITS, strict=True), start=1)
]


FILLER = ["Well, well."] * 6


def haystack() -> list[tuple[int, str]]:
    """Ten documents: library news planted in three each; far from it snow, in six; one line of its own in each."""
    documents = []
    for number, own in enumerate(OTHERS, start=1):
        planted = [text for text, numbers in PLANTED.items() if number in numbers]
        snow = [WEATHER] if number <= 6 else []
        documents.append((number, "\n".join([*planted, *FILLER, own, *snow])))
    return documents


def test_planted_statements_are_found_with_their_documents() -> None:
    """The known answer: what the query asks for, what three documents repeat, and those three."""
    assert dict(extract(haystack(), "What about the library?", 3, 300)) == PLANTED


def test_order_of_documents_changes_nothing() -> None:
    query = ("What about the library?", 4, 300)
    assert extract(haystack()[::-1], *query) == extract(haystack(), *query)


def test_a_statement_is_not_said_twice() -> None:
    """Six documents tell of the snow in the same words; it takes one bullet, then the rest come."""
    texts = [text for text, _ in extract(haystack(), "cold snow and the library", 4, 300)]
    assert set(texts) == {WEATHER, *PLANTED}


def test_words_stay_within_the_limit() -> None:
    for limit in (0, 4, 12, 13, 30):
        extracted = extract(haystack(), "What about the library?", 3, limit)
        assert sum(len(text.split()) for text, _ in extracted) <= limit
    assert len(extract(haystack(), "What about the library?", 3, 30)) == 2


def test_questions_and_dangling_openings_come_last() -> None:
    lines = [
        "They reopened the harbour bridge to all heavy trucks in March.",
        "Who paid for the harbour bridge and its new steel towers?",
        "Tolls there rise.",
        "Engineers painted the harbour bridge.",
    ]
    documents = [(number, "\n".join(lines)) for number in range(1, 5)]
    texts = [text for text, _ in extract(documents, "harbour bridge", 3, 300)]
    assert texts[0] == lines[3]
    assert set(texts[1:]) == set(lines[:2])


def test_the_same_words_are_quoted_once_though_more_is_asked_for() -> None:
    documents = [(number, WEATHER) for number in range(1, 5)]
    assert extract(documents, "snow", 3, 300) == [(WEATHER, [1, 2, 3, 4])]


def test_close_paraphrase_waits_for_what_is_new() -> None:
    """The second half of a statement's weight is not enough to say it again."""
    lines = [
        "The harbour bridge carries heavy trucks, trams and cyclists.",
        "The harbour bridge carries heavy trucks, trams and pedestrians.",
        "The harbour museum reopened again.",
    ]
    documents = [(number, "\n".join(lines)) for number in range(1, 5)]
    assert lines[2] in [text for text, _ in extract(documents, "harbour", 2, 300)]


def test_what_others_say_in_full_beats_what_they_say_in_part() -> None:
    whole = "Harbour boats carry lemons past seven old towers."
    parts = [f"Harbour wardens count {odd} near six new bridges." for odd in ("geese daily", "swans weekly", "ducks")]
    documents = [(number, f"{part}\n{whole}") for number, part in enumerate(parts, start=1)]
    assert [text for text, _ in extract(documents, "harbour", 1, 300)] == [whole]


def test_relevance_does_not_leak_into_the_next_document() -> None:
    """Neither is about the library; the one told in documents beside it must not gain by that."""
    away, beside = "Heavy snow falls on the northern valley tonight.", "Bread prices rise in every mountain town again."
    library = "The library opens at seven on exam days."
    texts = [*[away] * 3, *OTHERS[:6], *[library, beside] * 3]
    found = extract(list(enumerate(texts, start=1)), "library", 2, 300)
    assert [text for text, _ in found] == [library, away]


def test_one_document_is_summarized_by_relevance() -> None:
    text = (
        "Trains ran late on Monday evening. The museum buys a famous painting today. Bread got dearer this whole year."
    )
    assert extract([(7, text)], "museum painting", 1, 300) == [("The museum buys a famous painting today.", [7])]


@pytest.mark.parametrize("documents", [[], [(1, "")], [(1, "Too short.")]], ids=["none", "empty", "no-sentence"])
def test_nothing_to_quote_gives_no_bullet(documents: list[tuple[int, str]]) -> None:
    assert extract(documents, "museum", 3, 300) == []


def test_query_of_unknown_words_leaves_repetition_to_decide() -> None:
    assert extract(haystack(), "zebra", 1, 300)[0][0] in {WEATHER, *PLANTED}


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        pytest.param("[student 1] Khan Academy helps.", "Khan Academy helps.", id="bracketed"),
        pytest.param("Student 1: Khan Academy helps.", "Khan Academy helps.", id="numbered"),
        pytest.param("Dr. Ann Lee: Khan Academy helps.", "Khan Academy helps.", id="named"),
        pytest.param("- Sales rose [12] in **May**.", "Sales rose in May.", id="foreign-citation"),
        pytest.param("The plan has one aim: growth.", "The plan has one aim: growth.", id="colon-later"),
    ],
)
def test_statement_leaves_out_what_is_not_said(sentence: str, quoted: str) -> None:
    assert statement(sentence) == quoted


def test_lines_are_bullets_that_cite() -> None:
    text = bullet_lines([("Sales rose.", [3, 17]), ("Costs fell.", [2])])
    assert text == "- Sales rose. [3][17]\n- Costs fell. [2]"
    assert [bullet.citations for bullet in bullets(text)] == [[3, 17], [2]]
