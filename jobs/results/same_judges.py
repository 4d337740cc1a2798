"""Judges that runs have in common: of one name, and the same in all that can change an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobs.results.stored_run import JudgeSignature, StoredRun
from longform.results.run_differences import setting_rows


class Judges(NamedTuple):
    """
    Judges of two runs.

    Attributes:
        same: Names of those that are compared; None: measures without a judge.
        told: Sentences on those that are not.
    """

    same: list[str | None]
    told: list[str]


def same_judges(first: StoredRun, second: StoredRun) -> Judges:
    """Return the judges that both runs have, and say of the others why their scores are not compared."""
    same: list[str | None] = []
    told: list[str] = []
    for judge in first.table.judges:
        if judge not in second.table.judges:
            told.append(_only(first, judge))
        elif judge is None or not (differing := judge_differences(first.judges[judge], second.judges[judge])):
            same.append(judge)
        else:
            told.append(
                f"Judge {judge} is not the same in both runs, so its scores are not compared: "
                f"{'; '.join(_words(first, second, one) for one in differing)}."
            )
    told += [_only(second, judge) for judge in second.table.judges if judge not in first.table.judges]
    return Judges(same, [one for one in told if one])


def judge_differences(first: JudgeSignature, second: JudgeSignature) -> list[tuple[str, str, str]]:
    """Return what differs: its name and both values. Models that are not known of one run do not differ."""
    rows = [
        (row["key"], row["first"] or "not set", row["second"] or "not set")
        for row in setting_rows({"settings": first.settings}, {"settings": second.settings})
    ]
    rows = [(key.removeprefix("settings.") or "settings", one, other) for key, one, other in rows]
    for name in ("versions", "models"):
        one, other = getattr(first, name), getattr(second, name)
        if one != other and one and other:
            rows.append((_NAMES[name], _listed(one), _listed(other)))
    return rows


_NAMES = {"versions": "version of its prompt or model", "models": "model that answered"}


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values)


def _words(first: StoredRun, second: StoredRun, differing: tuple[str, str, str]) -> str:
    key, one, other = differing
    return f"{key} is {one} in {first.label} and {other} in {second.label}"


def _only(run: StoredRun, judge: str | None) -> str:
    return "" if judge is None else f"Judge {judge} is in {run.label} only, so its scores are not compared."
