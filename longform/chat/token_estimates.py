"""Estimate the tokens of a call from those of earlier calls of the same model."""

from __future__ import annotations

from longform.chat.call import ChatRequest, Usage

_CHARS_A_TOKEN = 4.0
_WEIGHT = 0.05  # of the newest call in the running means
_SLACK = 1.2  # by which another tokenizer than cl100k may count more
_TEMPLATE = 64  # tokens of roles and markers around the messages


class TokenEstimates:
    """
    Running means of one model's calls in one process.

    Before the first reply the whole output limit is expected: reserving too much costs a moment, too little a refusal.
    """

    def __init__(self) -> None:
        self._ratio = 1.0  # stated input tokens over our count
        self._output: float | None = None

    def tokens(self, request: ChatRequest) -> float:
        """Input and output tokens to expect of *request*."""
        output = request.max_tokens if self._output is None else min(self._output, request.max_tokens)
        return counted_input(request) * self._ratio + output

    def learn(self, request: ChatRequest, usage: Usage) -> float | None:
        """
        Learn from the *usage* of *request*, and return its tokens in all classes, or None if the
        provider did not say.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        sent = usage.input_tokens + (usage.cached_tokens or 0)
        came = usage.output_tokens + (usage.reasoning_tokens or 0)
        self._ratio += _WEIGHT * (sent / max(counted_input(request), 1.0) - self._ratio)
        self._output = came if self._output is None else self._output + _WEIGHT * (came - self._output)
        return float(sent + came)


def counted_input(request: ChatRequest) -> float:
    """Return the input tokens that the caller counted, else a quarter of the request's characters."""
    if request.input_tokens is not None:
        return float(request.input_tokens)
    return sum(len(message.text) for message in request.messages) / _CHARS_A_TOKEN


def most_input_tokens(request: ChatRequest) -> int:
    """Input tokens that *request* will not exceed: one each UTF-8 byte, or somewhat more than were counted."""
    if request.input_tokens is not None:
        return int(request.input_tokens * _SLACK) + _TEMPLATE
    return sum(len(message.text.encode()) for message in request.messages) + _TEMPLATE
