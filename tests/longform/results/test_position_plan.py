"""The size of a study of positions: what a plan says, and what it takes from a judge's card."""

from __future__ import annotations

from longform.judges.cards import shipped_card_of
from longform.metrics.power import Assumed, summaries_needed
from longform.results.position_plan import positions_row, positions_words, sentence_accuracy
from longform.settings.judges import OfflineJudgeSettings

PROMPTS = {"dataset": "news", "n_summaries": 40, "n_documents": 5, "n_sentences": 5.0}


def test_a_plan_has_a_size_for_each_depth_from_what_it_states() -> None:
    row = positions_row(PROMPTS, "told", None, n_curves=2, depths=(40, 20))
    assert [size["summaries"] for size in row["sizes"]] == [
        summaries_needed(Assumed(depth / 100, row["mean"], 5, 5.0, row["accuracy"], 2)) for depth in (40, 20)
    ]
    sizes, assumed = positions_words([row])
    assert "on news, judge told: to find a U of 40 points, 242 summaries of each system; a U of 20 points" in sizes
    assert sizes.endswith("The run has 40.")
    for stated in ("75% of sentences faithful", "5 documents", "80% balanced accuracy (assumed", "2 curves", "0.999"):
        assert stated in assumed


def test_a_judge_no_better_than_a_coin_has_no_size_and_the_plan_says_why() -> None:
    row = positions_row(PROMPTS, "coin", 0.5, n_curves=1, depths=(40, 90))
    assert [(size["summaries"], size["why_none"]) for size in row["sizes"]] == [
        (None, "a judge of 50% balanced accuracy sees too little of it"),
        (None, "no U of 90 points has a mean of 75%"),
    ]
    assert "no size: a judge of 50% balanced accuracy" in next(iter(positions_words([row])))


def test_a_card_counts_by_its_labels_of_sentences() -> None:
    card = shipped_card_of(OfflineJudgeSettings(kind="offline", task="support"))
    assert card is not None
    assert "data_sets" in card
    by_level = {row["level"]: row["balanced_accuracy"]["value"] for row in card["data_sets"]}
    assert by_level.keys() == {"sentence", "summary"}
    assert sentence_accuracy(card["data_sets"]) == by_level["sentence"]
    assert sentence_accuracy([row for row in card["data_sets"] if row["level"] == "summary"]) == by_level["summary"]
    assert sentence_accuracy([]) is None
