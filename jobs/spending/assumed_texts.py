"""
Assume the texts that a plan needs and that are not written yet: as many lines as asked for, of a usual length.

Every line begins with a mark that its call alone has. A later request whose text has marks is made from assumed texts:
each mark stands for a line whose length is not known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from actors.local_models.tokenizer import TokenCounter
from longform.chat.call import ChatRequest
from longform.spending import CallSample, mean_of_more, sample_of

LINE_TOKENS, LINE_WORDS = 42, 26
"""Sizes of a bullet with its citations: the medians of 1,248 released SummHay summaries of news."""

_WORDS = "time year people way day thing life world school state family group country home part place case week "
"""Words of a token each, and too many for the marks to make texts differ by much."""

_MARK = re.compile(r"Assumed[0-9a-f]{10}")


class WrittenText(NamedTuple):
    """A text that is there, and how many lines were asked for."""

    n_lines: int
    text: str


class AssumedLine(NamedTuple):
    """A line of an assumed text."""

    fewer: float  # tokens, at most, by which it is shorter than assumed; 0 or less
    more: float  # tokens, at most, by which it is longer
    source: str  # words for what its length is taken from


class AssumedTexts:
    """Texts that a stage has yet to write, of at most *max_tokens* each, as long as the *written* ones."""

    def __init__(self, counter: TokenCounter, stage: str, written: Sequence[WrittenText], *, max_tokens: int) -> None:
        self._counter, self._max_tokens = counter, max_tokens
        found = [self._tokens(one.text.splitlines()) / one.n_lines for one in written]
        self._sample: CallSample | None = sample_of(len(found), sum(found), sum(tokens * tokens for tokens in found))
        self._tokens_a_line = sum(found) / len(found) if found else float(LINE_TOKENS)
        self._source = (
            f"as many bullets as asked for, as long as in the {len(found)} that are there of {stage!r}"
            if found
            else f"as many bullets as asked for, of {LINE_WORDS} words as in SummHay's released summaries"
        )

    def text(self, n_lines: int, call: str, *, apart: bool = False) -> tuple[str, dict[str, AssumedLine]]:
        """
        Return the text that a *call* is assumed to write, and its line by the mark.

        Texts have their words in common but for the mark, or none if they are to be *apart*.

        The interval of a line's tokens is that of further texts if two or more are there; else it reaches from nothing
        to the output limit of the model.
        """
        mark = f"Assumed{call[:10]}"
        own, words = (call[:10], f"{call[:10]} ") if apart else ("", _WORDS)
        lines = [self._line(f"{mark} {own}{number}", words) for number in range(1, n_lines + 1)]
        each = self._tokens(lines) / n_lines
        low, high = 0.0, self._max_tokens / n_lines
        if self._sample is not None:
            least, _, most = mean_of_more(self._sample, 1)
            low, high = max(low, least), min(high, most)
        assumed = AssumedLine(min(low - each, 0.0), max(high - each, 0.0), self._source)
        return "\n".join(lines), {mark: assumed}

    def _tokens(self, lines: Sequence[str]) -> int:
        return sum(map(self._counter.count, lines))

    def _line(self, beginning: str, further: str) -> str:
        n_tokens = max(round(self._tokens_a_line) - 1, self._counter.count(beginning))
        words = f"{beginning} {further * (1 + n_tokens // len(further.split()))}"
        return words[: self._counter.prefix_chars(words, n_tokens)].strip() + "."


def marks(request: ChatRequest) -> list[str]:
    """Return the marks in a request, each as often as it stands there."""
    return [mark for message in request.messages for mark in _MARK.findall(message.text)]
