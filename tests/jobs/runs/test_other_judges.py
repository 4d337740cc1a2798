"""A card is shown for the judge that it was made of, and for no other: each kind of judge, each thing that makes it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from actors.judges.opening import make_judge
from jobs.runs.judges import judge_rows
from longform.judges.cards import KEY_POINT_CHECKER, SUPPORT_LEXICAL, describe, judged_by, shipped_card
from longform.judges.kinds import KINDS
from longform.settings.experiment import Experiment
from longform.settings.named_judges import SHIPPED_CHECKER, SHIPPED_KEY_POINT_CHECKER
from tests.jobs.runs.test_cards import experiment
from tests.modules import Write

PEOPLE = {"kind": "offline", "calibration": "people"}
GPT = {"kind": "offline", "calibration": "gpt-4o"}
CHAT = {"kind": "chat", "chat": {"model": "gpt-4o"}}
OTHER_CHAT = {"kind": "chat", "chat": {"model": "gpt-4o-mini"}}
SERVED = {"kind": "served", "url": "http://localhost:1", "judge": "j", "version": "1"}
MEAN = {"a": PEOPLE, "b": CHAT, "judge": {"kind": "mean", "of": ["a", "b"]}}
LEXICAL = {"task": "support", "kind": "offline"}
SUPPORT_MEAN = {
    "a": LEXICAL,
    "b": CHAT | {"task": "support"},
    "judge": {"task": "support", "kind": "mean", "of": ["a", "b"]},
}
CHECKER = SHIPPED_CHECKER.model_dump()
KEY_POINTS = SHIPPED_KEY_POINT_CHECKER.model_dump()
FIGURES = {"coverage": "released:gpt-4o", "support": SUPPORT_LEXICAL, "key_point": KEY_POINT_CHECKER}
"""Task -> the shipped card that lends its figures."""


def asked(judge: dict[str, Any], /, **changes: Any) -> dict[str, Any]:
    """Definitions in which `judge` is this one."""
    return {"judge": judge | changes}


def of_mean(mean: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Definitions with other members, or another mean of them."""
    return mean | {name: mean[name] | change for name, change in changes.items()}


def card_of(judges: Experiment, folder: Path) -> tuple[str, str]:
    """Write the card of `judge` as it is defined; return its file and its line."""
    versions = {name: make_judge(name, judges.judges, prompts=judges.prompts).version for name in judges.judges}
    figures: Any = shipped_card(FIGURES[judges.judges["judge"].task])
    card = figures | {"judged_by": judged_by("judge", judges.judges, versions), "kind": judges.judges["judge"].task}
    (folder / "card.json").write_text(json.dumps(card))
    return str(folder / "card.json"), describe(card)


def shown(judges: dict[str, Any], card: str, **more: object) -> dict[str, Any]:
    rows = judge_rows(experiment(judges, cards={"judge": card}, **more))
    return dict(next(row for row in rows if row["judge"] == "judge"))


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "offline, scale": (asked(PEOPLE), asked(GPT), "model 'offline-people', not 'offline-gpt-4o'"),
    "offline, backend": (asked(PEOPLE), asked(CHAT), "backend 'offline', not 'chat'"),
    "chat, model": (asked(CHAT), asked(OTHER_CHAT), "model 'gpt-4o', not 'gpt-4o-mini'"),
    "chat, repeats": (asked(CHAT, repeats=3), asked(CHAT, repeats=2), "repeats 3, not 2"),
    "chat, no repeats": (asked(CHAT, repeats=3), asked(CHAT), "repeats 3, not 1"),
    "served, judge": (asked(SERVED), asked(SERVED, judge="k"), "model 'j at http://localhost:1', not 'k at "),
    "served, version": (asked(SERVED), asked(SERVED, version="2"), "prompt_version 'served j at http://localhost:1 1'"),
    "served, backend": (asked(SERVED), asked(CHAT), "backend 'served', not 'chat'"),
    "support, backend": (asked(LEXICAL), asked(CHECKER), "backend 'offline', not 'checkpoint'"),
    "support, model": (
        asked(CHAT, task="support"),
        asked(OTHER_CHAT, task="support"),
        "model 'gpt-4o', not 'gpt-4o-mini'",
    ),
    "support, how replies are read": (
        asked(CHAT, task="support"),
        asked(CHAT, task="support", fidelity="release"),
        "fidelity 'ours', not 'release'",
    ),
    "checkpoint, windows": (asked(CHECKER), asked(CHECKER, best_windows=2), "best_windows 4, not 2"),
    "key points, threshold": (asked(KEY_POINTS), asked(KEY_POINTS, threshold=0.5), "threshold 0.7, not 0.5"),
    "key points, model": (
        asked(CHAT, task="key_point"),
        asked(OTHER_CHAT, task="key_point"),
        "model 'gpt-4o', not 'gpt-4o-mini'",
    ),
    "mean, member": (MEAN, of_mean(MEAN, a=GPT), "model 'offline-people', not 'offline-gpt-4o'"),
    "mean, member's model": (MEAN, of_mean(MEAN, b=OTHER_CHAT), "model 'gpt-4o', not 'gpt-4o-mini'"),
    "mean, order": (MEAN, of_mean(MEAN, judge={"of": ["b", "a"]}), "backend 'offline', not 'chat'"),
    "mean, cuts": (MEAN, of_mean(MEAN, judge={"cuts": [0.3, 0.75]}), "cuts 0.25, not 0.3"),
    "mean, one more": (MEAN, of_mean(MEAN | {"c": GPT}, judge={"of": ["a", "b", "c"]}), "of [{"),
    "mean, repeats of a member": (of_mean(MEAN, b={"repeats": 3}), MEAN, "repeats 3, not 1"),
    "mean, none": (MEAN, asked(CHAT), "backend 'mean', not 'chat'"),
    "mean of support, threshold": (
        SUPPORT_MEAN,
        of_mean(SUPPORT_MEAN, judge={"threshold": 0.7}),
        "cuts 0.5, not 0.7",
    ),
    "mean of support, member": (
        SUPPORT_MEAN,
        of_mean(SUPPORT_MEAN, b={"chat": {"model": "gpt-4o-mini"}}),
        "model 'gpt-4o', not 'gpt-4o-mini'",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_card_is_of_one_judge(case: str, tmp_path: Path) -> None:
    own, other, reason = CASES[case]
    card, line = card_of(experiment(own), tmp_path)

    assert (shown(own, card)["card"], shown(own, card)["card_reason"]) == (line, None)
    row = shown(other, card)
    assert row["card"] is None
    assert "adversarial" not in row
    assert reason in row["card_reason"]


@pytest.mark.parametrize("task", sorted(FIGURES))
def test_a_card_of_a_chat_judge_is_of_the_text_of_its_prompt(task: Any, tmp_path: Path) -> None:
    judge, folder = asked(CHAT, task=task), tmp_path / "prompts"
    card, line = card_of(experiment(judge), tmp_path)
    folder.mkdir()
    ours = resources.files("longform.prompts") / f"{KINDS[task].prompt}.md"
    (folder / ours.name).write_text(ours.read_text() + "\nThink twice.\n")

    assert shown(judge, card)["card"] == line
    row = shown(judge, card, prompts=str(folder))
    assert row["card"] is None
    assert "prompt_version" in row["card_reason"]


def test_a_card_of_a_mean_is_of_its_members_prompts(tmp_path: Path) -> None:
    card, line = card_of(experiment(MEAN), tmp_path)
    (tmp_path / "prompts").mkdir()
    ours = resources.files("longform.prompts") / "judge_coverage_3.md"
    (tmp_path / "prompts" / "judge_coverage_3.md").write_text(ours.read_text() + "\nThink twice.\n")

    assert shown(MEAN, card)["card"] == line
    assert shown(MEAN, card, prompts=str(tmp_path / "prompts"))["card"] is None


def test_a_card_of_a_class_is_of_its_source(write: Write, tmp_path: Path) -> None:
    source = "class Inside:\n    def judge(self, group):\n        return [1.0 for item in group.items]\n"
    write("their_judge", source)
    write("their_later_judge", source.replace("1.0", "0.5"))
    names, folder = ("their_judge", "their_later_judge"), str(tmp_path)
    judges = [{"judge": {"kind": "python", "class": f"{name}:Inside", "folder": folder}} for name in names]
    card, line = card_of(experiment(judges[0]), tmp_path)

    assert shown(judges[0], card)["card"] == line
    assert "model 'their_judge:Inside', not 'their_later_judge:Inside'" in shown(judges[1], card)["card_reason"]
