"""A report's words on its judges: scales, cards, and cards that belong to another judge."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from jobs.runs.judges import judge_rows, released_judge_row
from longform.errors import UsageError
from longform.judges.cards import SUPPORT_CHECKER, SUPPORT_LEXICAL, describe, shipped_card
from longform.prompts import load_prompt
from longform.report.parts import judge_line
from longform.settings.experiment import Experiment
from longform.settings.named_judges import SHIPPED_CHECKER

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

    assert row.pop("adversarial") == (shipped_card("offline-gpt-4o") or {})["adversarial"]
    assert "; ".join(row.pop("card_parts")) == row["card"]
    told = "agrees with people about as well as GPT-4o does on the same 56 summaries"
    assert row == {
        "judge": "mine",
        "scale": "marks as GPT-4o does",
        "card": describe(shipped_card("offline-gpt-4o")),
        "worth": f"{told}, correlation 0.70 beside 0.72",
        "card_reason": None,
    }
    assert row["card"].startswith("marks as GPT-4o does; against people, on a topic kept out, conversation (")


def test_mean_names_its_members_scales_and_has_no_card_of_its_own() -> None:
    other = {"kind": "offline", "calibration": "people"}
    rows = judge_rows(experiment({"a": OFFLINE, "b": other, "m": {"kind": "mean", "of": ["a", "b"]}}))

    assert rows[2] == {
        "judge": "m",
        "scale": "mean of a (marks as GPT-4o does) and b (marks as people do)",
        "card": None,
        "worth": None,
        "card_reason": None,
    }


@pytest.mark.parametrize("calibration", ["people", "gpt-4o"])
def test_shipped_card_is_of_the_calibration_it_is_named_by(calibration: str) -> None:
    scale = {"people": "marks as people do", "gpt-4o": "marks as GPT-4o does"}[calibration]
    card = shipped_card(f"offline-{calibration}")

    assert card is not None
    assert (card["judge"], card["scale"]) == (f"offline-{calibration}", scale)


def named_card(tmp_path: Path, card: object) -> str:
    (tmp_path / "card.json").write_text(json.dumps(card))
    return str(tmp_path / "card.json")


def test_card_of_the_other_calibration_is_not_shown(tmp_path: Path) -> None:
    """Its numbers would stand beside scores that it does not describe."""
    card = named_card(tmp_path, shipped_card("offline-people"))
    (row,) = judge_rows(experiment({"mine": OFFLINE}, cards={"mine": card}))

    assert row["card"] is None
    assert row["card_reason"] == f"{card} is the card of another judge: model 'offline-people', not 'offline-gpt-4o'"


CHAT_JUDGE = {"kind": "chat", "chat": {"model": "gpt-4o"}}
PROMPT = load_prompt("judge_coverage_3").version


@pytest.mark.parametrize(
    ("made_of", "reason"),
    [
        ({"model": "gpt-4o", "prompt_version": PROMPT}, None),
        ({"model": "gpt-4o-mini", "prompt_version": PROMPT}, "model 'gpt-4o-mini', not 'gpt-4o'"),
        ({"model": "gpt-4o", "prompt_version": "mine@0"}, f"prompt_version 'mine@0', not {PROMPT!r}"),
    ],
)
def test_card_of_a_chat_judge_is_shown_for_its_model_and_prompt_only(
    made_of: dict[str, str], reason: str | None, tmp_path: Path
) -> None:
    card = {**(shipped_card("released:gpt-4o") or {}), "judged_by": {"backend": "chat", **made_of}}
    (row,) = judge_rows(experiment({"gpt": CHAT_JUDGE}, cards={"gpt": named_card(tmp_path, card)}))
    shown = judge_line({"judges": [row]}, "gpt")

    if reason is None:
        assert (row["card"], row["card_reason"]) == (describe(card), None)
        assert "agrees with people about as well as" in shown
    else:
        assert row["card"] is None
        assert row["card_reason"].endswith(f"is the card of another judge: {reason}")
        assert "no card: its agreement with people is not known" in shown
        assert "agrees with people" not in shown


def test_card_of_a_prompt_that_a_folder_replaces_is_of_that_prompt(tmp_path: Path) -> None:
    """The digest is the prompt's own, not its name."""
    (tmp_path / "prompts").mkdir()
    ours = resources.files("longform.prompts") / "judge_coverage_3.md"
    (tmp_path / "prompts" / "judge_coverage_3.md").write_text(ours.read_text().replace("summary", "text"))
    made_of = {"backend": "chat", "model": "gpt-4o", "prompt_version": PROMPT}
    card = named_card(tmp_path, (shipped_card("released:gpt-4o") or {}) | {"judged_by": made_of})
    (row,) = judge_rows(experiment({"gpt": CHAT_JUDGE}, cards={"gpt": card}, prompts=str(tmp_path / "prompts")))

    assert row["card"] is None
    assert f"prompt_version {PROMPT!r}, not 'judge_coverage_3@" in row["card_reason"]


def test_card_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text("[]")

    with pytest.raises(
        UsageError, match=r"card\.json: expected the card of judge 'mine': expected a card of this version"
    ):
        judge_rows(experiment({"mine": OFFLINE}, cards={"mine": str(tmp_path / "card.json")}))


def test_released_judge_has_its_card_and_no_scale() -> None:
    row = released_judge_row("released:gpt-4o")

    assert row["scale"] is None
    assert row["card"].startswith("against people, conversation and news (887 labels, 117 summaries, 2 topics): r 0.71")


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

    assert "; ".join(lexical.pop("card_parts")) == lexical["card"]
    assert lexical == {
        "judge": "mine",
        "scale": None,
        "card": describe(shipped_card(SUPPORT_LEXICAL)),
        "worth": "is right on 57 of 100 labels by people, where guessing is right on 50, the mean of 2 data sets",
        "card_reason": None,
    }
    assert "longeval_pubmed by sentence: balanced accuracy" in str(lexical["card"])
    assert chat == {"judge": "gpt", "scale": None, "card": None, "worth": None, "card_reason": None}


def test_named_card_of_a_support_judge_is_read(tmp_path: Path) -> None:
    card = shipped_card(SUPPORT_LEXICAL)
    assert card is not None
    (row,) = support_rows(tmp_path, card=card | {"note": "a card of mine"}, mine=LEXICAL)

    assert str(row["card"]).endswith("; a card of mine")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"prompt_version": "0"}, "prompt_version '0', not "),
        ({"backend": "chat"}, "backend 'chat', not 'offline'"),
    ],
)
def test_card_of_another_support_judge_is_not_shown(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    shipped = shipped_card(SUPPORT_LEXICAL)
    assert shipped is not None
    card = shipped | {"judged_by": shipped["judged_by"] | change}
    (row,) = support_rows(tmp_path, card=card, mine=LEXICAL)

    assert row["card"] is None
    assert f"is the card of another judge: {reason}" in str(row["card_reason"])


def test_card_of_a_checkpoint_is_of_its_way_of_reading(tmp_path: Path) -> None:
    """Another threshold makes another answer of the same number."""
    card, checker = shipped_card(SUPPORT_CHECKER), SHIPPED_CHECKER.model_dump(exclude={"task"})
    (same,) = support_rows(tmp_path, card=card, mine=checker)
    (other,) = support_rows(tmp_path, card=card, mine=checker | {"threshold": 0.5})

    assert (same["card"], same["card_reason"]) == (describe(card or {}), None)
    assert other["card"] is None
    assert str(other["card_reason"]).endswith("another judge: threshold 0.77, not 0.5")


def test_card_of_a_support_judge_that_an_earlier_version_wrote_is_refused(tmp_path: Path) -> None:
    card = {name: value for name, value in (shipped_card(SUPPORT_LEXICAL) or {}).items() if name != "judged_by"}

    with pytest.raises(UsageError, match=r"found none of its \['judged_by'\]; make it anew"):
        support_rows(tmp_path, card=card | {"settings": LEXICAL, "version": "1"}, mine=LEXICAL)


@pytest.mark.parametrize(
    ("card", "error"),
    [
        (shipped_card("offline-people"), "'mine': expected the card of a support judge, found one of coverage"),
        ({"kind": "support"}, "expected a card of this version, found none of its"),
        ({"judge": "offline", "prompt_version": "1"}, "expected a card of this version, found none"),
    ],
)
def test_what_is_no_card_of_a_support_judge_is_refused(tmp_path: Path, card: object, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        support_rows(tmp_path, card=card, mine=LEXICAL)


def test_card_of_support_is_refused_for_a_coverage_judge(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps(shipped_card(SUPPORT_LEXICAL)))

    with pytest.raises(UsageError, match="expected the card of a coverage judge, found one of support"):
        judge_rows(experiment({"mine": OFFLINE}, cards={"mine": str(tmp_path / "card.json")}))


def test_card_of_an_unknown_judge_is_refused() -> None:
    with pytest.raises(ValueError, match="cards names 'other'"):
        experiment({"mine": OFFLINE}, support_judges={"lexical": LEXICAL}, cards={"other": "card.json"})
