"""
Reads a chat model's reply that answers yes or no, and P(yes) from the place of its answer.

Wan et al., On Positional Bias of Faithfulness for Long-form Summarization, section 2.3 and appendix D: the reply is to
start with yes or no and give a short reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from longform.chat.call import TokenLogprobs
from longform.chat.first_word import stated_word, stated_words, yes_probability
from longform.judges.kind import Fidelity, Group, Read, Verdict, unjudged

UNREADABLE = "no_yes_or_no"
"""The failure of a reply that is no answer."""

CONTRADICTS = "contradictory_answers"
"""The failure of a reply that states different answers."""


def read_yes_or_no(yes: str, no: str) -> Read:
    """Return what reads replies whose yes and no mean the answers *yes* and *no*."""

    def read(reply: str, logprobs: Sequence[TokenLogprobs] | None, _group: Group, fidelity: Fidelity) -> Verdict:
        word = stated_word(reply, fidelity=fidelity)
        if word is None:
            return unjudged(unread(reply, UNREADABLE))
        return Verdict(yes if word == "yes" else no, yes_probability(logprobs, fidelity=fidelity))

    return read


def unread(reply: str, none: str, *, words: tuple[str, ...] = ("yes", "no")) -> str:
    """Return the failure of a reply without an answer: it states different ones, or *none*."""
    return CONTRADICTS if len(stated_words(reply, words=words)) > 1 else none


def above(yes: str, no: str, *, between: str | None = None) -> Callable[[float, Sequence[float]], str]:
    """
    Return what says *yes* of a number above a bound, as MiniCheck reads its probabilities.

    Of two bounds, *yes* is above the upper and *no* up to the lower one, and *between* is said in the middle; if there
    is no word for that, their mean is the one bound.
    """

    def decided(number: float, bounds: Sequence[float]) -> str:
        low, high = bounds[0], bounds[-1]
        if between is None:
            low = high = (low + high) / 2
        if number > high:
            return yes
        return no if between is None or number <= low else between

    return decided
