"""
Reference: how well does a summary match a reference summary, from 1 to 5?

Reference-based G-Eval with the relevance rubric, as MSRS judges (appendices C.5 and D.3.2): the probabilities of the
five digits in the place of the answer weigh the digits. Here 1 to 5 count 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from longform.chat.call import LARGEST_LOGPROB, TokenLogprobs
from longform.chat.first_word import stated_word, token_of_answer
from longform.judges.kind import Kind, Verdict, settle_empty, unjudged
from longform.judges.replies import unread
from longform.text.citations import without_citations

NO_REFERENCE = "reference_without_text"
"""The failure of a reference that says nothing."""

UNREADABLE = "no_rating"
"""The failure of a reply that is no rating."""

RATINGS = ("1", "2", "3", "4", "5")


def parse_rating(reply: str, logprobs: Sequence[TokenLogprobs] | None) -> Verdict:
    """
    Read the rating that *reply* states, and the mean rating by the probabilities of the five digits.

    Failures: `no_rating`, `contradictory_answers`.
    """
    rating = stated_word(reply, words=RATINGS)
    if rating is None:
        return unjudged(unread(reply, UNREADABLE, words=RATINGS))
    return Verdict(rating, mean_rating(logprobs))


def mean_rating(logprobs: Sequence[TokenLogprobs] | None) -> float | None:
    """
    Weigh the five ratings by their probabilities in the place of the answer; 1 counts 0, 5 counts 1.

    Returns:
        In [0, 1]; None if nothing was given, if no rating is likely, or if a value is no log probability.
    """
    answer = token_of_answer(logprobs, words=RATINGS)
    if answer is None or answer.token.strip() not in RATINGS:
        return None
    mass = dict.fromkeys(RATINGS, 0.0)
    for token, logprob in dict((*answer.top, (answer.token, answer.logprob))).items():
        if (digit := token.strip()) in mass:
            if not logprob <= LARGEST_LOGPROB:  # NaN too
                return None
            mass[digit] += exp(logprob)
    total = sum(mass.values())
    return sum(COUNTS[digit] * share for digit, share in mass.items()) / total if total > 0 else None


COUNTS = {rating: place / (len(RATINGS) - 1) for place, rating in enumerate(RATINGS)}


REFERENCE = Kind(
    task="reference",
    targets="reference",
    shared="summary",
    unit=without_citations,
    fields=("summary", "reference"),
    prompt="judge_reference",
    settle=settle_empty(NO_REFERENCE, RATINGS[0]),
    read=lambda reply, logprobs, _group, _fidelity: parse_rating(reply, logprobs),
    counts=COUNTS,
    decide=lambda number, _bounds: min(RATINGS, key=lambda rating: abs(COUNTS[rating] - number)),
    measures=("reference_rating", "geval_x20"),
    graded=True,
    complete=False,
    work="reference@2",
    mean="mean_reference",
)
