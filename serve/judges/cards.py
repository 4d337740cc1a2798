"""Cards of served judges: the one that an entry names, or the one that ships."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actors.storage.folder import file_place
from longform.errors import UsageError
from longform.judges.cards import (
    asked_identity,
    describe,
    other_judge,
    read_card,
    shipped_card_line,
    shipped_support_line,
)
from longform.judges.coverage_cards import KIND as COVERAGE
from longform.judges.support_cards import KIND
from longform.settings.judges import MeanJudgeSettings, OfflineJudgeSettings
from serve.settings import ServedCoverage, ServedSupport

NO_CARD = "this judge has not been measured against people: no card is shipped or named for it"


def support_card(settings: ServedSupport, version: str) -> str | None:
    """
    Return the line of the card that the entry names, else of the one that ships; None if there is none.

    Args:
        settings: The entry.
        version: Of the judge's code and models, or prompts; a card that is named must be of it, and of the same model.

    Raises:
        UsageError: The file is no card, or is another judge's.
    """
    if settings.card is None:
        return shipped_support_line(settings.judge)
    card = _read_card(settings.card, KIND)
    judge = settings.judge
    made_of = {"kind": judge.kind} | ({"chat": {"model": judge.chat.model}} if judge.kind == "chat" else {})
    if reason := other_judge(card, {"settings": made_of, "version": version}):
        raise UsageError(f"card {settings.card!r}: expected that of this judge, found {reason}")
    return describe(card)


def coverage_card(settings: ServedCoverage, prompt_version: str) -> str | None:
    """
    The same of a coverage judge.

    Args:
        settings: The entry.
        prompt_version: Of the judge's prompt or code; a card that is named must be of it, and of the same model.

    Raises:
        UsageError: The file is no card, or is another judge's.
    """
    judge = settings.judge
    if settings.card is None:
        return shipped_card_line(f"offline-{judge.calibration}") if isinstance(judge, OfflineJudgeSettings) else None
    card = _read_card(settings.card, COVERAGE)
    assert not isinstance(judge, MeanJudgeSettings), "a mean has its members' cards"
    if reason := other_judge(card, {"judged_by": asked_identity(judge, prompt_version)}):
        raise UsageError(f"card {settings.card!r}: expected that of this judge, found {reason}")
    return describe(card)


def _read_card(url: str, kind: str) -> Mapping[str, Any]:
    folder, name = file_place(url)
    try:
        return read_card(folder.read_bytes(name), kind)
    except (OSError, ValueError) as error:
        raise UsageError(f"card {url!r}: expected a file that `longform calibrate` wrote: {error}") from error


def card_fields(line: str | None) -> dict[str, Any]:
    """A card's line as `About` has it."""
    return {"card": line, "card_reason": None if line else NO_CARD}
