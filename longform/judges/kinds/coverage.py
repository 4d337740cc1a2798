"""
Coverage with linking: does a summary say an insight, and which bullet says it?

SummHay, section 4 and appendix A.2. The judge sees the numbered bullets of a summary and one insight, and answers with
one JSON object: {"coverage": ..., "bullet_id": ...}.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from longform.chat.call import TokenLogprobs
from longform.judges.json_replies import UnreadableError, only_object
from longform.judges.kind import Fidelity, Group, Kind, Verdict, unjudged

_ANSWERS = {"FULL_COVERAGE": "full", "PARTIAL_COVERAGE": "partial", "NO_COVERAGE": "none"}


def parse_coverage(reply: str, n_bullets: int) -> Verdict:
    """
    Read the verdict that *reply* states, in a ```json fence or bare, about a summary of *n_bullets* bullets.

    A covered insight that names no bullet that exists has no link, and `link_failure` says why. It counts as covered,
    and its citations as never found. (SummHay's released code reads any bullet id but a number as the last but one
    bullet, and scores its citations.)

    Failures: `no_json_object`, `not_an_object`, `extra_prose`, `several_objects`, `repeated_field`, `missing_field`,
    `unknown_coverage`. Link failures: `bullet_id_na`, `bullet_id_list`, `bullet_id_not_integer`,
    `bullet_id_out_of_range`.
    """
    try:
        stated = only_object(reply)
        answer = _coverage(stated)
    except UnreadableError as unreadable:
        return unjudged(unreadable.reason)
    if answer == "none":
        return Verdict(answer, None)
    bullet_id = stated["bullet_id"]
    link_failure = _link_failure(bullet_id, n_bullets)
    return Verdict(answer, None, linked_unit=None if link_failure else bullet_id - 1, link_failure=link_failure)


def _coverage(stated: dict[str, Any]) -> str:
    if not {"coverage", "bullet_id"} <= stated.keys():
        raise UnreadableError(reason="missing_field")
    label = stated["coverage"]
    if not isinstance(label, str) or label not in _ANSWERS:
        raise UnreadableError(reason="unknown_coverage")
    return _ANSWERS[label]


def _link_failure(bullet_id: Any, n_bullets: int) -> str | None:
    if bullet_id == "NA":
        return "bullet_id_na"
    if isinstance(bullet_id, list):
        return "bullet_id_list"
    if not isinstance(bullet_id, int) or isinstance(bullet_id, bool):
        return "bullet_id_not_integer"
    return None if 1 <= bullet_id <= n_bullets else "bullet_id_out_of_range"


def numbered_bullets(bullets: Sequence[str]) -> str:
    """Show the bullets as a coverage prompt does: JSON, numbered from 1."""
    shown = [{"bullet_id": number, "text": text} for number, text in enumerate(bullets, start=1)]
    return json.dumps({"bullets": shown}, indent=1, ensure_ascii=False)


def _settled(group: Group, _item: str) -> Verdict | None:
    """Let a summary without bullets cover nothing."""
    return None if group.shared else Verdict("none", None)


def _read(reply: str, _logprobs: Sequence[TokenLogprobs] | None, group: Group, _fidelity: Fidelity) -> Verdict:
    return parse_coverage(reply, len(group.shared))


def _decided(number: float, bounds: Sequence[float]) -> str:
    partial, full = bounds
    if number >= full:
        return "full"
    return "partial" if number >= partial else "none"


COVERAGE = Kind(
    task="coverage",
    targets="insight",
    shared="summary",
    unit=str,
    fields=("bullets", "insight"),
    show=numbered_bullets,
    settle=_settled,
    read=_read,
    schema={
        "type": "object",
        "properties": {
            "coverage": {"type": "string", "enum": list(_ANSWERS)},
            "bullet_id": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["NA"]}]},
        },
        "required": ["coverage", "bullet_id"],
        "additionalProperties": False,
    },
    counts={"full": 1.0, "partial": 0.5, "none": 0.0},
    decide=_decided,
    measures=("coverage", "citation", "joint", "precision", "recall", "words_per_bullet"),
    columns=("answer", "linked_unit"),
    work="verdicts",
    mean="mean",
)
