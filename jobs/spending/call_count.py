"""Calls of chat models, counted before any of them is made; those that the ledger can answer are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from statistics import fmean, stdev
from typing import TypeVar

from actors.ledger.ledger import Ledger
from longform.chat.asking import Name
from longform.chat.call import Capabilities, ChatReply, ChatRequest, call_id, capabilities, refusal_reason
from longform.chat.prices import counted_input
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.spending import CallSample, CountRange, History, mean_of_more

_NO_HISTORY = History()
Value = TypeVar("Value")


class Unasked:
    """A `ChatModel` that says what the configured one accepts, and is never asked: it needs no key."""

    def __init__(self, settings: ChatSettings) -> None:
        self.accepted: Capabilities = capabilities(settings)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Fail: nothing is asked while a run is planned."""
        raise AssertionError(f"a plan asked a model: {request.messages[-1].text[:80]!r}")

    async def close(self) -> None:
        """Do nothing: nothing is held."""


@dataclass(kw_only=True)
class StageCalls:
    """Calls of one stage to its model."""

    stage: str  # its name in the ledger
    chat: ChatSettings
    history: History = _NO_HISTORY  # what earlier calls of the model took in such stages
    # call id -> input tokens as counted before the call, for calls that are still to be made
    inputs: dict[str, CountRange] = field(default_factory=dict)
    further: dict[str, CountRange] = field(default_factory=dict)  # the same of calls that replies may lead to
    n_paid: int = 0  # calls that the ledger answers
    not_asked: Counter[str] = field(default_factory=Counter)  # reason -> rows that will not be asked about
    # assumption about summaries that are not written -> calls that it concerns
    assumed: Counter[str] = field(default_factory=Counter)


class CallCount:
    """
    Adds up what stages will ask; a call that two of them make is the first one's. Without a *ledger* nothing has been
    asked before.
    """

    def __init__(self, ledger: Ledger | None) -> None:
        self._ledger = ledger
        self._taken: set[str] = set()
        self._found: set[str] = set()

    @property
    def reads(self) -> bool:
        """Return whether there are earlier calls to find replies among."""
        return self._ledger is not None

    def calls(self, stage: str, chat: ChatSettings) -> StageCalls:
        """Return the calls of a stage, none yet, with what earlier calls of its model took in such stages."""
        kind = stage.split(" ", 1)[0]
        history = _NO_HISTORY if self._ledger is None else self._ledger.history(chat, kind)
        return StageCalls(stage=stage, chat=chat, history=history)

    def add(
        self, calls: StageCalls, request: ChatRequest | str, *, key: str | None = None, tokens: CountRange | None = None
    ) -> str | None:
        """Add a call if it is new, and return its id; return None if it will not be made, which is noted."""
        reason = request if isinstance(request, str) else refusal_reason(request, capabilities(calls.chat))
        if reason is not None:
            calls.not_asked[reason.split(":", 1)[0]] += 1
            return None
        assert isinstance(request, ChatRequest)
        key = key or call_id(calls.chat, request)
        is_new = key not in self._taken
        self._taken.add(key)
        if is_new and key in self._found:
            calls.n_paid += 1
        elif is_new:
            counted = self.counted(calls, request)
            calls.inputs[key] = tokens or CountRange(counted, counted, counted)
        return key

    def add_further(self, calls: StageCalls, request: ChatRequest, tokens: CountRange) -> None:
        """Add a call that is made if replies lead to it, unless it is there."""
        key = call_id(calls.chat, request)
        if key not in self._taken and refusal_reason(request, capabilities(calls.chat)) is None:
            calls.further.setdefault(key, tokens)

    def counted(self, calls: StageCalls, request: ChatRequest) -> float:
        """Count input tokens: as the pool does if the history tells what they come to, else those of cl100k."""
        windowless = capabilities(calls.chat).context_window is None
        if calls.history.input_ratio is not None and windowless:
            return counted_input(replace(request, input_tokens=None))
        return counted_input(request)

    def answered(self, chat: ChatSettings, requests: Mapping[Name, ChatRequest]) -> dict[Name, ChatReply]:
        """Return the ledger's replies to *requests*, by their names; such calls count as paid from now on."""
        if self._ledger is None:
            return {}
        keys = {name: call_id(chat, request) for name, request in requests.items()}
        found = self._ledger.finished(list(keys.values()))
        self._found |= found.keys()
        return {name: found[key] for name, key in keys.items() if key in found}


# ---------------------------------------------------------------- more queries, or fewer, like those planned


def for_queries(found: Sequence[StageCalls], *, n_planned: int, n_queries: int) -> list[StageCalls]:
    """
    Return the calls of *n_queries* new queries, none paid already; calls grow in proportion to queries. *found* are
    those of the *n_planned* queries of a plan.

    Ends of the input tokens move apart by the 95 % prediction interval of the mean of the new queries. Calls of a query
    read the same documents, so each planned query counts as one observation.

    Raises:
        UsageError: No query is planned, or a stage has no call left that others could be like.
    """
    if n_planned < 1:
        raise UsageError(f"--queries {n_queries}: expected a benchmark with a query, found none")
    return [_scaled(calls, n_planned, n_queries) for calls in found]


def scaling_notes(n_planned: int, n_queries: int) -> Iterator[str]:
    """Yield what a scaled plan rests on."""
    yield (
        f"for {n_queries:,} queries: the calls of {n_planned:,} planned {'query' if n_planned == 1 else 'queries'} "
        f"times {n_queries / n_planned:,.4g}, as if all had documents, insights and answers of such lengths and numbers"
    )
    if n_planned == 1:
        yield "one query shows no spread: the intervals do not hold how much queries differ; plan two or more"


def _scaled(calls: StageCalls, n_planned: int, n_queries: int) -> StageCalls:
    factor = n_queries / n_planned
    total = round((len(calls.inputs) + calls.n_paid) * factor)
    if total and not calls.inputs:
        raise UsageError(
            f"--queries {n_queries}: every call of {calls.stage} for the planned queries is paid already, so that none "
            "is left to scale; name an empty folder with --ledger"
        )
    inputs = _widened(list(calls.inputs.values()), n_planned, n_queries)
    return replace(
        calls,
        inputs=_first(total, inputs),
        further=_first(round(len(calls.further) * factor), [*calls.further.values()]),
        n_paid=0,
        not_asked=type(calls.not_asked)({why: round(n * factor) for why, n in calls.not_asked.items()}),
        assumed=type(calls.assumed)({what: round(n * factor) for what, n in calls.assumed.items()}),
    )


def _first(n: int, some: Sequence[Value]) -> dict[str, Value]:
    """Return *n* of some values, over and over."""
    return {f"{place}": one for place, one in enumerate(islice(cycle(some), n))}


def _widened(inputs: Sequence[CountRange], n_planned: int, n_queries: int) -> list[CountRange]:
    """Move the ends of each call's tokens apart, by the share that the mean of further queries may differ."""
    if n_planned < 2 or len(inputs) < 2:
        return list(inputs)
    middles = [span.expected if span.expected is not None else (span.low + span.high) / 2 for span in inputs]
    mean = fmean(middles)
    found = mean_of_more(CallSample(n_planned, mean, stdev(middles)), n_queries)
    share = min(1.0, (found.high - mean) / mean) if mean else 0.0
    return [CountRange(span.low * (1 - share), span.expected, span.high * (1 + share)) for span in inputs]
