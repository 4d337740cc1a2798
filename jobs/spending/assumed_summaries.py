"""
Assume the summaries that a plan needs and that are not written yet: as many bullets as asked for,
of a usual length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actors.local_models.tokenizer import TokenCounter
from longform.judges.kinds.coverage import numbered_bullets
from longform.spending import Sample, Span, mean_of_more, sample_of

BULLET_TOKENS, BULLET_WORDS = 42, 26
"""Sizes of a bullet with its citations: the medians of 1,248 released SummHay summaries of news."""

_MANY = 10  # bullets, over which the JSON around them is counted


class WrittenSummary(NamedTuple):
    """A summary that is there: how many bullets were asked for, and those that came."""

    n_requested: int
    bullets: tuple[str, ...]


class AssumedSummary(NamedTuple):
    """Bullets to ask about, how many tokens they take in a judge's prompt, and what that is taken from."""

    bullets: list[str]
    tokens: Span
    source: str


class AssumedSummaries:
    """
    Args:
        counter: Of tokens.
        summarizer: Whose summaries.
        written: Those that are there.
        max_tokens: Of one summary.
    """

    def __init__(
        self, counter: TokenCounter, summarizer: str, written: Sequence[WrittenSummary], *, max_tokens: int
    ) -> None:
        self._counter, self._max_tokens = counter, max_tokens
        found = [counter.count(numbered_bullets(summary.bullets)) / summary.n_requested for summary in written]
        self._sample: Sample | None = sample_of(len(found), sum(found), sum(tokens * tokens for tokens in found))
        self._tokens_a_bullet = sum(found) / len(found) if found else self._around(_MANY) / _MANY + BULLET_TOKENS
        self._source = (
            f"as many bullets as asked for, as long as in the {len(found)} summaries of {summarizer!r} that are there"
            if found
            else f"as many bullets as asked for, of {BULLET_WORDS} words as in SummHay's released summaries"
        )

    def summary(self, n: int, text: str) -> AssumedSummary:
        """
        *n* bullets made of the words of *text*.

        The interval of their tokens is that of further summaries where two or more are there; else it reaches from
        empty bullets to the output limit of the summarizer.
        """
        around = self._around(n)
        each = max(0, round(self._tokens_a_bullet - around / n))
        words = text.split()
        long_enough = " ".join((words * (1 + each // max(1, len(words))))[: each + 1])
        bullets = [long_enough[: self._counter.prefix_chars(long_enough, each)]] * n
        counted = float(self._counter.count(numbered_bullets(bullets)))
        low, high = self._bounds(n, around)
        return AssumedSummary(bullets, Span(min(low, counted), counted, max(high, counted)), self._source)

    def _bounds(self, n: int, around: int) -> tuple[float, float]:
        most = float(around + self._max_tokens)
        if self._sample is None:
            return around, most
        low, _, high = mean_of_more(self._sample, 1)
        return max(low * n, around), min(high * n, most)

    def _around(self, n: int) -> int:
        """Tokens of the JSON around *n* bullets."""
        return self._counter.count(numbered_bullets([""] * n))
