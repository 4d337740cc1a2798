"""Key points by rules: which sentences are taken, which say the same, and which are first."""

from __future__ import annotations

from longform.synthesis.asking import Log
from longform.synthesis.key_points.points import FoundPoint, Grounds
from longform.synthesis.key_points.rules import extract_by_rules, grouped, select_by_rules, unwrapped_sentences
from longform.synthesis.key_points.search import SourceDocument
from longform.synthesis.key_points.settings import RulesSettings

QUESTION = "What did the bridge over the river cost?"
TEXT = (
    "The bridge over the river was paid for by the town in 1931.\n"
    "It cost more than that in 1950.\n"
    "The bridge over the river is long, and nobody minds it.\n"
    "The harbour was built by Ada Larkin in 1902 for the fishers.\n"
    "Bridge 1931.\n"
)
RULES = RulesSettings()


def test_a_sentence_is_taken_if_it_is_long_enough_stands_alone_is_specific_and_on_the_question() -> None:
    log = Log()
    (point,) = extract_by_rules(QUESTION, SourceDocument("d", None, TEXT), RULES, log)
    (grounds,) = point.grounds
    assert point.text == "The bridge over the river was paid for by the town in 1931."
    assert (TEXT[grounds.start : grounds.end], grounds.exact) == (point.text, True)
    rejected = {one.check: one.reason for one in log.attempts if one.verdict == "rejected"}
    assert rejected == {
        "statement stands alone": "a question, an exclamation, or an opening that points back",
        "statement specific": "no number, date or name",
        "statement on the question": "0 stems of the question",
        "statement of a fit length": "2 words",
    }


def test_a_sentence_that_is_set_in_lines_is_one_sentence_with_its_place_in_the_document() -> None:
    text = (
        "Ambassador Magnan rustled a stiff sheet of white and heavy\nparchment in 1962 and said no more.\n\nRetief sat."
    )
    found = unwrapped_sentences(text)
    assert [text[one.start : one.end] for one in found] == [
        "Ambassador Magnan rustled a stiff sheet of white and heavy\nparchment in 1962 and said no more.",
        "Retief sat.",
    ]
    turns = "ann: the budget is 40 thousand and everybody knows about that.\nbob: no."
    assert len(unwrapped_sentences(turns)) == 2


def point(text: str, doc_id: str = "d") -> FoundPoint:
    return FoundPoint(text=text, grounds=(Grounds(doc_id=doc_id, start=0, end=len(text), exact=True, text=text),))


def test_sentences_with_the_same_numbers_and_names_and_much_the_same_stems_are_one() -> None:
    texts = [
        "In 1931 the town paid for the bridge by Ada.",
        "The town paid for the new bridge by Ada in 1931.",
        "In 1932 the town paid for the bridge by Ada.",
    ]
    log = Log()
    assert [group.numbers for group in grouped(texts, 0.6, log)] == [(1, 2), (3,)]
    assert [one.reason for one in log.attempts] == [None, "says what point 1 says", None]


def test_the_first_by_bm25_are_kept_and_the_others_are_counted() -> None:
    points = [
        point("Larkin 1902 harbour river."),
        point("The bridge over the river cost 4 million in 1931."),
        point("The bridge of Turin is red."),
    ]
    log = Log()
    found = select_by_rules(QUESTION, points, RulesSettings(most=2), log)
    assert [one.numbers for one in found] == [(2,), (3,), (1,)]
    assert [one.kept for one in found] == [True, True, False]
    assert found[0].score == 1.0
    assert [one.reason for one in log.attempts if one.check == "point in rank"] == [None, None, "rank 3, after 2"]


def test_nothing_comes_of_nothing() -> None:
    assert select_by_rules(QUESTION, [], RULES, Log()) == []
