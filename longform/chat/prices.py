"""Costs of calls: dollars from tokens in four classes, at list prices."""

from __future__ import annotations

from dataclasses import dataclass, replace

from longform.chat.call import Usage

_MILLION = 1_000_000


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
