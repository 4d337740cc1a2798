"""What a run's report says of its judges: the scale their scores are on, and their cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from actors.chat.opening import REPAIR_PROMPT, load_prompt
from actors.judges.offline_coverage import PROMPT_VERSION as OFFLINE_VERSION
from actors.judges.opening_support import code_version
from actors.storage.folder import file_place
from jobs.calling import support_identity
from longform.errors import UsageError
from longform.judges.cards import (
    coverage_identity,
    describe,
    other_judge,
    read_card,
    shipped_card_line,
    shipped_support_line,
)
from longform.judges.coverage_cards import KIND as COVERAGE
from longform.judges.mean_support import VERSION as MEAN_VERSION
from longform.judges.support_cards import KIND as SUPPORT
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.judges import (
    ChatJudgeSettings,
    ChatSupportJudgeSettings,
    JudgeSettings,
    MeanJudgeSettings,
    MeanSupportJudgeSettings,
    OfflineJudgeSettings,
    SupportJudgeSettings,
    judge_scale,
    mean_scale,
)


def judge_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """
    A row `judge, scale, card, card_reason` for each judge and support judge.

    The card is the configuration's, else the one that ships, else None; a card of another judge is None, with the
    reason.

    Raises:
        UsageError: A card that the configuration names cannot be read, or is of another kind than its judge.
    """
    coverage = [
        {"judge": name, "scale": judge_scale(name, experiment.judges), **_card_fields(experiment, name)}
        for name in experiment.judges
    ]
    support = [
        {"judge": name, "scale": mean_scale(definition), **_card_fields(experiment, name)}
        for name, definition in experiment.support_judges.items()
    ]
    return coverage + support


def released_judge_row(name: str) -> dict[str, Any]:
    """The same for labels that a release ships."""
    return {"judge": name, "scale": None, "card": shipped_card_line(name), "card_reason": None}


def _card_fields(experiment: Experiment, name: str) -> dict[str, Any]:
    """The line of a judge's card, or why it has none; null and null without a card."""
    path = experiment.cards.get(name)
    if path is None:
        return {"card": _shipped_line(experiment, name), "card_reason": None}
    is_support = name in experiment.support_judges
    card = _read_card(path, SUPPORT if is_support else COVERAGE, name)
    identity = _support_identity(experiment, name) if is_support else _coverage_identity(experiment, name)
    if reason := other_judge(card, identity):
        return {"card": None, "card_reason": f"{path} is {reason}"}
    return {"card": describe(card), "card_reason": None}


def _shipped_line(experiment: Experiment, name: str) -> str | None:
    if name in experiment.support_judges:
        return shipped_support_line(experiment.support_judges[name])
    judge = experiment.judges[name]
    return shipped_card_line(f"offline-{judge.calibration}") if isinstance(judge, OfflineJudgeSettings) else None


def _support_identity(experiment: Experiment, name: str) -> dict[str, Any]:
    judges = experiment.support_judges
    return {
        "settings": support_identity(judges[name], judges),
        "version": judge_version(judges[name], judges, experiment.prompts),
    }


def _coverage_identity(experiment: Experiment, name: str) -> dict[str, Any]:
    versions = coverage_versions(experiment.judges, experiment.prompts)
    return {"judged_by": coverage_identity(name, experiment.judges, versions)}


def coverage_versions(judges: Mapping[str, JudgeSettings], prompts: str | None) -> dict[str, str]:
    """
    Judge -> version of its prompt, or of its code, for those that are asked.

    Args:
        judges: Of coverage.
        prompts: A folder whose files replace ours of the same name.
    """
    return {
        name: load_prompt(judge.prompt, prompts).version if isinstance(judge, ChatJudgeSettings) else OFFLINE_VERSION
        for name, judge in judges.items()
        if not isinstance(judge, MeanJudgeSettings)
    }


def judge_version(
    settings: SupportJudgeSettings, judges: Mapping[str, SupportJudgeSettings], prompts: str | None
) -> str:
    """
    Changes with all that can change the judge's verdicts beside its settings: prompts, or code and models.

    Args:
        settings: Of the judge.
        judges: Where a mean finds its members.
        prompts: A folder whose files replace ours of the same name.
    """
    if isinstance(settings, MeanSupportJudgeSettings):
        return content_key(MEAN_VERSION, [judge_version(judges[name], judges, prompts) for name in settings.of])
    if isinstance(settings, ChatSupportJudgeSettings):
        return content_key([load_prompt(name, prompts).version for name in (settings.prompt, REPAIR_PROMPT)])
    return code_version(settings)


def _read_card(path: str, kind: str, judge: str) -> Mapping[str, Any]:
    folder, name = file_place(path)
    try:
        return read_card(folder.read_bytes(name), kind)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: expected the card of judge {judge!r}: {error}") from error


def write_card(card: dict[str, Any], *, note: str | None, out: str | None) -> None:
    """Add the *note*, and write the card to the file *out*, a path or `s3://` URL, where one is named."""
    card["note"] = note
    if out:
        folder, name = file_place(out)
        folder.write_bytes(name, card_bytes(card))


def card_bytes(card: Mapping[str, Any]) -> bytes:
    """A card as a file."""
    return (json.dumps(card, indent=1, allow_nan=False) + "\n").encode()
