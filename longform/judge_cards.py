"""
Judge cards: what a judge is worth, measured against human labels.

A card is made by `longform calibrate` and ships as a JSON file beside this module; its line stands beside every score
made with the judge. A judge without a card says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from longform.judge_settings import SHIPPED_CHECKER, OfflineSupportJudge, SupportJudge
from longform.models import read_model
from longform.support_cards import KIND, describe_support, with_interval

SUPPORT_LEXICAL = "support-lexical"
"""The shipped card of the offline support judge, under whatever name it judges."""

SUPPORT_CHECKER = "support-checker"
"""The card of the checker that ships."""


def shipped_card(judge: str) -> dict[str, Any] | None:
    """The card that ships for `offline-people`, `offline-gpt-4o`, `support-lexical` or `released:NAME`; None: none."""
    resource = files("longform").joinpath("cards", f"{judge.replace(':', '_')}.json")
    return json.loads(resource.read_text(encoding="utf-8")) if resource.is_file() else None


def shipped_card_line(judge: str) -> str | None:
    """The same in one line."""
    card = shipped_card(judge)
    return None if card is None else describe(card)


def shipped_support_line(judge: SupportJudge) -> str | None:
    """The line of the card that ships for a support judge of this definition; None: none."""
    if judge == SHIPPED_CHECKER:
        return shipped_card_line(SUPPORT_CHECKER)
    return shipped_card_line(SUPPORT_LEXICAL) if isinstance(judge, OfflineSupportJudge) else None


def held_out_rows(scale: str) -> list[dict[str, Any]]:
    """What the offline judge of *scale* (`people` or `GPT-4o`) reaches on labels it was not fitted on."""
    return [row for row in read_model("reach_judge")["rows"] if row["measure"].startswith(f"judge as {scale}: ")]


def describe(card: Mapping[str, Any]) -> str:
    """The judge's scale where it has one, its agreement with people, with intervals and the label set's hash."""
    if card.get("kind") == KIND:
        return describe_support(card)
    labels = card["labels"]
    topics = "1 topic" if labels["n_topics"] == 1 else f"{labels['n_topics']} topics"
    line = (
        f"{_held_out(card['held_out']) if card.get('held_out') else _agreement(card)}; "
        f"{card['pearson']['n']} labels of {labels['n_summaries']} summaries, {topics}, label set {labels['hash']}"
    )
    return "; ".join(part for part in (card.get("scale"), line, card.get("note")) if part)


def _agreement(card: Mapping[str, Any]) -> str:
    measures = (("r", "pearson", 1), ("kappa", "kappa", 1), ("link %", "linking_accuracy", 100))
    parts = [f"{name} {_with_interval(card[key], factor)}" for name, key, factor in measures]
    return f"against people: {', '.join(parts)}; bias {_with_interval(card['bias']['mean'], 1)}"


def _held_out(rows: Sequence[Mapping[str, Any]]) -> str:
    # a fitted judge is worth what it reaches on labels that were kept from it
    figures = {row["measure"].partition(": ")[2]: row for row in rows}
    measures = (("r", "pearson"), ("kappa", "kappa"), ("bias", "bias of answers"))
    parts = [f"{name} {_with_interval(figures[key], 1)}" for name, key in measures]
    link = f"linking of all rows people linked {_with_interval(figures['linking recall'], 100)} %"
    drops = [
        f"{word} {figures[f'drop by {name}, fully covered']['value']:.2f}"
        for word, name in (("negated", "negate"), ("another number", "number"), ("shuffled", "shuffle"))
    ]
    return f"against people, held out: {', '.join(parts)}; {link}; a covered insight loses {', '.join(drops)}"


def _with_interval(estimate: Mapping[str, float | None], factor: float) -> str:
    return with_interval(estimate, factor, 1 if factor == 100 else 2)
