"""
Errors: which of six kinds of error does a summary make beside a reference?

The error analysis of MSRS, section 5.3 and appendix B.4, table 12: all labels that apply, by people who have the query,
the reference and the documents. Here the documents are not shown: an invention is what the reference gives no ground
for, and support by documents is the task of judges of support.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.judges.kind import Kind, Verdict, settle_empty
from longform.judges.replies import UnreadableError, read_object
from longform.metrics.verdict_means import ERRORS_MADE, NO_LABEL, label_set, label_sets
from longform.text.citations import without_citations

LABELS = tuple(ERRORS_MADE)
NO_REFERENCE = "reference_without_text"
"""The failure of a reference that says nothing."""

_ALL_LEFT_OUT = "major_details"


def parse_errors(reply: str) -> Verdict:
    """
    Read the labels that *reply* states as `{"errors": [...]}`, in any letter case.

    Failures: those of `read_object`, `not_a_list_of_names`, `unknown_label`.
    """

    def read(stated: Mapping[str, Any]) -> Verdict:
        names = stated["errors"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UnreadableError(reason="not_a_list_of_names")
        answer = label_set(["_".join(name.lower().split()) for name in names], LABELS)
        if answer is None:
            raise UnreadableError(reason="unknown_label")
        return Verdict(answer, None)

    return read_object(reply, "errors", read)


def _decided(number: float, _bounds: Sequence[float]) -> str:
    raise ValueError(f"a number cannot name errors: expected labels, found {number}")


ERRORS = Kind(
    task="errors",
    targets="reference",
    shared="summary",
    unit=without_citations,
    fields=("summary", "reference"),
    prompt="judge_errors",
    shows_query=True,
    settle=settle_empty(NO_REFERENCE, _ALL_LEFT_OUT),
    read=lambda reply, _logprobs, _group, _fidelity: parse_errors(reply),
    schema={
        "type": "object",
        "properties": {"errors": {"type": "array", "items": {"type": "string", "enum": list(LABELS)}}},
        "required": ["errors"],
        "additionalProperties": False,
    },
    counts={answer: float(answer == NO_LABEL) for answer in label_sets(LABELS)},
    labels=LABELS,
    decide=_decided,
    measures=("error_free", *(f"error_{label}" for label in LABELS)),
    work="errors",
    mean="mean_errors",
)
