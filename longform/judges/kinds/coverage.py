"""
Coverage with linking: does a summary say an insight, and which bullet says it?

SummHay, section 4 and appendix A.2. The judge sees the numbered bullets of a summary and one insight, and answers with
one JSON object: {"coverage": ..., "bullet_id": ...}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from longform.judges.coverage_model import answer_of
from longform.judges.kind import Kind, Verdict
from longform.judges.replies import UnreadableError, read_object, whole_number

_ANSWERS = {"FULL_COVERAGE": "full", "PARTIAL_COVERAGE": "partial", "NO_COVERAGE": "none"}
_NO_BULLET = ("NA", "N/A", "NONE", "NULL", "")


def parse_coverage(reply: str, n_bullets: int) -> Verdict:
    """
    Read the verdict that *reply* states about a summary of *n_bullets* bullets, labels in any letter case.

    A covered insight that names no bullet that exists has no link, and `link_failure` says why. It counts as covered,
    and its citations as never found. (SummHay's released code reads any bullet id but a number as the last but one
    bullet, and scores its citations.)

    Failures: those of `read_object`, and `unknown_coverage`. Link failures: `bullet_id_na`, `bullet_id_list`,
    `bullet_id_not_integer`, `bullet_id_out_of_range`.
    """

    def read(stated: Mapping[str, Any]) -> Verdict:
        if "bullet_id" not in stated:
            raise UnreadableError(reason="missing_field")
        answer = _coverage(stated["coverage"])
        if answer == "none":
            return Verdict(answer, None)
        number = whole_number(stated["bullet_id"])
        link_failure = _link_failure(stated["bullet_id"], number, n_bullets)
        linked_unit = None if link_failure or number is None else number - 1
        return Verdict(answer, None, linked_unit=linked_unit, link_failure=link_failure)

    return read_object(reply, "coverage", read)


def _coverage(label: Any) -> str:
    answer = _ANSWERS.get("_".join(re.split(r"[\s_-]+", label.strip().upper()))) if isinstance(label, str) else None
    if answer is None:
        raise UnreadableError(reason="unknown_coverage")
    return answer


def _link_failure(bullet_id: Any, number: int | None, n_bullets: int) -> str | None:
    if number is not None:
        return None if 1 <= number <= n_bullets else "bullet_id_out_of_range"
    if isinstance(bullet_id, list):
        return "bullet_id_list"
    says_none = bullet_id is None or (isinstance(bullet_id, str) and bullet_id.strip().upper() in _NO_BULLET)
    return "bullet_id_na" if says_none else "bullet_id_not_integer"


def numbered_bullets(bullets: Sequence[str]) -> str:
    """Show the bullets as a coverage prompt does: JSON, numbered from 1."""
    shown = [{"bullet_id": number, "text": text} for number, text in enumerate(bullets, start=1)]
    return json.dumps({"bullets": shown}, indent=1, ensure_ascii=False)


COVERAGE = Kind(
    task="coverage",
    targets="insight",
    shared="summary",
    fields=("bullets", "insight"),
    prompt="judge_coverage_3",
    show=numbered_bullets,
    settle=lambda group, _item: None if group.shared else Verdict("none", None),
    read=lambda reply, _logprobs, group, _fidelity: parse_coverage(reply, len(group.shared)),
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
    decide=answer_of,
    measures=("coverage", "citation", "joint", "precision", "recall", "words_per_bullet"),
    columns=("answer", "linked_unit"),
)
