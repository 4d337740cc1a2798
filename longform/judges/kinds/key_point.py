"""
Key points: does a response say a key point of the documents?

Key point recall of LONG2RAG, section 4: I(x, y) is 1 if the response y entails the key point x, else 0. The whole
response is one text. A chat model answers yes, no or neutral (appendix B), and quotes the response if it answers yes:
a yes that quotes what the response does not say is no answer. Only yes counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.chat.call import TokenLogprobs
from longform.chat.first_word import stated_word, yes_probability
from longform.judges.kind import Kind, Verdict, settle_empty, unjudged
from longform.judges.kinds.support import claim
from longform.judges.replies import above, quote_failure, unread
from longform.text.reasoning import without_reasoning

NO_KEY_POINT = "key_point_without_text"
"""The failure of a key point that says nothing."""

UNREADABLE = "no_yes_no_or_neutral"
"""The failure of a reply that is no answer."""

YES, NO = "entailed", "not_entailed"
NEUTRAL, CONTRADICTED = "neutral", "contradicted"
WORDS = {"yes": YES, "no": CONTRADICTED, "neutral": NEUTRAL}
"""Word of a reply -> the answer. A judge that gives a number cannot tell the last two apart: `not_entailed`."""


def parse_entailment(reply: str, logprobs: Sequence[TokenLogprobs] | None, response: str) -> Verdict:
    """
    Read the answer that *reply* states, its quotes if it is yes, and P(yes) among the three words.

    Failures: `no_yes_no_or_neutral`, `contradictory_answers`, `no_quote`, `quote_not_in_response`.
    """
    word = stated_word(reply, words=tuple(WORDS))
    if word is None:
        return unjudged(unread(reply, UNREADABLE, words=tuple(WORDS)))
    if word == "yes" and (failure := quote_failure(without_reasoning(reply), response)) is not None:
        return unjudged(failure)
    return Verdict(WORDS[word], yes_probability(logprobs, words=tuple(WORDS)))


KEY_POINT = Kind(
    task="key_point",
    targets="key_point",
    shared="summary",
    unit=claim,
    fields=("response", "key_point"),
    prompt="judge_key_point",
    settle=settle_empty(NO_KEY_POINT, NO),
    read=lambda reply, logprobs, group, _fidelity: parse_entailment(reply, logprobs, group.text),
    counts={YES: 1.0, NO: 0.0, NEUTRAL: 0.0, CONTRADICTED: 0.0},
    as_one={NEUTRAL: NO, CONTRADICTED: NO},
    decide=above(YES, NO),
    measures=("key_point_recall",),
    work="key_point",
    mean="mean_key_point",
)
