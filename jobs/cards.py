"""What a run's report says of its judges: the scale their scores are on, and their cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from actors.chat import REPAIR_PROMPT, load_prompt
from actors.storage import file_place
from actors.support_judges import code_version
from jobs.calling import support_identity
from longform.configuration import Experiment
from longform.errors import UsageError
from longform.judge_cards import describe, shipped_card_line, shipped_support_line
from longform.judge_settings import (
    ChatSupportJudge,
    Judge,
    MeanSupportJudge,
    OfflineJudge,
    SupportJudge,
    judge_scale,
    mean_scale,
)
from longform.keys import content_key
from longform.mean_support import VERSION as MEAN_VERSION
from longform.support_cards import KIND


def judge_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """
    A row `judge, scale, card` for each judge and support judge.

    The card is the configuration's, else the one that ships, else None.

    Raises:
        UsageError: A card that the configuration names cannot be read, or is of another calibration, kind or version
            than its judge.
    """
    rows = [
        {
            "judge": name,
            "scale": judge_scale(name, experiment.judges),
            "card": _named_card(experiment, name) if name in experiment.cards else _shipped_line(definition),
        }
        for name, definition in experiment.judges.items()
    ]
    support = [
        {
            "judge": name,
            "scale": mean_scale(definition),
            "card": _support_line(experiment, name),
        }
        for name, definition in experiment.support_judges.items()
    ]
    return rows + support


def released_judge_row(name: str) -> dict[str, Any]:
    """The same for labels that a release ships."""
    return {"judge": name, "scale": None, "card": shipped_card_line(name)}


def _shipped_line(definition: Judge) -> str | None:
    return shipped_card_line(f"offline-{definition.calibration}") if isinstance(definition, OfflineJudge) else None


def _support_line(experiment: Experiment, name: str) -> str | None:
    named = name in experiment.cards
    return _named_support_card(experiment, name) if named else shipped_support_line(experiment.support_judges[name])


def _named_support_card(experiment: Experiment, name: str) -> str:
    path, definition = experiment.cards[name], experiment.support_judges[name]
    card = _read_card(path)
    if card.get("kind") != KIND:
        raise UsageError(f"{path}: expected the card of a support judge, as {name!r} is, found one of coverage")
    judges = experiment.support_judges
    expected = {
        "settings": support_identity(definition, judges),
        "version": judge_version(definition, judges, experiment.prompts),
    }
    if other := [key for key, value in expected.items() if card[key] != value]:
        raise UsageError(
            f"{path}: expected a card of {name!r} as it is, found one of other {' and '.join(other)}; "
            "make one with `longform calibrate --support`"
        )
    return describe(card)


def judge_version(settings: SupportJudge, judges: Mapping[str, SupportJudge], prompts: str | None) -> str:
    """
    Changes with all that can change the judge's verdicts beside its settings: prompts, or code and models.

    Args:
        settings: Of the judge.
        judges: Where a mean finds its members.
        prompts: A folder whose files replace ours of the same name.
    """
    if isinstance(settings, MeanSupportJudge):
        return content_key(MEAN_VERSION, [judge_version(judges[name], judges, prompts) for name in settings.of])
    if isinstance(settings, ChatSupportJudge):
        return content_key([load_prompt(name, prompts).version for name in (settings.prompt, REPAIR_PROMPT)])
    return code_version(settings)


def _named_card(experiment: Experiment, name: str) -> str:
    path = experiment.cards[name]
    card = _read_card(path)
    if card.get("kind") == KIND:
        raise UsageError(f"{path}: expected the card of a coverage judge, as {name!r} is, found one of support")
    scale = judge_scale(name, experiment.judges)
    if isinstance(experiment.judges[name], OfflineJudge) and card.get("scale") != scale:
        raise UsageError(
            f"{path}: expected the card of a judge that {scale}, as {name!r} is, found one that {card.get('scale')}; "
            "make one with `longform calibrate`"
        )
    return describe(card)


def _read_card(path: str) -> Mapping[str, Any]:
    folder, name = file_place(path)
    try:
        card = dict(folder.read_json(name))
        describe(card)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: expected a judge card as `longform calibrate --out` writes it: {error!r}") from error
    return card


def write_card(card: dict[str, Any], *, note: str | None, out: str | None) -> None:
    """Add the *note*, and write the card to the file *out*, a path or `s3://` URL, where one is named."""
    card["note"] = note
    if out:
        folder, name = file_place(out)
        folder.write_bytes(name, card_bytes(card))


def card_bytes(card: Mapping[str, Any]) -> bytes:
    """A card as a file."""
    return (json.dumps(card, indent=1, allow_nan=False) + "\n").encode()
