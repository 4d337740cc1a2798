"""
A judge's reply -> verdict.

Coverage with linking: SummHay, section 4 and appendix A.2. The judge sees the numbered bullets of a summary and one
reference insight, and answers with one JSON object: {"coverage": ..., "bullet_id": ...}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_ANSWERS = {"FULL_COVERAGE": "full", "PARTIAL_COVERAGE": "partial", "NO_COVERAGE": "none"}
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)


class CoverageVerdict(NamedTuple):
    """
    `answer` is full, partial, none, or None with the reason in `failure`.

    `linked_unit` is the covering bullet, from 0; None where nothing is covered, and where a covered insight names no
    bullet that exists: `link_failure` says why. Such an insight counts as covered, and its citations as never found.
    (SummHay's released code reads any bullet id but a number as the last but one bullet, and scores its citations.)
    """

    answer: str | None
    linked_unit: int | None
    failure: str | None
    link_failure: str | None


def parse_coverage(reply: str, n_bullets: int) -> CoverageVerdict:
    """
    The verdict that *reply* states, in a ```json fence or bare, about a summary of *n_bullets* bullets.

    Failures: `no_json_object`, `not_an_object`, `extra_prose`, `several_objects`, `repeated_field`, `missing_field`,
    `unknown_coverage`. Link failures: `bullet_id_na`, `bullet_id_list`, `bullet_id_not_integer`,
    `bullet_id_out_of_range`.
    """
    try:
        stated = _only_object(reply)
        answer = _coverage(stated)
    except _UnreadableError as unreadable:
        return CoverageVerdict(None, None, failure=unreadable.reason, link_failure=None)
    if answer == "none":
        return CoverageVerdict(answer, None, failure=None, link_failure=None)
    bullet_id = stated["bullet_id"]
    link_failure = _link_failure(bullet_id, n_bullets)
    return CoverageVerdict(answer, None if link_failure else bullet_id - 1, failure=None, link_failure=link_failure)


def coverage_schema() -> dict[str, Any]:
    """The JSON schema of a coverage answer, in the subset that strict providers take."""
    return {
        "type": "object",
        "properties": {
            "coverage": {"type": "string", "enum": list(_ANSWERS)},
            "bullet_id": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["NA"]}]},
        },
        "required": ["coverage", "bullet_id"],
        "additionalProperties": False,
    }


def numbered_bullets(bullets: Sequence[str]) -> str:
    """The bullets as a coverage prompt shows them: JSON, numbered from 1."""
    shown = [{"bullet_id": number, "text": text} for number, text in enumerate(bullets, start=1)]
    return json.dumps({"bullets": shown}, indent=1, ensure_ascii=False)


class _UnreadableError(Exception):
    """A reply that is no verdict."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _only_object(reply: str) -> dict[str, Any]:
    text = reply.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    value, rest = _leading_value(text)
    if rest:
        raise _UnreadableError(reason="several_objects" if rest.startswith("{") else "extra_prose")
    if not isinstance(value, dict):
        raise _UnreadableError(reason="not_an_object")
    return value


def _leading_value(text: str) -> tuple[Any, str]:
    try:
        value, end = json.JSONDecoder(object_pairs_hook=_distinct).raw_decode(text)
    except (ValueError, RecursionError) as error:
        reason = "extra_prose" if "{" in text and not text.startswith("{") else "no_json_object"
        raise _UnreadableError(reason=reason) from error
    return value, text[end:].strip()


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _UnreadableError(reason="repeated_field")
    return fields


def _coverage(stated: dict[str, Any]) -> str:
    if not {"coverage", "bullet_id"} <= stated.keys():
        raise _UnreadableError(reason="missing_field")
    label = stated["coverage"]
    if not isinstance(label, str) or label not in _ANSWERS:
        raise _UnreadableError(reason="unknown_coverage")
    return _ANSWERS[label]


def _link_failure(bullet_id: Any, n_bullets: int) -> str | None:
    if bullet_id == "NA":
        return "bullet_id_na"
    if isinstance(bullet_id, list):
        return "bullet_id_list"
    if not isinstance(bullet_id, int) or isinstance(bullet_id, bool):
        return "bullet_id_not_integer"
    return None if 1 <= bullet_id <= n_bullets else "bullet_id_out_of_range"
