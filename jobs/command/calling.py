"""The model calls of one command: their ledger, their budget, their keeper."""

from __future__ import annotations

import argparse
import os
import sys
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from actors.chat.model import CallContext
from actors.chat.price_list import PriceList
from actors.ledger.keeper import NO_LIMIT, Budget, LedgerKeeper, start_keeper
from actors.ledger.ledger import Ledger
from actors.terminal import say
from jobs.command.parser import LEDGER_VARIABLE
from longform.chat.server_standing import Server, Standing
from longform.errors import ServerGoneError, UsageError
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment

_LONGEST_NAMED_S = 1e9  # thirty years; a date beyond is no date


class Calling:
    """
    The model calls of one command; *verb* and the time name their job in the ledger.

    *prices* is a list of the user's; None: the one that ships with `litellm`.
    """

    def __init__(self, verb: str, *, ledger: str, prices: str | None = None, budget: Budget = NO_LIMIT) -> None:
        self.job = command_name(verb)
        self.ledger, self.budget = ledger, budget
        self._prices = prices
        self._keeper: object = None
        self._told_waits: set[Server] = set()

    def context(self, stage: str) -> CallContext:
        """Return the context that workers of *stage* need."""
        return CallContext(job=self.job, stage=stage, ledger=self.ledger, prices=self._prices)

    def start(self) -> None:
        """
        Make sure the keeper runs, in the Ray that runs if one does; the second call does nothing.

        Raises:
            LongformError: The ledger cannot be opened and written.
        """
        if self._keeper is None:
            Ledger(self.ledger, job=self.job).close()  # an actor that fails so would say it in a traceback
            self._keeper = start_keeper(self.ledger, self.job, self.budget)

    def n_reused(self) -> Mapping[str, int]:
        """Return how many replies so far came from the ledger, and cost nothing, by stage."""
        found: Mapping[str, int] = self._ask_keeper("n_reused")
        return found

    def notice(self) -> str:
        """Tell the calls so far, their cost, and the servers that refuse some, for a line of progress; never fail."""
        if self._keeper is None:
            return ""
        try:
            standings, spent = self._standings(), self._ask_keeper("spent")
        except Exception:  # noqa: BLE001  # the keeper is starting again
            return ""
        for standing in standings:
            self._tell_long_wait(standing)
        refusing = [(one.server.name, one.n_refused_lately) for one in standings if one.n_refused_lately]
        told = [f"{name} refuses: {n} times in the last minute" for name, n in refusing]
        return "; ".join([spent.words(), *told])

    def _tell_long_wait(self, standing: Standing) -> None:
        """Print at once, and once, that a server asks for a long wait."""
        server, wait_s = standing.server, standing.wait_s
        if wait_s is None:
            self._told_waits.discard(server)
        elif server not in self._told_waits:
            self._told_waits.add(server)
            say(
                f"{server.name} asks to wait until {time_words(wait_s, datetime.now().astimezone())}; a call tries now "
                f"and then, and if nothing is let in for {server.patience_s:g} s (`patience_s`) the command ends, and "
                "the same command goes on later",
                file=sys.stderr,
                flush=True,
            )

    def check_servers(self) -> None:
        """
        End the command if a server that was asked cannot be used.

        Raises:
            ServerGoneError: None of its calls has succeeded, because of an address, a key, or a server that is down.
        """
        unusable = [standing.unusable for standing in self._standings() if standing.unusable]
        if unusable:
            raise ServerGoneError(f"{'; '.join(unusable)}. The same command tries them again")

    def failure_words(self) -> list[str]:
        """For each server, how many attempts failed and how many replies could not be read, and why."""
        return [
            said for standing in self._standings() for said in (_failures_of(standing), _unread_of(standing)) if said
        ]

    def _standings(self) -> list[Standing]:
        standings: list[Standing] = self._ask_keeper("standings") if self._keeper is not None else []
        return standings

    def _ask_keeper(self, method: str) -> Any:
        if isinstance(self._keeper, LedgerKeeper):
            return getattr(self._keeper, method)()
        import ray

        keeper: Any = self._keeper
        return ray.get(keeper.ask.remote(method))

    def check_prices(self, models: list[ChatSettings]) -> None:
        """
        Refuse a limit in dollars without prices.

        Raises:
            UsageError: One is set, and a model's price is unknown; or the file of prices is none.
        """
        prices = PriceList.read(self._prices)
        if self.budget.max_usd is None:
            return
        if unknown := sorted({settings.model for settings in models if prices.price(settings) is None}):
            own = any(settings.is_own_system for settings in models)
            more = ", those of a system of your own by its `cost_usd_per_call`" if own else ""
            raise UsageError(
                f"--max-cost needs prices, and those of {unknown} are unknown; state them with --prices{more}"
            )


def command_name(verb: str) -> str:
    """Return a new name for a command: its verb, the time, and something of its own."""
    return f"{verb}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}"


def _failures_of(standing: Standing) -> str:
    n_failed = sum(standing.failures.values())
    if not n_failed:
        return ""
    n, reasons = n_failed + standing.n_succeeded, by_reason(standing.failures)
    return (
        f"{standing.server.name}: {n_failed:,} of {n:,} attempts of model {standing.server.model!r} failed: {reasons}"
    )


def _unread_of(standing: Standing) -> str:
    n = sum(standing.unread.values())
    if not n:
        return ""
    return (
        f"{standing.server.name}: {n:,} replies of model {standing.server.model!r} could not be read and were asked "
        f"for, and paid, once more: {by_reason(standing.unread)}"
    )


def by_reason(counts: Mapping[str, int]) -> str:
    """List reasons with their numbers, the most frequent first."""
    return ", ".join(f"{reason} {n:,}" for reason, n in sorted(counts.items(), key=lambda one: -one[1]))


def time_words(wait_s: float, now: datetime) -> str:
    """Name the time in so many seconds as a person would from *now* on: 18:00, tomorrow 18:00, or with its date."""
    until = now + timedelta(seconds=min(wait_s, _LONGEST_NAMED_S))
    days = (until.date() - now.date()).days
    day = "" if days == 0 else "tomorrow " if days == 1 else f"{until:%Y-%m-%d} "
    return f"{day}{until:%H:%M}"


def chat_models(experiment: Experiment) -> list[ChatSettings]:
    """Return the chat models that an experiment asks."""
    ranking = [experiment.retrievers[name] for name in experiment.used_retrievers]
    scoring = (*ranking, *experiment.used_rerankers.values(), *experiment.judges.values())
    return [one.asked_model for one in (*experiment.summarizers.values(), *scoring) if one.asked_model is not None]


def open_rows(settings: ChatSettings) -> int:
    """Return how many rows a worker holds open: more than it has calls in flight, so that none waits for rows."""
    return 2 * settings.concurrency


def calling_of(arguments: argparse.Namespace, verb: str, beside: str) -> Calling:
    """
    Return the calling options of the command line; *beside* is the command's output, in whose folder the ledger stands
    by default.
    """
    ledger = arguments.ledger or os.environ.get(LEDGER_VARIABLE) or ledger_beside(beside)
    budget = Budget(arguments.max_cost, arguments.max_calls)
    return Calling(verb, ledger=ledger, prices=arguments.prices, budget=budget)


def ledger_beside(url: str) -> str:
    """Return the ledger of the folder in which *url* stands."""
    head, slash, _ = url.rstrip("/").rpartition("/")
    return f"{head}{slash}ledger" if slash else "ledger"
