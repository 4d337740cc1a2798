"""Cards of served judges: the one that an entry names, or the one that ships."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from actors.judges.cards import card_of_file
from actors.judges.opening import Judge
from longform.errors import UsageError
from longform.judges.cards import describe, judged_by, other_judge, shipped_card_of
from serve.settings import ServedKind


class CardFields(TypedDict):
    """The fields of `About` that tell of a card."""

    card: str | None
    card_reason: str | None


NO_CARD = "this judge has not been measured against people: no card is shipped or named for it"


def served_card(settings: ServedKind, judge: Judge, members: Mapping[str, Judge] | None = None) -> str | None:
    """
    Return the line of the card that the entry names, else of the one that ships; None: none.

    A card that is named must be of the judge's model and of its code or prompts; that of a mean, of its *members*'.

    Raises:
        UsageError: The file is no card, or is another judge's.
    """
    if settings.card is None:
        return describe(shipped) if (shipped := shipped_card_of(judge.settings)) else None
    card = card_of_file(settings.card, judge.kind.task, expected="a file that `longform calibrate` wrote")
    judges = {**(members or {}), judge.name: judge}
    settings_of = {name: one.settings for name, one in judges.items()}
    versions = {name: one.version for name, one in judges.items()}
    if reason := other_judge(card, judged_by(judge.name, settings_of, versions)):
        raise UsageError(f"card {settings.card!r}: expected that of this judge, found {reason}")
    return describe(card)


def card_fields(line: str | None, *, none: str = NO_CARD) -> CardFields:
    """Return a card's line as `About` has it; *none* says why there is no line."""
    return {"card": line, "card_reason": None if line else none}
