"""Questions: which seeds suit, where they belong, and which new ones are accepted into a cell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.synthesis.asking import Log
from longform.synthesis.key_points.questions import TopicCell, evolve, overlap, read_question
from longform.synthesis.key_points.settings import KeyPointSynthesis
from tests.longform.synthesis.synthesizing import Told

SEED = "Why did the old bridge over the river collapse in the storm?"
CAUSAL_MUSIC = TopicCell("causal", "music")
FACTUAL_FIRST, IN_CELL = '{"category": 1, "domain": 1}', '{"category": 2, "domain": 1}'
GOOD = "Why did the choir of the harbour town lose its singers after 1890?"
OTHER = "Why were cellos tuned lower in the workshops of Turin?"


def settings(**questions: Any) -> KeyPointSynthesis:
    model = {"provider": "scripted", "script": "synthesis", "model": "scripted-extractor"}
    return KeyPointSynthesis.model_validate(
        {
            "kind": "key_points",
            "name": "n",
            "seed": 1,
            "documents": ["d"],
            "questions": {"kind": "evolved", "files": ["f"], **questions},
            "categories": {"factual": "asks for facts", "causal": "asks why"},
            "domains": {"music": "sounds", "film": "pictures"},
            "extraction": "rules",
            "writer": model,
            "verifier": model,
        }
    )


def criteria(*met: bool) -> str:
    names = ("not_common_sense", "clear", "unambiguous", "complex", "asks_for_opinion")
    return json.dumps(dict(zip(names, met, strict=True)))


def questions(*texts: str) -> str:
    return json.dumps({"questions": texts})


def test_a_seed_that_meets_enough_criteria_is_sorted() -> None:
    told, log = Told(criteria=[criteria(True, True, True, True, False)], sort_question=[IN_CELL]), Log()
    read = told.run(read_question(SEED, settings(), 4, log, is_sorted=True))
    assert read == {"met": 4, "suits": True, "facets": CAUSAL_MUSIC._asdict()}
    assert [(one.check, one.verdict) for one in log.attempts] == [
        ("question suitable", "accepted"),
        ("question sorted", "accepted"),
    ]


def test_a_seed_that_meets_too_few_is_not_even_sorted_and_the_log_names_what_it_lacks() -> None:
    told, log = Told(criteria=[criteria(True, True, True, False, False)]), Log()
    read = told.run(read_question(SEED, settings(), 4, log, is_sorted=True))
    assert read == {"met": 3, "suits": False, "facets": {}}
    assert log.attempts[0].reason == "meets 3 of 5 criteria; not complex, asks_for_opinion"


@pytest.mark.parametrize("reply", ["4", "!empty_reply", '{"not_common_sense": true}'])
def test_a_seed_whose_criteria_cannot_be_read_does_not_stay(reply: str) -> None:
    log = Log()
    read = Told(criteria=[reply]).run(read_question(SEED, settings(), 4, log, is_sorted=True))
    assert not read["suits"]
    assert [one.verdict for one in log.attempts] == ["rejected", "rejected", "exhausted"]


def test_a_number_of_no_category_is_no_answer() -> None:
    told, log = Told(sort_question=['{"category": 3, "domain": 1}', IN_CELL]), Log()
    assert told.run(read_question(SEED, settings(), None, log, is_sorted=True))["facets"] == CAUSAL_MUSIC._asdict()
    assert log.attempts[0].reason == "unverified: no_such_number"


def evolved(told: Told, **asked: Any) -> tuple[list[str], Log]:
    log = Log()
    return told.run(evolve(CAUSAL_MUSIC, [SEED], settings(**asked), log)), log


def test_a_round_asks_in_depth_and_in_width_and_a_full_cell_ends_it() -> None:
    told = Told(deeper_questions=[questions(GOOD)], wider_questions=[questions(OTHER)], sort_question=[IN_CELL])
    found, log = evolved(told, per_cell=2)
    assert found == [GOOD, OTHER]
    assert [ask.prompt for ask in told.asks[:2]] == ["synthesize_deeper_questions", "synthesize_wider_questions"]
    assert [ask.role for ask in told.asks[2:]] == ["verifier", "verifier"]
    assert "causal" not in told.asks[2].fields["question"], "the verifier is not told the cell"
    assert {one.verdict for one in log.attempts} == {"accepted"}


def test_its_seed_a_repetition_and_a_statement_are_thrown_out_without_a_call() -> None:
    told = Told(
        deeper_questions=[questions(SEED.replace("Why", "So why"), "Tell me of choirs.", GOOD, GOOD)],
        wider_questions=["no list"],
        sort_question=[IN_CELL],
    )
    found, log = evolved(told, per_cell=7, rounds=1)
    assert found == [GOOD]
    rejected = [(one.check, one.reason) for one in log.attempts if one.verdict == "rejected"]
    assert rejected == [
        ("questions listed", "unverified: invalid_json"),
        ("question new", "its seed"),
        ("question formed", "no question"),
        ("question new", f"repeats {GOOD!r}"),
    ]


def test_a_question_of_another_cell_is_thrown_out_and_the_next_round_is_told() -> None:
    told = Told(
        deeper_questions=[questions(GOOD), questions(OTHER)],
        wider_questions=[questions()],
        sort_question=[FACTUAL_FIRST, IN_CELL],
    )
    found, log = evolved(told, per_cell=1, rounds=2)
    assert found == [OTHER]
    assert ("rejected", "read as factual, music") in [(one.verdict, one.reason) for one in log.attempts]
    assert "one was read as factual, music" in told.asks[3].fields["notes"]


def test_without_seeds_a_cell_stays_empty_and_nobody_is_asked() -> None:
    assert Told().run(evolve(CAUSAL_MUSIC, [], settings(), Log())) == []


def test_overlap_is_the_share_of_stems() -> None:
    assert overlap("bridges fall", "A bridge falls") == 1.0
    assert overlap("bridges fall", "bridges stand tall") == pytest.approx(1 / 4)
    assert overlap("is it", "was it") == 0.0
