"""What a run's report says of its judges: the scale their scores are on, and their cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longform.configuration import Experiment, Judge, OfflineJudge, judge_scale
from longform.errors import UsageError
from longform.judge_cards import describe, shipped_card_line


def judge_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """
    A row `judge, scale, card` for each judge; the card is the configuration's, else the one that ships, else None.

    Raises:
        UsageError: A card that the configuration names cannot be read, or is of another calibration than its judge.
    """
    return [
        {
            "judge": name,
            "scale": judge_scale(name, experiment.judges),
            "card": _named_card(experiment, name) if name in experiment.cards else _shipped_line(definition),
        }
        for name, definition in experiment.judges.items()
    ]


def released_judge_row(name: str) -> dict[str, Any]:
    """The same for labels that a release ships."""
    return {"judge": name, "scale": None, "card": shipped_card_line(name)}


def _shipped_line(definition: Judge) -> str | None:
    return shipped_card_line(f"offline-{definition.calibration}") if isinstance(definition, OfflineJudge) else None


def _named_card(experiment: Experiment, name: str) -> str:
    path = experiment.cards[name]
    card = _read_card(path)
    scale = judge_scale(name, experiment.judges)
    if isinstance(experiment.judges[name], OfflineJudge) and card.get("scale") != scale:
        raise UsageError(
            f"{path}: expected the card of a judge that {scale}, as {name!r} is, found one that {card.get('scale')}; "
            "make one with `longform calibrate`"
        )
    return describe(card)


def _read_card(path: str) -> Mapping[str, Any]:
    try:
        card = json.loads(Path(path).read_text(encoding="utf-8"))
        describe(card)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: expected a judge card as `longform calibrate --out` writes it: {error!r}") from error
    return dict(card)
