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


def shipped_card(judge: str) -> dict[str, Any] | None:
    """The card that ships for `offline` or `released:NAME`; None: there is none."""
    resource = files("longform").joinpath("cards", f"{judge.replace(':', '_')}.json")
    return json.loads(resource.read_text(encoding="utf-8")) if resource.is_file() else None


def shipped_card_line(judge: str) -> str | None:
    """The same in one line."""
    card = shipped_card(judge)
    return None if card is None else describe(card)


def describe(card: Mapping[str, Any]) -> str:
    """Agreement with people in one line, with intervals and the label set's hash."""
    parts = [
        f"{name} {_with_interval(card[key], factor)}"
        for name, key, factor in (("r", "pearson", 1), ("kappa", "kappa", 1), ("link %", "linking_accuracy", 100))
    ]
    labels = card["labels"]
    topics = "1 topic" if labels["n_topics"] == 1 else f"{labels['n_topics']} topics"
    line = (
        f"against people: {', '.join(parts)}; bias {_with_interval(card['bias']['mean'], 1)}; "
        f"{card['pearson']['n']} labels of {labels['n_summaries']} summaries, {topics}, label set {labels['hash']}"
    )
    return f"{line}; {card['note']}" if card.get("note") else line


def _with_interval(estimate: Mapping[str, float | None], factor: float) -> str:
    digits = 1 if factor == 100 else 2
    value, low, high = (estimate[key] for key in ("value", "low", "high"))
    if value is None:
        return "unknown"
    if low is None or high is None:
        return f"{factor * value:.{digits}f}"
    return f"{factor * value:.{digits}f} [{factor * low:.{digits}f}, {factor * high:.{digits}f}]"
