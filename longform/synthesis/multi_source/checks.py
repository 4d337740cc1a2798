"""The forms of replies, the checks by name, and those by rule: each returns what is wrong, or None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.synthesis.asking import Form, Words
from longform.synthesis.written.replies import QueryText
from longform.text.sentences import sentences
from longform.text.words import numbers, stems


class SummaryText(Form):
    summary: Words


class RewriteVerdict(Form):
    """A verifier's reading of a rewritten query."""

    same: bool  # the query asks for the same as before
    told: tuple[Words, ...]  # parts of the answer that the query tells


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


# ---------------------------------------------------------------- rules


_LEAST_SHARED = 0.2
"""The least share of a summary's content words in a merged summary; one that leaves the summary out has fewer."""


def no_request(text: str, original: str | None = None) -> str | None:
    """Return why *text* is no request of one sentence; a question is to stay one."""
    if (n := len(sentences(text))) > len(sentences(original or ".")):  # some queries have two to begin with
        return f"expected one sentence, found {n}"
    if original is not None and original.endswith("?") and not text.endswith("?"):
        return "expected a question as before: it does not end with a question mark"
    return None if text.endswith(("?", ".", "!")) else "expected a sentence that ends with a mark"


def lost_words(text: str, original: str) -> str | None:
    """Return which content words of the *original* query are gone."""
    lost = sorted(set(stems(original)) - set(stems(text)))
    return f"the question's words are gone: {', '.join(lost)}" if lost else None


def no_description(text: str, original: str, most: int) -> str | None:
    """Return why what was added to the *original* is no brief description."""
    added = len(text.split()) - len(original.split())
    if not set(stems(text)) - set(stems(original)):
        return "nothing was added to the question"
    return f"{added} words were added, expected at most {most}" if added > most else None


def told_answer(text: str, original: str, answers: Sequence[str], n_words: int) -> str | None:
    """
    Return what *text* takes from an answer: *n_words* content words in a row that the *original* does not have.

    Stems are compared, and stop words between them do not count.
    """
    new = _runs(text, n_words) - _runs(original, n_words)
    taken = sorted(new & {run for answer in answers for run in _runs(answer, n_words)})
    return f"tells of the answer: {' '.join(taken[0])}" if taken else None


def _runs(text: str, n: int) -> set[tuple[str, ...]]:
    found = stems(text)
    return {tuple(found[start : start + n]) for start in range(len(found) - n + 1)}


def unmerged_query(text: str, queries: Sequence[str]) -> str | None:
    """Return why *text* is no merger of *queries*: too long, or with no content word of one of them."""
    if (reason := no_request(text)) is not None:
        return reason
    said = set(stems(text))
    for number, query in enumerate(queries, start=1):
        if (words := set(stems(query))) and not words & said:
            return f"leaves out question {number}"
    longest = sum(len(query.split()) for query in queries)
    return (
        f"{len(text.split())} words, more than the {longest} of all questions" if len(text.split()) > longest else None
    )


def unmerged_summary(text: str, summaries: Sequence[str]) -> str | None:
    """Return why *text* is no merger of *summaries*: too long, with a number of its own, or without one of them."""
    longest = sum(len(summary.split()) for summary in summaries)
    if len(text.split()) > longest:
        return f"{len(text.split())} words, more than the {longest} of all summaries"
    if own := sorted(numbers(text) - {number for summary in summaries for number in numbers(summary)}):
        return f"states {own[0]}, which no summary does"
    said = set(stems(text))
    for number, summary in enumerate(summaries, start=1):
        words = set(stems(summary))
        if len(words & said) < _LEAST_SHARED * len(words):
            return f"leaves out summary {number}"
    return None
