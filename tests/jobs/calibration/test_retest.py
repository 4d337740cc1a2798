"""The card of a judge that was asked several times says how far it agrees with itself, whatever it judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobs.calibrate import main
from longform.judges.cards import describe
from tests.jobs.calibration.test_adversarial import OFFLINE
from tests.jobs.calibration.test_coverage import with_a_second_annotator
from tests.jobs.calibration.test_support import labelled_bench
from tests.jobs.test_served_kinds import bench, labelled

__all__ = ["bench", "labelled"]

CHAT = {"kind": "chat", "repeats": 3, "chat": {"provider": "scripted", "model": "m", "script": "wavering"}}


def card_of(bench: str, folder: Path, *options: str) -> dict[str, Any]:
    card, ledger = folder / "card.json", folder / "ledger"
    assert main([bench, *options, "--resamples", "50", "--ledger", str(ledger), "--out", str(card)]) == 0
    return dict(json.loads(card.read_text()))


def test_a_judge_of_coverage(tmp_path: Path) -> None:
    card = card_of(with_a_second_annotator(tmp_path), tmp_path, "--judge", json.dumps(CHAT))

    assert (card["retest"]["n_repeats"], card["retest"]["n_pairs"]) == (3, 2)
    assert 0 <= card["retest"]["same"]["value"] <= 1
    assert "asked 3 times (2 questions): same answer again" in describe(card)


def test_perturbed_summaries_are_no_questions_of_the_retest(tmp_path: Path) -> None:
    bench = with_a_second_annotator(tmp_path)
    asked = ["--judge", json.dumps(CHAT)]
    few, many = card_of(bench, tmp_path, *asked), card_of(bench, tmp_path, *asked, "--adversarial")

    assert many["adversarial"]["rows"]
    assert many["retest"] == few["retest"]


def test_a_judge_of_support(tmp_path: Path) -> None:
    card = card_of(labelled_bench(tmp_path), tmp_path, "--judge", json.dumps({**CHAT, "task": "support"}))

    assert (card["retest"]["n_repeats"], card["retest"]["n_pairs"]) == (3, 15)
    assert "asked 3 times (15 questions): same answer again" in describe(card)


def test_a_judge_of_key_points(labelled: str, tmp_path: Path) -> None:
    card = card_of(labelled, tmp_path, "--judge", json.dumps({**CHAT, "task": "key_point"}))

    assert (card["retest"]["n_repeats"], card["retest"]["n_pairs"]) == (3, 6)
    assert "asked 3 times (6 questions): same answer again" in describe(card)


def test_a_mean_answers_as_often_as_its_members(tmp_path: Path) -> None:
    """A member that is asked once says the same each time, so the mean's numbers move half as far."""
    bench = with_a_second_annotator(tmp_path)
    (tmp_path / "x.yaml").write_text(
        yaml.safe_dump(
            {
                "name": "x",
                "seed": 1,
                "retrievers": {"full": {"kind": "full"}},
                "summarizers": {"offline": {"kind": "offline"}},
                "judges": {
                    "a": OFFLINE,
                    "b": CHAT,
                    "m": {"kind": "mean", "of": ["a", "b"]},
                    "n": {"kind": "mean", "of": ["a", "c"]},
                    "c": {"kind": "offline", "calibration": "gpt-4o"},
                },
                "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
            }
        )
    )
    config = ["--config", str(tmp_path / "x.yaml")]
    alone, mean = (card_of(bench, tmp_path, "--judge", name, *config) for name in ("b", "m"))

    assert alone["retest"]["spread"] > 0
    assert mean["retest"]["n_repeats"] == 3
    assert mean["retest"]["spread"] == pytest.approx(alone["retest"]["spread"] / 2)
    assert "retest" not in card_of(bench, tmp_path, "--judge", "n", *config)
