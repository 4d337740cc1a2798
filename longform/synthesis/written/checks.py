"""The checks of a synthesis by name, and what differs between the domains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

CHECKS: Mapping[str, str] = {
    "subtopics complete": "a list of subtopics can be read and leaves none missing",
    "subtopic distinct": "the verifier finds no overlap with an earlier subtopic",
    "insights complete": "a list of insights can be read and leaves none of its subtopic missing",
    "insight specific": "a number, date or entity is in it; a rule decides",
    "insight distinct": "the verifier finds no earlier insight that says the same",
    "insight categorised": "the verifier sorts it into its own subtopic",
    "subtopic expandable": "enough insights of it were accepted; a rule decides",
    "query on subtopic": "the verifier sorts the question into its own subtopic",
    "insight not known": "an outsider, asked the query without documents, does not tell it; nothing follows from it",
    "article written": "an article, or an edit of one, can be read",
    "article leaks": "the verifier finds no insight that was not assigned",
    "article omissions": "the verifier finds every insight that was assigned",
    "article leaks after additions": "as before, once more where insights were added",
    "chapter classified": "the verifier finds the chapter's own subtopic and insight, and no other insight",
    "document read again": "the verifier finds the same insights once more; nothing follows from it",
}
"""In the order of the work."""


class Rules(NamedTuple):
    """
    Rules that differ between domains (SummHay, appendix A.1).

    Attributes:
        regenerate: A list of subtopics with an overlap is asked for anew, at temperature 1; else overlaps are removed.
        sequential: Subtopics get their insights one after the other, each shown those of all others as exclusions.
        chapters: A document is written chapter by chapter, one insight each; else as a whole, and edited.
    """

    regenerate: bool
    sequential: bool
    chapters: bool


RULES: Mapping[str, Rules] = {
    "news": Rules(regenerate=False, sequential=False, chapters=False),
    "conversation": Rules(regenerate=True, sequential=True, chapters=True),
}
"""
The paper checks insights of conversations by nothing but their exclusions, and subtopics by hand; here both domains
pass the same checks.
"""
