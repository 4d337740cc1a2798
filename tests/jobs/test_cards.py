"""What a report says of its judges: scales, cards, and cards that belong to another judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.cards import judge_rows, released_judge_row
from longform.configuration import Experiment
from longform.errors import UsageError
from longform.judge_cards import shipped_card, shipped_card_line

OFFLINE = {"kind": "offline", "calibration": "gpt-4o"}


def experiment(judges: dict[str, object], **more: object) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "x",
            "seed": 1,
            "retrievers": {"full": {"kind": "full"}},
            "summarizers": {"offline": {"kind": "offline"}},
            "judges": judges,
            "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
        }
        | more
    )


def test_card_that_ships_is_by_calibration_whatever_the_judge_is_called() -> None:
    (row,) = judge_rows(experiment({"mine": OFFLINE}))

    assert row == {"judge": "mine", "scale": "marks as GPT-4o does", "card": shipped_card_line("offline-gpt-4o")}
    assert row["card"].startswith("marks as GPT-4o does; against people, held out: r ")


def test_mean_names_its_members_scales_and_has_no_card_of_its_own() -> None:
    other = {"kind": "offline", "calibration": "people"}
    rows = judge_rows(experiment({"a": OFFLINE, "b": other, "m": {"kind": "mean", "of": ["a", "b"]}}))

    assert rows[2] == {
        "judge": "m",
        "scale": "mean of a (marks as GPT-4o does) and b (marks as people do)",
        "card": None,
    }


@pytest.mark.parametrize("calibration", ["people", "gpt-4o"])
def test_shipped_card_is_of_the_calibration_it_is_named_by(calibration: str) -> None:
    scale = {"people": "marks as people do", "gpt-4o": "marks as GPT-4o does"}[calibration]
    card = shipped_card(f"offline-{calibration}")

    assert card is not None
    assert (card["judge"], card["scale"]) == (f"offline-{calibration}", scale)


def test_card_of_the_other_calibration_is_refused(tmp_path: Path) -> None:
    """Its numbers would stand beside scores that it does not describe."""
    card = tmp_path / "card.json"
    card.write_text(json.dumps(shipped_card("offline-people")))

    with pytest.raises(UsageError, match="marks as GPT-4o does, as 'mine' is, found one that marks as people do"):
        judge_rows(experiment({"mine": OFFLINE}, cards={"mine": str(card)}))


def test_card_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text("[]")

    with pytest.raises(UsageError, match=r"card\.json: expected a judge card"):
        judge_rows(experiment({"mine": OFFLINE}, cards={"mine": str(tmp_path / "card.json")}))


def test_released_judge_has_its_card_and_no_scale() -> None:
    row = released_judge_row("released:gpt-4o")

    assert row["scale"] is None
    assert row["card"].startswith("against people: r 0.72")
