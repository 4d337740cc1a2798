"""The first word of a reply, yes or no or another one on offer, and its probability."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from math import exp
from typing import Literal

from longform.chat.call import LARGEST_LOGPROB, TokenLogprobs

_WORDS = ("yes", "no")
_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST_LETTERS = 3  # of the beginning of a word that a token may be: "neut" is neutral, "n" is anything


@cache
def _first_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """
    Match one of *words* at the start of a reply.

    No-one, no.-what and "yes or no" are no answers; quotes, asterisks and the like before the word are passed over.
    """
    either = "|".join(words)
    return re.compile(rf"[\W_]*({either})(?![^\W_])(?![-'’]\w)(?!\s*(?:/|\bor\b)\s*(?:{either})\b)", re.IGNORECASE)


def stated_word(
    reply: str, *, words: tuple[str, ...] = _WORDS, fidelity: Literal["ours", "release"] = "ours"
) -> str | None:
    """
    Return the answer that *reply* states, yes or no, or another of *words*; None if it states none.

    Args:
        reply: What the model wrote.
        words: The answers, in lower case.
        fidelity: `ours`: the reply's first word is one of them. `release`: as the authors' code reads it, by how the
            reply starts, else by whether "yes", else "no" stands anywhere in it, inside of words too.
    """
    return _first_word(reply, words) if fidelity == "ours" else _anywhere(reply, words)


def yes_probability(logprobs: Sequence[TokenLogprobs] | None, *, words: tuple[str, ...] = _WORDS) -> float | None:
    """
    Compute P(yes) / (P(yes) + P(no)) in the place of the reply's first word, over all ways to write the words.

    Args:
        logprobs: Of the reply's tokens in order; None: the reply has none.
        words: The answers, yes among them; all of them stand below the line.

    Returns:
        In [0, 1]; None if nothing was given, if no word is among the likely ones, or if a word's value is no log
        probability.
    """
    first = next((token for token in logprobs or () if _LETTERS.search(token.token)), None)
    if first is None:
        return None
    likely = dict((*first.top, (first.token, first.logprob)))
    mass = dict.fromkeys(words, 0.0)
    for token, logprob in likely.items():
        if (word := _begun("".join(_LETTERS.findall(token)).lower(), words)) is not None:
            if not logprob <= LARGEST_LOGPROB:  # NaN too
                return None
            mass[word] += exp(logprob)
    total = sum(mass.values())
    return mass["yes"] / total if total > 0 else None


def _begun(letters: str, words: Sequence[str]) -> str | None:
    """Return the word that a token is, or begins; None: another one."""
    if letters in words:
        return letters
    return next((word for word in words if len(letters) >= _LEAST_LETTERS and word.startswith(letters)), None)


def _first_word(reply: str, words: tuple[str, ...]) -> str | None:
    found = _first_of(words).match(reply)
    return found[1].lower() if found else None


def _anywhere(reply: str, words: Sequence[str]) -> str | None:
    said = reply.lower()
    starting = (word for word in words if said.startswith(word))
    containing = (word for word in words if word in said)
    return next(starting, None) or next(containing, None)
