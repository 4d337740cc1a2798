"""Coherence of a made document: fields in one place, questions answered, people named again."""

from __future__ import annotations

from itertools import groupby, islice, pairwise

import numpy as np
import pytest

from longform.synthesis.grammar.composition import Composition, MustStand, compose_document
from longform.synthesis.grammar.topic import Cast, load_topic, topic_names
from longform.synthesis.grammar.weaver import TURN, Weaver, _in_turn


def weaver(topic: str, seed: int = 5) -> Weaver:
    plan, rng = load_topic(topic), np.random.default_rng(seed)
    return Weaver(plan, Cast(plan, rng), rng)


def composed(topic: str, fields: str, *, words: int = 500) -> Composition:
    """A document with a statement of the subtopic of each digit of *fields*."""
    plan = load_topic(topic)
    stated = [MustStand(f"Statement {place} is here.", plan.subtopics[int(n)]) for place, n in enumerate(fields)]
    return compose_document(plan, weaver(topic), np.random.default_rng(8), stated, words=words)


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize("topic", topic_names())
def test_what_is_said_of_one_field_stands_together(topic: str) -> None:
    """Without room for other sentences, the statements of a field are neighbours wherever they were dealt."""
    document = composed(topic, "0123012301", words=120)
    fields = [passage.place % 4 for passage in document.passages if passage.place is not None]

    assert sorted(fields) == [0, 0, 0, 1, 1, 1, 2, 2, 3, 3]
    assert len(list(groupby(fields))) == 4


@pytest.mark.parametrize("topic", topic_names())
def test_each_statement_stands_in_the_one_passage_that_names_it(topic: str) -> None:
    document = composed(topic, "0123456")

    for passage in document.passages:
        told = [place for place in range(7) if f"Statement {place} is here." in " ".join(passage.parts)]
        assert told == ([] if passage.place is None else [passage.place])


def test_no_turn_of_a_conversation_is_a_question_that_another_question_follows() -> None:
    """But for the last words, which are to the company."""
    turns = [turn for passage in composed("orchard", "0123456789", words=2500).passages for turn in passage.parts]
    asked = [(one, after) for one, after in pairwise(turns) if one.endswith("?")]

    assert len(asked) > 10
    assert not [pair for pair in asked if pair[1].endswith("?")]


def test_turns_are_words_and_no_mark_between_turns_reaches_them() -> None:
    parts = [part for passage in composed("orchard", "01", words=1500).passages for part in passage.parts]

    assert all(part.strip() for part in parts)
    assert not [part for part in parts if TURN.strip() in part]


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize(("topic", "place"), [("orchard", 0), ("railway", -1)])
def test_who_was_named_is_named_again_by_one_name(topic: str, place: int) -> None:
    """By the first name where people talk, by the last one in an article."""
    name, again = weaver(topic).phrase("{someone}, {someone:again}").split(", ")

    assert again == name.split()[place]


def test_people_who_share_a_name_are_not_named_soon_after_each_other() -> None:
    told = weaver("railway")
    names = [told.phrase("{someone}").split() for _ in range(400)]
    near = [set(one) & set(other) for at, one in enumerate(names) for other in names[at + 1 : at + 15]]

    assert not any(near)


def test_what_came_late_in_one_round_comes_not_early_in_the_next() -> None:
    drawn = list(islice(_in_turn(range(9), np.random.default_rng(3)), 450))
    rounds = [drawn[at : at + 9] for at in range(0, 450, 9)]

    assert all(sorted(one) == list(range(9)) for one in rounds)
    assert not any(set(one[6:]) & set(after[:3]) for one, after in pairwise(rounds))
    assert len({tuple(sorted(one[6:])) for one in rounds}) > 20
