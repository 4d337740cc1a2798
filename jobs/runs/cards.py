"""Scales and cards of a run's judges, for its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from actors.judges.opening import card_of_file, make_judge
from longform.judges.card_columns import Adversarial, Card
from longform.judges.cards import (
    describe,
    described_parts,
    judged_by,
    other_judge,
    shipped_card,
    shipped_card_of,
    worth,
)
from longform.results.results import JudgeRow
from longform.settings.experiment import Experiment
from longform.settings.named_judges import judge_scale


class _CardLine(NamedTuple):
    card: str | None
    reason: str | None = None
    worth: str | None = None
    adversarial: Adversarial | None = None
    parts: list[str] | None = None


def judge_rows(experiment: Experiment, served: Mapping[str, Mapping[str, Any]] | None = None) -> list[JudgeRow]:
    """
    A row of each judge; *served* is what servers say of judges that they serve.

    The card is the configuration's, else the one that ships or that the server states, else None; a card of another
    judge is None, with the reason.

    Raises:
        UsageError: A card that the configuration names cannot be read, or is of another kind than its judge.
    """
    return [
        _row(name, judge_scale(name, experiment.judges), _card_line(experiment, name, (served or {}).get(name, {})))
        for name in experiment.judges
    ]


def _row(name: str, scale: str | None, line: _CardLine) -> JudgeRow:
    row: JudgeRow = {"judge": name, "scale": scale, "card": line.card, "worth": line.worth, "card_reason": line.reason}
    if line.adversarial is not None:
        row["adversarial"] = line.adversarial
    return row | {"card_parts": line.parts} if line.parts else row


def released_judge_row(name: str) -> JudgeRow:
    """The same for labels that a release ships."""
    return _row(name, None, _line_of(shipped_card(name)))


def _card_line(experiment: Experiment, name: str, served: Mapping[str, Any]) -> _CardLine:
    """Return the line of a judge's card, or why it has none; None and None without a card."""
    path, judge = experiment.cards.get(name), experiment.judges[name]
    if path is None:
        shipped = _line_of(shipped_card_of(judge))
        return shipped if shipped.card else _CardLine(served.get("card"))
    card = card_of_file(path, judge.task, expected=f"the card of judge {name!r}")
    judges = experiment.judges
    versions = {one: make_judge(one, judges, prompts=experiment.prompts).version for one in judges}
    if reason := other_judge(card, judged_by(name, experiment.judges, versions)):
        return _CardLine(None, f"{path} is {reason}")
    return _line_of(card)


def _line_of(card: Card | None) -> _CardLine:
    if card is None:
        return _CardLine(None)
    return _CardLine(describe(card), None, worth(card), card.get("adversarial"), described_parts(card))
