"""
Support: does a document support a sentence of a summary?

M(d, s) of Wan et al. (On Positional Bias of Faithfulness for Long-form Summarization, section 2.3): one verdict for
each pair of document and sentence. Every judge decides a pair by its document and sentence alone.
"""

from __future__ import annotations

from longform.judges.kind import Kind, settle_empty
from longform.judges.replies import above, read_yes_or_no
from longform.text.citations import without_citations

NO_SENTENCE = "sentence_without_text"
"""The failure of a sentence that says nothing."""

YES, UNSURE, NO = "supported", "unsure", "unsupported"


def claim(unit: str) -> str:
    """Return what a unit says, without its citations and the mark of a list."""
    return without_citations(unit).lstrip("-*• ")


SUPPORT = Kind(
    task="support",
    targets="document",
    shared="target",
    unit=claim,
    fields=("document", "sentence"),
    prompt="judge_support",
    settle=settle_empty(NO_SENTENCE, NO),  # the release asks its model about empty documents, too
    read=read_yes_or_no(YES, NO),
    counts={YES: 1.0, UNSURE: 0.5, NO: 0.0},
    as_one={UNSURE: NO},
    judges_alone=frozenset({UNSURE}),
    decide=above(YES, NO, between=UNSURE),
    work="support",
    mean="mean_support",
    worth="balanced_accuracy",
)
