"""
The mean of several judges' numbers for the same summary and target; nobody is asked anew.

On SummHay's human labels the mean of a judge by shared words and of one chat model agrees with people better than
either: their errors differ.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from longform.metrics.agreement import WEIGHTS

VERSION = "1"
"""Changes with any change that moves an answer."""

_DIGITS = 6

Verdict = Mapping[str, Any]


def mean_verdicts(
    members: Mapping[str, Sequence[Verdict]], *, judge: str, cuts: tuple[float, float]
) -> list[dict[str, Any]]:
    """
    One verdict for each target that any member judged, in the order the members name them.

    A member's number is its probability, else what its answer counts (1, 0.5, 0). Where a member has no answer there
    is no mean: null, with the reason naming the member. The linked bullet is that of the first member that linked
    one, where the mean says that the target is covered.

    Args:
        members: Judge -> its verdicts on one summary.
        judge: The name of the mean.
        cuts: Means from which the answer is partial, and full.
    """
    by_target = {name: {row["target_id"]: row for row in rows} for name, rows in members.items()}
    targets = dict.fromkeys(target for rows in by_target.values() for target in rows)
    version = f"mean@{VERSION}: {members_version(members)}"
    return [
        _mean({name: rows.get(target) for name, rows in by_target.items()}, cuts)
        | {"judge": judge, "prompt_version": version}
        for target in targets
    ]


def _mean(given: Mapping[str, Verdict | None], cuts: tuple[float, float]) -> dict[str, Any]:
    numbers = {name: None if row is None else _number(row) for name, row in given.items()}
    missing = [f"{name}: {why_unjudged(row)}" for name, row in given.items() if numbers[name] is None]
    known = [number for number in numbers.values() if number is not None]
    mean = None if missing else round(sum(known) / len(known), _DIGITS)
    answer = None if mean is None else _answer(mean, cuts)
    first = next(row for row in given.values() if row is not None)
    return {
        **{name: first[name] for name in ("summary_id", "target_kind", "target_id")},
        "unit_index": None,
        "mode": "full",
        "chunk_index": None,
        "repeat": 0,
        "answer": answer,
        "probability": mean,
        "linked_unit": _linked(given) if answer in ("partial", "full") else None,
        "failure": "; ".join(missing) or None,
        "reply": json.dumps(numbers),
        "call_id": None,
    }


def _number(row: Verdict) -> float | None:
    if row["answer"] is None:
        return None
    probability = row.get("probability")
    return WEIGHTS[row["answer"]] if probability is None else float(probability)


def why_unjudged(row: Verdict | None) -> str:
    """Why a member of a mean has no number."""
    return "no_verdict" if row is None else str(row.get("failure") or "no reason recorded")


def _answer(mean: float, cuts: tuple[float, float]) -> str:
    partial, full = cuts
    if mean >= full:
        return "full"
    return "partial" if mean >= partial else "none"


def _linked(given: Mapping[str, Verdict | None]) -> int | None:
    links = (row["linked_unit"] for row in given.values() if row is not None)
    return next((link for link in links if link is not None), None)


def members_version(members: Mapping[str, Sequence[Verdict]]) -> str:
    """What made the members' verdicts, each by its prompt or code, else by its name."""
    return " + ".join(_version(name, rows) for name, rows in members.items())


def _version(name: str, rows: Sequence[Verdict]) -> str:
    return next((str(row["prompt_version"]) for row in rows if row.get("prompt_version")), name)
