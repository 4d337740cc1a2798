"""The answer that a reply states, yes or no or another one on offer, and its probability."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import exp
from typing import Literal

from longform.chat.call import LARGEST_LOGPROB, TokenLogprobs
from longform.text.reasoning import without_reasoning

_WORDS = ("yes", "no")
_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST_LETTERS = 3  # of the beginning of a word that a token may be: "neut" is neutral, "n" is anything

Fidelity = Literal["ours", "release"]


@cache
def _statements(words: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """
    Match one of *words* as an answer: at the start of a reply, behind "Answer:" or "The answer is", as the last line.

    No-one, no.-what and "yes or no" are no answers; quotes, asterisks and the like before the word are passed over.
    """
    either = "|".join(map(re.escape, words))
    apart = rf"(?![^\W_])(?![-'’]\w)(?![\w.,/-]*\d)(?!\s*(?:/|\bor\b)\s*(?:{either})\b)"
    named = r"\b(?:answer|verdict|judge?ment|conclusion|decision|label|rating|score|result|response)\b"
    return tuple(
        re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        for pattern in (
            rf"\A[\W_]*({either}){apart}",
            rf"{named}[\"'*_`]{{0,4}}\s?[:=][\W_]{{0,8}}({either}){apart}",
            rf"\b(?:answer|verdict|rating)\s+is\b[\W_]{{0,8}}({either}){apart}(?=[\W_]{{0,3}}(?:[.!\n]|\Z))",
            rf"^[^\w\n]*({either})[^\w\n]*+\s*+\Z",
        )
    )


def stated_word(reply: str, *, words: tuple[str, ...] = _WORDS, fidelity: Fidelity = "ours") -> str | None:
    """
    Return the answer that *reply* states, yes or no, or another of *words*; None if it states none.

    *words* are the answers, in lower case. The fidelity `ours` takes the one of `stated_words`; `release` reads as the
    authors' code does, by how the reply starts, else by whether "yes", else "no" stands anywhere in it, inside of words
    too.
    """
    if fidelity == "release":
        return _anywhere(reply, words)
    found = stated_words(reply, words=words)
    return found[0] if len(found) == 1 else None


def stated_words(reply: str, *, words: tuple[str, ...] = _WORDS) -> list[str]:
    """Return all different answers that *reply* states behind its reasoning; more than one contradict each other."""
    return list(dict.fromkeys(word for word, _ in _stated(reply, words)))


def _stated(reply: str, words: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the answers that a reply states, and the places where they stand in it."""
    shown = without_reasoning(reply)
    matches = (match for pattern in _statements(words) for match in pattern.finditer(shown))
    return [(word, match.start(1)) for match in matches if (word := match[1].lower()) in words]


def token_of_answer(
    logprobs: Sequence[TokenLogprobs] | None, *, words: tuple[str, ...] = _WORDS, fidelity: Fidelity = "ours"
) -> TokenLogprobs | None:
    """Return the token in whose place a reply states its answer, else its first word; None if it has none."""
    tokens = logprobs or ()
    stated = [] if fidelity == "release" else _stated("".join(token.token for token in tokens), words)
    if stated:
        ends = accumulate(len(token.token) for token in tokens)
        return next(token for token, end in zip(tokens, ends, strict=True) if end > stated[0][1])
    return next((token for token in tokens if _LETTERS.search(token.token)), None)


def yes_probability(
    logprobs: Sequence[TokenLogprobs] | None, *, words: tuple[str, ...] = _WORDS, fidelity: Fidelity = "ours"
) -> float | None:
    """
    Compute P(yes) / (P(yes) + P(no)) in the place of the reply's answer, over all ways to write the words.

    *logprobs* are of the reply's tokens in order; None: it has none. All *words*, yes among them, stand below the line.
    By the fidelity `release` the answer is the reply's first word.

    Returns:
        In [0, 1]; None if nothing was given, if no word is among the likely ones, or if a word's value is no log
        probability.
    """
    answer = token_of_answer(logprobs, words=words, fidelity=fidelity)
    if answer is None:
        return None
    likely = dict((*answer.top, (answer.token, answer.logprob)))
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


def _anywhere(reply: str, words: Sequence[str]) -> str | None:
    said = reply.lower()
    starting = (word for word in words if said.startswith(word))
    containing = (word for word in words if word in said)
    return next(starting, None) or next(containing, None)
