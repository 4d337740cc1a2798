"""
The mean of several support judges' numbers for the same document and sentence; nobody is asked anew.

A cell has a mean only where every member judged it: an unknown is neither 0 nor the other members' mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from longform.judges.mean_coverage import members_version, why_unjudged
from longform.judges.meta_evaluation import text_index
from longform.judges.support_prompts import SupportVerdict, by_threshold, unjudged

VERSION = "1"
"""Changes with any change that moves an answer."""

_DIGITS = 6

Verdict = Mapping[str, Any]
"""A row of `verdicts`."""


def mean_support_verdicts(
    members: Mapping[str, Sequence[Verdict]], *, judge: str, threshold: float
) -> list[dict[str, Any]]:
    """
    One verdict for each cell of one summary that any member judged, in the order the members name them.

    A member's number is its probability, else 1 for supported and 0 for unsupported. Where a member has none there is
    no mean: null, with the reason naming the member. `reply` has the members' numbers.

    Args:
        members: Judge -> its verdicts on one summary in one mode.
        judge: The name of the mean.
        threshold: A mean above it means supported.
    """
    by_cell = {name: {_cell(row): row for row in rows} for name, rows in members.items()}
    cells = dict.fromkeys(cell for rows in by_cell.values() for cell in rows)
    version = f"mean_support@{VERSION}: {members_version(members)}"
    return [
        _mean({name: rows.get(cell) for name, rows in by_cell.items()}, threshold)
        | {"judge": judge, "prompt_version": version}
        for cell in cells
    ]


def _cell(row: Verdict) -> tuple[Any, ...]:
    """Sentence and text: a text that stands in two places is two."""
    return row["unit_index"], row["target_id"], text_index(row)


def _mean(given: Mapping[str, Verdict | None], threshold: float) -> dict[str, Any]:
    numbers = {name: None if row is None else _number(row) for name, row in given.items()}
    known = [number for number in numbers.values() if number is not None]
    missing = [f"{name}: {why_unjudged(row)}" for name, row in given.items() if numbers[name] is None]
    verdict = (
        unjudged("; ".join(missing)) if missing else by_threshold(round(sum(known) / len(known), _DIGITS), threshold)
    )
    first = next(row for row in given.values() if row is not None)
    return {
        **{name: first[name] for name in ("summary_id", "unit_index", "target_kind", "target_id", "mode")},
        "doc_position": first["doc_position"],
        "text_index": text_index(first),
        "chunk_index": None,  # a member's own window
        "repeat": 0,
        "answer": verdict.answer,
        "probability": verdict.probability,
        "failure": verdict.failure,
        "reply": json.dumps(numbers),
        "call_id": None,
    }


def _number(row: Verdict) -> float | None:
    return SupportVerdict(row["answer"], row["probability"]).value
