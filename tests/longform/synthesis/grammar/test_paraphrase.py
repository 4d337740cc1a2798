"""Paraphrase by rule: the form changes, the fact stays."""

from __future__ import annotations

import numpy as np
import pytest

from longform.synthesis.grammar.topic import tidied
from longform.synthesis.grammar.weaver import (
    Synonyms,
    attributed,
    contracted,
    moved,
    n_words,
    rewritten,
    sentence_case,
    skeleton,
)


def forms(make: object, n: int = 200) -> set[str]:
    return {make(np.random.default_rng(seed)) for seed in range(n)}  # type: ignore[operator]


def test_movable_words_stand_at_either_end() -> None:
    assert forms(lambda rng: moved("work began // in {month}", rng)) == {
        "work began in {month}",
        "in {month}, work began",
    }
    assert moved("work began", np.random.default_rng(0)) == "work began"


def test_dates_numbers_and_shares_have_several_forms() -> None:
    assert forms(lambda rng: rewritten("on 2 May 12 men took 30 per cent", rng, spoken=False)) == {
        f"on {date} {men} men took 30{share}"
        for date in ("2 May", "May 2", "the 2nd of May")
        for men in ("12", "twelve")
        for share in (" per cent", " percent", "%")
    }


@pytest.mark.parametrize(
    "text", ["it costs £12 now", "bus X12 runs", "at 6.15 we go", "all 12, we hope", "12-metre beam"]
)
def test_numbers_that_are_no_counts_stay_in_digits(text: str) -> None:
    assert forms(lambda rng: rewritten(text, rng, spoken=False)) == {text}


def test_synonyms_are_exchanged_as_words_and_never_in_slots() -> None:
    exchange = Synonyms(("train | unit", "the line | the railway")).exchanged

    assert forms(lambda rng: exchange("the line has a train", rng)) == {
        f"{line} has a {train}" for line in ("the line", "the railway") for train in ("train", "unit")
    }
    assert forms(lambda rng: exchange("the liner trains {train}", rng)) == {"the liner trains {train}"}


def test_somebody_or_nobody_says_it() -> None:
    assert forms(lambda rng: attributed("it rains", rng, lambda template: template)) == {
        "it rains.",
        "<according>, it rains.",
        "it rains, <says>.",
    }


@pytest.mark.parametrize(
    ("plain", "short"),
    [
        pytest.param("It is late and we are cold", "It's late and we're cold", id="pronouns"),
        pytest.param("you cannot stay", "you can't stay", id="not"),
        pytest.param("I know what it is", "I know what it is", id="no-verb-at-the-end"),
        pytest.param("it is £12", "it is £12", id="before-a-sum"),
    ],
)
def test_contractions_are_those_of_speech(plain: str, short: str) -> None:
    assert contracted(plain) == short


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so is it? yes, it is.", "So is it? Yes, it is."),
        ("“we wait,” she said.", "“We wait,” she said."),
        ("Ulm, 3 May – when it rained", "Ulm, 3 May – When it rained"),
        ("the word is hers: “we wait.”", "The word is hers: “We wait.”"),
    ],
)
def test_sentences_begin_with_capitals(text: str, expected: str) -> None:
    assert sentence_case(text) == expected


def test_an_apposition_loses_its_comma_before_another_mark() -> None:
    assert tidied("says Ann, the cooper,. And Bo, the vet,, waits") == "says Ann, the cooper. And Bo, the vet, waits"


def test_a_skeleton_has_no_names_numbers_or_dates() -> None:
    assert skeleton("On 14 March Marta Ellingsen paid £20 for forty-two planks.") == "_ # _ paid # for # planks"
    assert skeleton("In May, Ann paid £1,200.50 for 3 planks.") == "_ paid # for # planks".replace("_ paid", "_ paid")
    assert skeleton("The gate is open") != skeleton("The gate is shut")


@pytest.mark.parametrize(
    ("text", "n"), [("with help from Keg & Stave", 6), ("a far-off field", 4), ("it's 4,100 litres", 3)]
)
def test_words_are_counted_as_generously_as_one_can(text: str, n: int) -> None:
    """A sentence that is long by any count must not come twice."""
    assert n_words(text) == n
