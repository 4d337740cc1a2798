"""Cards of support judges, and the one that ships."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.judges.card_figures import support_figures
from longform.judges.cards import SUPPORT_CHECKER, SUPPORT_LEXICAL, Version, card_of, describe, shipped_card
from longform.judges.lexical_support import shipped_lexical_support
from longform.judges.merges import LabelledSummary, Scoring, grid, label_counts, label_set
from longform.models import models_version, read_model
from longform.settings.judges import OfflineJudgeSettings
from tests.longform.judges.labelled import summary

SUMMARIES = [
    summary("a", True),
    summary("b", False),
    summary("c", True, True, data_set="y", level="sentence"),
]
CELLS = {
    ("document", "a"): np.array([[0.9]]),
    ("document", "b"): np.array([[0.1]]),
    ("document", "c"): np.array([[0.9, np.nan]]),
}


def card(summaries: list[LabelledSummary] = SUMMARIES, modes: tuple[str, ...] = ("document",)) -> dict[str, Any]:
    scoring = Scoring(resamples=100)
    found = {
        "scoring": scoring._asdict(),
        "data_sets": [counts | {"held_out": counts["data_set"] == "x"} for counts in label_counts(summaries)],
        "grid": grid(summaries, CELLS, modes, scoring),
    }
    versions = {"j": Version("1", "1")}
    frame = card_of("j", {"j": OfflineJudgeSettings(kind="offline", task="support")}, versions, task="support")
    return frame | support_figures(found, label_set(summaries, ["people"]))


def test_line_says_figures_unknowns_and_what_was_held_out() -> None:
    line = describe(card())

    assert "x by summary, held out: balanced accuracy 100.0" in line
    assert "y by sentence: unknown (all judged items are supported" in line
    assert "supported above 0.5" in line
    assert "3 labels of 3 summaries" in line
    assert "1 unjudged" in line
    assert line.startswith("support against people: ")
    assert "support against annotators ann and bo: " in describe(
        card() | {"labels": card()["labels"] | {"annotators": ["ann", "bo"]}}
    )


def test_hash_is_of_the_labels() -> None:
    other = [SUMMARIES[0], summary("b", True), SUMMARIES[2]]

    assert card()["labels"] == card()["labels"]
    assert card(other)["labels"] != card()["labels"]


def test_card_without_documents_apart_is_none() -> None:
    with pytest.raises(ValueError, match="mode document"):
        card(modes=())


def test_shipped_card_is_of_the_model_that_ships_on_labels_that_it_was_not_fitted_on() -> None:
    """A refitted model needs a new card: `longform calibrate BENCH --judge offline --out`."""
    shipped = shipped_card(SUPPORT_LEXICAL)

    assert shipped is not None
    assert models_version("support_judge") in shipped["judged_by"]["prompt_version"]
    assert [one["data_set"] for one in shipped["data_sets"]] == ["longeval_pubmed", "qmsum"]
    assert not any(f"{one['data_set']}:" in read_model("support_judge")["fitted_on"] for one in shipped["data_sets"])
    assert shipped["fitted_articles"] == []
    assert shipped["threshold"] == shipped_lexical_support().threshold


@pytest.mark.parametrize("name", [SUPPORT_LEXICAL, SUPPORT_CHECKER])
def test_line_warns_of_texts_on_which_a_judge_is_no_better_than_chance(name: str) -> None:
    shipped = shipped_card(name)
    assert shipped is not None
    of_data_set = {row["data_set"]: row["auroc"]["low"] for row in shipped["data_sets"]}
    assert of_data_set["qmsum"] <= 0.5 < of_data_set["longeval_pubmed"]

    told = describe(shipped).split("; ")

    warned = [part.split(" by ")[0].split(": ")[-1] for part in told if "no better than chance: do not use it" in part]
    assert warned == ["qmsum"], "meetings"
