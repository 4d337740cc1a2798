"""Two attributions of the same sentences: the second aligner, and curves by both."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from longform.judges.kind import Group
from longform.judges.shared_words import SharedWords
from longform.results.alignment import alignment_rows, placed_twice
from longform.settings.experiment import Experiment
from longform.settings.named_judges import SECOND_ALIGNER
from tests.longform.results.test_faithfulness_tables import SETTINGS, checked, frame


def study(*, moved: bool, n: int = 12) -> pl.DataFrame:
    """A judge's cells, and an aligner's that agree with them or, if *moved*, put each sentence one place on."""
    draw = np.random.default_rng(1)
    found = []
    for query in range(n):
        cells = np.diag(0.3 + 0.6 * (draw.random(5) < [0.9, 0.7, 0.5, 0.6, 0.8]))
        found += [checked(query, cells, judge="told"), checked(query, np.roll(cells, moved, 0), judge=SECOND_ALIGNER)]
    return frame(found)


def test_shared_words_find_the_sentence_that_says_it() -> None:
    text = "The river rose by three metres. Nobody was hurt in the old town."
    items = ("Nobody was hurt in the old town.", "The river rose by nine metres.", "Prices fell again.")
    same, changed, other = SharedWords().judge(Group("d", (text,), items))
    assert same == 1.0
    assert 0.4 < changed < 0.9
    assert other == 0.0
    assert SharedWords().judge(Group("d", ("",), items)) == [0, 0, 0]


def test_attributions_that_agree_give_the_same_curve() -> None:
    every = study(moved=False)
    (row,) = placed_twice(every, SETTINGS)
    assert row["own"] == row["other"]
    assert row["spearman"]["value"] == 1.0
    (pair,) = alignment_rows(every, SETTINGS)
    assert (pair["spearman"], pair["same"], pair["n"]) == (pytest.approx(1.0), 60, 60)


def test_an_attribution_that_is_one_place_off_gives_another_curve() -> None:
    every = study(moved=True)
    (row,) = placed_twice(every, SETTINGS)
    assert [point["value"] for point in row["other"]] == np.roll([point["value"] for point in row["own"]], 1).tolist()
    (pair,) = alignment_rows(every, SETTINGS)
    assert pair["same"] == 0
    assert pair["low"] is not None
    assert pair["spearman"] is not None
    assert pair["low"] <= pair["spearman"] < 0.5


def test_only_plain_systems_of_judges_with_a_curve_stand_twice() -> None:
    every = study(moved=False)
    own = every.filter(pl.col("judge") != SECOND_ALIGNER)
    for others in (every.with_columns(untestable=pl.lit("no place")), own, every.with_columns(order=pl.lit("top"))):
        assert placed_twice(others, SETTINGS) == []


def test_the_second_aligner_is_added_if_it_is_asked_for_and_places_are_studied() -> None:
    content = {
        "name": "n",
        "seed": 1,
        "retrievers": {"full": {"kind": "full"}},
        "summarizers": {
            "writer": {"kind": "chat", "chat": {"provider": "scripted", "model": "m", "script": "profile-u"}},
            "offline": {"kind": "offline"},
        },
        "judges": {"lexical": {"task": "support", "kind": "offline"}},
        "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "writer"}],
    }
    asked = {"faithfulness": {"second_aligner": True}}
    assert SECOND_ALIGNER not in Experiment.model_validate(content).with_aligner().judges
    assert SECOND_ALIGNER in Experiment.model_validate(content | asked).with_aligner().judges
    quoting = content | asked | {"summarizers": {"writer": {"kind": "offline"}}}
    assert SECOND_ALIGNER not in Experiment.model_validate(quoting).with_aligner().judges
