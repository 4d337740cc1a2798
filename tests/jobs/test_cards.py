"""What a report says of its judges: scales, cards, and cards that belong to another judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.cards import judge_rows, released_judge_row
from longform.configuration import Experiment
from longform.errors import UsageError
from longform.judge_cards import SUPPORT_LEXICAL, shipped_card, shipped_card_line

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


LEXICAL = {"kind": "offline"}
CHAT = {"kind": "chat", "chat": {"provider": "scripted", "model": "scripted", "script": "obedient"}}


def support_rows(tmp_path: Path, *, card: object = None, **judges: object) -> list[dict[str, object]]:
    """Rows of support judges, the first of them with *card*."""
    if card is None:
        return judge_rows(experiment({}, support_judges=judges))
    (tmp_path / "card.json").write_text(json.dumps(card))
    return judge_rows(experiment({}, support_judges=judges, cards={next(iter(judges)): str(tmp_path / "card.json")}))


def test_offline_support_judge_has_its_card_under_whatever_name_and_others_have_none(tmp_path: Path) -> None:
    lexical, chat = support_rows(tmp_path, mine=LEXICAL, gpt=CHAT)

    assert lexical == {"judge": "mine", "scale": None, "card": shipped_card_line(SUPPORT_LEXICAL)}
    assert "longeval_pubmed by sentence, held out: balanced accuracy" in str(lexical["card"])
    assert chat == {"judge": "gpt", "scale": None, "card": None}


def test_named_card_of_a_support_judge_is_read(tmp_path: Path) -> None:
    card = shipped_card(SUPPORT_LEXICAL)
    assert card is not None
    (row,) = support_rows(tmp_path, card=card | {"note": "a card of mine"}, mine=LEXICAL)

    assert str(row["card"]).endswith("; a card of mine")


@pytest.mark.parametrize(
    ("card", "error"),
    [
        (shipped_card("offline-people"), "the card of a support judge, as 'mine' is, found one of coverage"),
        ((shipped_card(SUPPORT_LEXICAL) or {}) | {"version": "0"}, "found one of other version"),
        ((shipped_card(SUPPORT_LEXICAL) or {}) | {"settings": CHAT}, "found one of other settings"),
        ({"kind": "support"}, "expected a judge card"),
    ],
)
def test_card_that_is_not_of_this_support_judge_is_refused(tmp_path: Path, card: object, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        support_rows(tmp_path, card=card, mine=LEXICAL)


def test_card_of_support_is_refused_for_a_coverage_judge(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps(shipped_card(SUPPORT_LEXICAL)))

    with pytest.raises(UsageError, match="a coverage judge, as 'mine' is, found one of support"):
        judge_rows(experiment({"mine": OFFLINE}, cards={"mine": str(tmp_path / "card.json")}))


def test_card_of_an_unknown_judge_is_refused() -> None:
    with pytest.raises(ValueError, match="cards names 'other'"):
        experiment({"mine": OFFLINE}, support_judges={"lexical": LEXICAL}, cards={"other": "card.json"})
