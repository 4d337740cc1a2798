"""Calls of chat models, counted before any of them is made; those that the ledger can answer are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from actors.ledger.ledger import Ledger
from longform.chat.asking import Name
from longform.chat.call import Capabilities, ChatReply, ChatRequest, call_id, capabilities, refusal_reason
from longform.chat.prices import counted_input
from longform.settings.chat import ChatSettings
from longform.spending import CountRange, History

_NO_HISTORY = History()


class Unasked:
    """A `ChatModel` that says what the configured one accepts, and is never asked: it needs no key."""

    def __init__(self, settings: ChatSettings) -> None:
        self.accepted: Capabilities = capabilities(settings)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Fail: nothing is asked while a run is planned."""
        raise AssertionError(f"a plan asked a model: {request.messages[-1].text[:80]!r}")

    async def close(self) -> None:
        """Do nothing: nothing is held."""


@dataclass(frozen=True, kw_only=True)
class StageCalls:
    """Calls of one stage to its model."""

    stage: str  # its name in the ledger
    chat: ChatSettings
    history: History = _NO_HISTORY  # what earlier calls of the model took in such stages
    # call id -> input tokens as counted before the call, for calls that are still to be made
    inputs: dict[str, CountRange] = field(default_factory=dict)
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
        if key not in self._taken:
            self._taken.add(key)
            counted = self.counted(calls, request)
            calls.inputs[key] = tokens or CountRange(counted, counted, counted)
        return key

    def counted(self, calls: StageCalls, request: ChatRequest) -> float:
        """Count input tokens: as the pool does if the history tells what they come to, else those of cl100k."""
        windowless = capabilities(calls.chat).context_window is None
        if calls.history.input_ratio is not None and windowless:
            return counted_input(replace(request, input_tokens=None))
        return counted_input(request)

    def answered(self, chat: ChatSettings, requests: Mapping[Name, ChatRequest]) -> dict[Name, ChatReply]:
        """Return the replies that the ledger has to *requests*, by their names."""
        if self._ledger is None:
            return {}
        keys = {name: call_id(chat, request) for name, request in requests.items()}
        found = self._ledger.finished(list(keys.values()))
        return {name: found[key] for name, key in keys.items() if key in found}

    def paid(self, calls: StageCalls) -> dict[str, ChatReply]:
        """Take out the calls that the ledger answers, and return their replies."""
        found = {} if self._ledger is None else self._ledger.finished(list(calls.inputs))
        for key in found:
            del calls.inputs[key]
        return found
