"""The forms of replies, and the checks by name."""

from __future__ import annotations

from collections.abc import Mapping

from longform.synthesis.asking import Form, Words
from longform.synthesis.written.replies import QueryText


class SummaryText(Form):
    summary: Words


class RewriteVerdict(Form):
    """
    A verifier's reading of a rewritten query.

    Attributes:
        same: Whether it asks for the same as before.
        told: Parts of the answer that it tells.
    """

    same: bool
    told: tuple[Words, ...]


class MergeVerdict(Form):
    """The numbers of the texts that a merged one leaves out."""

    missing: tuple[int, ...]


DECONTEXTUALIZE, CHECK_REWRITE = "synthesize_decontextualize", "synthesize_check_rewrite"
MERGE_QUERIES, MERGE_SUMMARIES, CHECK_MERGE = (
    "synthesize_merge_queries",
    "synthesize_merge_summaries",
    "synthesize_check_merge",
)

FORMS: Mapping[str, type[Form]] = {
    DECONTEXTUALIZE: QueryText,
    CHECK_REWRITE: RewriteVerdict,
    MERGE_QUERIES: QueryText,
    MERGE_SUMMARIES: SummaryText,
    CHECK_MERGE: MergeVerdict,
}
"""Prompt -> the form of its reply."""

CHECKS: Mapping[str, str] = {
    "rewrite read": "a rewritten query can be read",
    "rewrite is one request": "it is one sentence, and a question stays one; a rule decides",
    "rewrite keeps the query": "every content word of the query is in it; a rule decides",
    "rewrite is brief": "it adds something, and few words; a rule decides",
    "rewrite tells no answer": "it takes no run of content words from a reference; a rule decides",
    "rewrite verified": "the verifier finds that it asks for the same, and tells no part of a reference",
    "query clustered": "a cluster of the wanted size has it; a rule decides",
    "merged query read": "a merged query can be read",
    "merged query is one request": "one sentence with words of each query, not longer than all of them; a rule decides",
    "merged query verified": "the verifier finds that it leaves no query out",
    "merged summary read": "a merged summary can be read",
    "merged summary is a merger": "words of each summary, no number of its own, not longer than all; a rule decides",
}
"""Check -> when it accepts, in the order of the work."""
