"""
Costs of calls: dollars from tokens in four classes, at list prices.

Also the tokens to expect of a call, from those of earlier calls of the same model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from longform.chat.call import ChatRequest, Usage

_MILLION = 1_000_000
_CHARS_A_TOKEN = 4.0
_WEIGHT = 0.05  # of the newest call in the running means
_SLACK = 1.2  # by which another tokenizer than cl100k may count more
_TEMPLATE = 64  # tokens of roles and markers around the messages


@dataclass(frozen=True, kw_only=True)
class Price:
    """Dollars a million tokens."""

    input: float  # of input that no cache held
    output: float
    cached_input: float | None = None  # of input from the provider's cache; None: not known, or it has no cache
    reasoning: float | None = None  # of hidden output; None: as other output
    batch: Price | None = None  # through the provider's batch API; None: not known, or there is none
    # calls with more input than this, cached or not, are charged by `above`, from the first token on
    above_tokens: int | None = None
    above: Price | None = None  # None: one price for all lengths
    per_call: float | None = None  # dollars a call, whatever its tokens; None: tokens are charged

    @property
    def is_free(self) -> bool:
        if self.per_call is not None:
            return self.per_call == 0
        rates = (self.input, self.output, self.cached_input or 0.0, self.reasoning or 0.0)
        return not any(rates) and (self.above is None or self.above.is_free)

    def less(self, discount: float) -> Price:
        """The same with a share of every rate taken off, as batch APIs do."""
        factor = 1 - discount
        return replace(
            self,
            input=self.input * factor,
            output=self.output * factor,
            cached_input=None if self.cached_input is None else self.cached_input * factor,
            reasoning=None if self.reasoning is None else self.reasoning * factor,
            above=None if self.above is None else self.above.less(discount),
        )

    def of(self, input_tokens: int) -> Price:
        """The price of a call with that much input."""
        if self.above is None or self.above_tokens is None or input_tokens <= self.above_tokens:
            return self
        return self.above


FREE = Price(input=0.0, output=0.0, cached_input=0.0)
"""The price of models on machines of our own."""


def cost_usd(usage: Usage, price: Price | None) -> float | None:
    """
    Return the dollars of a call that used *usage*; None if they cannot be known.

    That is so if the price is unknown, the input or the output count is, or tokens came from a cache whose price is
    unknown. If a total is given without its cached (reasoning) share, `Usage` holds it as input (output), and it is
    charged as that. A free model's calls cost 0.
    """
    if price is None:
        return None
    if price.is_free:
        return 0.0
    if price.per_call is not None:
        return price.per_call
    given, cached, written, reasoned = usage
    if given is None or written is None:
        return None
    price = price.of(given + (cached or 0))
    if cached and price.cached_input is None:
        return None
    output = written * price.output + (reasoned or 0) * (price.output if price.reasoning is None else price.reasoning)
    return (given * price.input + (cached or 0) * (price.cached_input or 0.0) + output) / _MILLION


def most_usd(input_tokens: int, max_tokens: int, price: Price | None) -> float | None:
    """
    Return the most that a call can cost with at most *input_tokens* of input and *max_tokens* of output, hidden or not.

    No split into classes and no smaller input costs more. Return None if the price is unknown.
    """
    if price is None:
        return None
    if price.per_call is not None:
        return price.per_call
    prices = {price, price.of(input_tokens)}
    dearest_input = max(max(p.input, p.cached_input or 0.0) for p in prices)
    dearest_output = max(max(p.output, p.reasoning or 0.0) for p in prices)
    return (input_tokens * dearest_input + max_tokens * dearest_output) / _MILLION


# ---------------------------------------------------------------- tokens


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
