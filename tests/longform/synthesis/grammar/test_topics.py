"""Topics that ship hold what the haystack writer needs, and sentence templates are filled."""

from __future__ import annotations

import pytest

from longform.synthesis.grammar.topic import Fact, Topic, filled, load_topic, number_in_words, slots, topic_names


def test_both_domains_are_there() -> None:
    assert {load_topic(name).domain for name in topic_names()} == {"conversation", "news"}


@pytest.mark.parametrize("name", topic_names())
def test_every_insight_names_a_number_a_date_or_an_entity(name: str) -> None:
    topic = load_topic(name)
    facts = [fact for subtopic in topic.subtopics for fact in subtopic.insights]

    assert all(slots(fact.reference) & {*topic.entities, *topic.numbers} for fact in facts)
    assert {*topic.numbers, *topic.entities} <= frozenset().union(
        slots(topic.title), *(slots(fact.reference) for fact in facts), *(slots(s.query) for s in topic.subtopics)
    )


def test_a_wording_that_leaves_out_a_fact_is_refused() -> None:
    with pytest.raises(ValueError, match="names other slots"):
        Fact(name="n", reference="{a} and {b}", wordings=("{a} {b}", "{b} {a}", "{a}"))


def test_a_symbol_without_lines_is_refused() -> None:
    topic = load_topic("railway").model_dump()
    topic["stock"]["remark"] = ("<actor> <nonsense>.",)

    with pytest.raises(ValueError, match="found none for \\['nonsense'\\]"):
        Topic.model_validate(topic)


# ---------------------------------------------------------------- templates


def test_slots_are_filled_with_separators_or_in_words_and_a_sentence_begins_with_a_capital() -> None:
    values = {"who": "they", "sum": 1200, "day": 21}

    assert filled("{who} paid £{sum} on {day:words} May", values) == "They paid £1,200 on twenty-one May"
    assert slots("{who} paid £{sum} on {day:words} May") == {"who", "sum", "day"}


@pytest.mark.parametrize(("number", "words"), [(0, "zero"), (13, "thirteen"), (40, "forty"), (99, "ninety-nine")])
def test_numbers_in_words(number: int, words: str) -> None:
    assert number_in_words(number) == words


def test_a_number_too_large_for_words_is_refused() -> None:
    with pytest.raises(ValueError, match="0 to 99"):
        number_in_words(100)
