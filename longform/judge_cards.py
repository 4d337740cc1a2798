"""
Judge cards: what a judge is worth, measured against human labels.

A card is made by `longform calibrate` and ships as a JSON file beside this module; its line stands beside every score
made with the judge. A judge without a card says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def read_card(judge: str) -> dict[str, Any] | None:
    """The card that ships for *judge*; None: there is none."""
    resource = files("longform").joinpath("cards", f"{card_name(judge)}.json")
    return json.loads(resource.read_text(encoding="utf-8")) if resource.is_file() else None


def card_name(judge: str) -> str:
    """A judge's name as a file name."""
    return judge.replace(":", "_").replace("/", "_")


def card_line(judge: str) -> str | None:
    """The card in one line; None: there is none."""
    card = read_card(judge)
    return None if card is None else describe(card)


def describe(card: Mapping[str, Any]) -> str:
    """Agreement with people in one line, with intervals and the label set's hash."""
    parts = [
        f"{name} {_with_interval(card[key], factor)}"
        for name, key, factor in (("r", "pearson", 1), ("kappa", "kappa", 1), ("link %", "linking_accuracy", 100))
    ]
    labels = card["labels"]
    return (
        f"against people: {', '.join(parts)}; bias {_with_interval(card['bias']['mean'], 1)}; "
        f"{card['pearson']['n']} labels of {labels['n_summaries']} summaries, {labels['n_topics']} topic(s), "
        f"label set {labels['hash']}"
    )


def _with_interval(estimate: Mapping[str, float | None], factor: float) -> str:
    digits = 1 if factor == 100 else 2
    value, low, high = (estimate[key] for key in ("value", "low", "high"))
    if value is None:
        return "unknown"
    if low is None or high is None:
        return f"{factor * value:.{digits}f}"
    return f"{factor * value:.{digits}f} [{factor * low:.{digits}f}, {factor * high:.{digits}f}]"
