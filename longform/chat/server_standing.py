"""
Tell whether a server answers a command, refuses every call, or cannot be used at all.

A command that goes on asking a server that is not there, or does not take its key, makes only rows without an answer.
It ends early on two kinds of evidence: the first attempts of a dozen calls found the server unusable and none
succeeded, or the server has refused every call (429) for longer than the command's patience. No clock: the time comes
with every reply, in seconds that grow.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from math import inf
from typing import NamedTuple

from longform.chat.call import ChatReply
from longform.chat.failures import CANCELLED, OF_THE_ACCOUNT, REDIRECTS, REFUSED, UNANSWERED, asks_to_wait

FIRST_CALLS = 12
"""Calls whose failed attempts are enough to give a server up, if no call has succeeded."""

_MINUTE_S = 60.0
_LONG_WAIT_S = 20.0  # one that is told to people

# Failures that speak of the server, the key or the address, whatever was asked.
_UNUSABLE = ("connection", *OF_THE_ACCOUNT, *REDIRECTS)
# Failures that may be the request's, but not of the first dozen requests to a server that has never answered.
_FAILING = ("timeout", "bad_body", "provider_error", "reply_too_large", "http_408", "http_409", "http_425")


class Server(NamedTuple):
    """A server, as a command asks it."""

    name: str  # its base URL, or the provider
    model: str  # as configured
    key_env: str  # the environment variable with the key
    timeout_s: float  # the deadline of one attempt
    patience_s: float  # how long it may refuse every call


class Standing(NamedTuple):
    """A command's findings about a server."""

    server: Server
    n_succeeded: int  # attempts with any answer
    failures: dict[str, int]  # failure, in words -> attempts; refusals are not among them
    n_refused_lately: int  # within the last minute
    unusable: str | None  # why no call can succeed, in one sentence; None: some have, or it is not known
    # the seconds from now that it asks to wait while it lets nothing in; None: it does not, or not so long
    wait_s: float | None = None
    unread: Mapping[str, int] = {}  # reason -> calls that asked once more for a reply that can be read


class Watch:
    """Follows one server's replies; *has_succeeded*: a call of this command has succeeded before."""

    def __init__(self, server: Server, *, has_succeeded: bool = False) -> None:
        self._server, self._has_succeeded = server, has_succeeded
        self._n_succeeded = 0
        self._failures: Counter[tuple[str, str | None]] = Counter()  # failure, its detail
        self._unusable: set[str] = set()  # calls; kept until one succeeds
        self._failing: set[str] = set()
        self._refused_at: deque[float] = deque()  # within the last minute
        self._refused_since: float | None = None  # nothing was let in after that
        self._n_refused = 0  # since then
        self._told_until = -inf  # by the longest wait that these refusals asked for
        self._unread: Counter[str] = Counter()

    def hear(self, now: float, call_id: str, reply: ChatReply, *, again: str | None = None) -> None:
        """Take in the outcome of an attempt; *again* is why it asked for a reply that was there."""
        failure = reply.failure
        if failure == CANCELLED:
            return
        if asks_to_wait(reply):
            self._refuse(now, reply.signals.retry_after_s)
        if failure == REFUSED:
            return
        if again is not None:
            self._unread[again] += 1
        if failure not in UNANSWERED and not asks_to_wait(reply):
            self._refused_since = None
        if failure is None or not _speaks_of_server(failure):
            self._n_succeeded += 1
            self._has_succeeded = True
            self._unusable.clear()
            self._failing.clear()
            return
        self._failures[failure, reply.detail] += 1
        if not self._has_succeeded:
            self._failing.add(call_id)
            if failure in _UNUSABLE:
                self._unusable.add(call_id)

    def reason_to_end(self, now: float, *, has_answered: bool) -> str | None:
        """
        Return why the command should end, in one sentence; None if it should go on.

        *now* is in monotonic seconds. If the model *has_answered* other commands, calls that fail one by one (timeouts,
        5xx) may be at fault themselves.
        """
        if (since := self._refused_since) is not None and now - since > self._server.patience_s:
            return self._refuses(now, now - since)
        tried = self._unusable if has_answered else self._failing
        return self._failed() if len(tried) >= FIRST_CALLS else None

    def standing(self, now: float) -> Standing:
        """Return the standing known by now."""
        self._forget_refusals(now)
        failures: Counter[str] = Counter()
        for (failure, detail), n in self._failures.items():
            failures[detail or failure] += n
        only_unusable = bool(self._unusable) and self._unusable == self._failing
        unusable = self._failed() if only_unusable else None
        told_s = self._told_until - now if self._refused_since is not None else 0.0
        wait_s = told_s if told_s > _LONG_WAIT_S else None
        return Standing(
            self._server, self._n_succeeded, dict(failures), len(self._refused_at), unusable, wait_s, dict(self._unread)
        )

    def has_failed_first(self) -> bool:
        """Return whether so many calls have failed that the ledger should say if the model ever answered."""
        return len(self._failing) >= FIRST_CALLS

    def _refuse(self, now: float, told_s: float | None) -> None:
        if self._refused_since is None:
            self._refused_since, self._n_refused, self._told_until = now, 0, -inf
        self._told_until = max(self._told_until, now + (told_s or 0.0))
        self._n_refused += 1
        self._refused_at.append(now)
        self._forget_refusals(now)

    def _forget_refusals(self, now: float) -> None:
        while self._refused_at and self._refused_at[0] <= now - _MINUTE_S:
            self._refused_at.popleft()

    # ------------------------------------------------------------ in words

    def _refuses(self, now: float, seconds: float) -> str:
        name, model, *_ = self._server
        told_s = self._told_until - now
        asks = f"; it asks to wait another {_duration(told_s)}" if told_s > _LONG_WAIT_S else ""
        return (
            f"{name} has refused every call of model {model!r} for {_duration(seconds)} (a limit is met): "
            f"{self._n_refused} refusals, nothing let in{asks}. Look at the account's limits and its quota, or raise "
            "`patience_s` of the model"
        )

    def _failed(self) -> str:
        (failure, detail), _ = self._failures.most_common(1)[0]
        words = f"{self._server.name} {_words(failure, detail, self._server)}"
        return f"{words}; 0 of {len(self._failing)} calls of model {self._server.model!r} succeeded"


_SAID = {
    "http_401": "refuses the key in {key}",
    "http_403": "refuses the key in {key}",
    "http_407": "is behind a proxy that wants a login",
    "http_402": "says that the account of the key in {key} has no credit",
    "insufficient_quota": "says that the account of the key in {key} has no credit",
    "http_404": "does not know the path of base_url, or the model",
    "bad_body": "answers with what is no completion; see base_url",
    "reply_too_large": "answers with what is no completion; see base_url",
}


def _speaks_of_server(failure: str) -> bool:
    return failure in _UNUSABLE or failure in _FAILING or failure.startswith("http_5")


def _words(failure: str, detail: str | None, server: Server) -> str:
    """Return a predicate that says what is wrong with a server."""
    if failure == "connection":
        return f"could not be reached: {detail or 'connection lost'}"
    if failure == "timeout":
        return f"gave no answer within {server.timeout_s:g} s (`timeout_s`)"
    if failure in REDIRECTS and detail:
        return f"answers with {detail}; name the address that answers as base_url"
    said = _SAID.get(failure, "fails")
    return f"{said.format(key=server.key_env)} ({failure})"


def _duration(seconds: float) -> str:
    minutes = seconds / _MINUTE_S
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:,.0f} hours"
