"""The keeper of a command's calls: who may call, for how much, and whose calls are lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from actors.ledger.entry import Session, this_host, this_session
from actors.ledger.keeper import NO_LIMIT, Budget, LedgerKeeper
from actors.ledger.ledger import Ledger
from longform.chat.call import ChatReply, failed
from longform.chat.ledger_rows import Admission, Intent, Receipt


def intent(attempt: str, call: str | None = None, *, usd: float | None = 1.0) -> Intent:
    return Intent(
        attempt_id=attempt,
        call_id=call or f"call of {attempt}",
        stage="test",
        provider="openai",
        model="m",
        repeat=0,
        reserved_usd=usd,
        deadline_s=60.0,
    )


def receipt(attempt: str, *, usd: float | None, text: str | None = "yes", failure: str | None = None) -> Receipt:
    return Receipt(attempt, f"call of {attempt}", ChatReply(text=text, failure=failure, cost_usd=usd))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "ledger")


def keeper(
    url: str, budget: Budget = NO_LIMIT, *, driver: Session | None = None, clock: Clock | None = None
) -> LedgerKeeper:
    return LedgerKeeper(url, "job", budget, driver, clock or Clock())


def test_a_call_that_costs_less_than_reserved_leaves_room_for_the_next(url: str) -> None:
    """Until it has ended, the next one waits; it is refused only when nothing under way could make room."""
    mine = keeper(url, Budget(max_usd=1.5))
    assert mine.exchange("w", [intent("a"), intent("b")], []) == ["go", "busy"]
    assert mine.exchange("w", [intent("b")], [receipt("a", usd=0.25)]) == ["go"]
    assert mine.exchange("w", [intent("c")], [receipt("b", usd=0.9)]) == ["budget"]


def test_a_receipt_without_a_cost_counts_its_reservation(url: str) -> None:
    mine = keeper(url, Budget(max_usd=1.5))
    mine.exchange("w", [intent("a")], [])
    assert mine.exchange("w", [intent("b")], [receipt("a", usd=None)]) == ["budget"]


def test_a_refused_call_counts_neither_as_money_nor_as_a_call(url: str) -> None:
    mine = keeper(url, Budget(max_usd=1.0, max_calls=1))
    mine.exchange("w", [intent("a")], [])
    refused = Receipt("a", "call of a", failed("http_429"))
    assert mine.exchange("w", [intent("b")], [refused]) == ["go"]


def test_a_keeper_that_starts_again_knows_what_was_spent(url: str) -> None:
    """
    Calls that its predecessor left open are reserved until their worker settles them, and may have been paid if none
    does.
    """
    first = keeper(url, Budget(max_usd=2.5))
    first.exchange("w", [intent("a"), intent("b")], [])
    first.exchange("w", [], [receipt("a", usd=0.9)])
    clock = Clock()
    settled, lost = keeper(url, Budget(max_usd=2.5)), keeper(url, Budget(max_usd=2.5), clock=clock)
    assert lost.exchange("other", [intent("c")], []) == ["busy"]
    assert settled.exchange("w", [intent("c")], [receipt("b", usd=0.1)]) == ["go"]
    clock.now = 11.0
    assert lost.exchange("other", [intent("d")], []) == ["budget"]


def test_calls_of_a_worker_that_died_with_the_keeper_are_not_busy_for_ever(url: str) -> None:
    """Nobody tells the new keeper of that worker, and the command that owns its calls is alive."""
    keeper(url).exchange("dead", [intent("a", "same")], [])
    clock = Clock()
    again = keeper(url, clock=clock)
    assert again.exchange("alive", [intent("b", "same")], []) == ["busy"]
    clock.now = 11.0
    assert again.exchange("alive", [intent("b", "same")], []) == ["go"]


def test_other_jobs_have_budgets_of_their_own(url: str) -> None:
    keeper(url, Budget(max_calls=1)).exchange("w", [intent("a")], [])
    other = LedgerKeeper(url, "other", Budget(max_calls=1))
    assert other.exchange("w", [intent("b")], []) == ["go"]


def test_calls_of_a_worker_that_fell_silent_are_nobody_s_but_stay_unsettled(url: str) -> None:
    clock = Clock()
    mine = keeper(url, clock=clock)
    assert mine.exchange("dead", [intent("a", "same")], []) == ["go"]
    assert mine.exchange("alive", [intent("b", "same")], []) == ["busy"]
    clock.now = 11.0
    assert mine.exchange("alive", [intent("b", "same")], []) == ["go"]
    totals = Ledger(url, job="reader").totals()
    assert (totals.open, totals.unsettled_usd) == (2, 2.0)


def test_an_exchange_said_twice_counts_once(url: str) -> None:
    mine = keeper(url, Budget(max_calls=2))
    for _ in range(3):
        assert mine.exchange("w", [intent("a")], []) == ["go"]
    assert mine.exchange("w", [intent("b")], [receipt("a", usd=0.1)]) == ["go"]
    assert Ledger(url, job="reader").totals().calls == 2


def test_when_the_driver_is_gone_no_call_leaves(url: str) -> None:
    """A killed driver that nobody has waited for yet is gone too."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    driver = Session(this_host(), process.pid, psutil.Process(process.pid).create_time())
    mine = keeper(url, driver=driver)
    assert mine.exchange("w", [intent("a")], []) == ["go"]
    process.kill()
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    assert mine.exchange("w", [intent("b")], [receipt("a", usd=0.1)]) == ["stopped"]
    process.wait()
    assert mine.exchange("w", [intent("c")], []) == ["stopped"]
    assert Ledger(url, job="reader").totals().answered == 1


def test_a_process_that_took_over_the_driver_s_number_is_not_the_driver(url: str) -> None:
    driver = this_session()._replace(started=psutil.Process().create_time() - 100)
    assert keeper(url, driver=driver).exchange("w", [intent("a")], []) == ["stopped"]


def test_a_cost_that_is_unknown_counts_as_reserved_after_a_restart_too(url: str) -> None:
    budget = Budget(max_usd=1.5)
    mine = keeper(url, budget)
    assert mine.exchange("w", [intent("a")], []) == ["go"]
    assert mine.exchange("w", [intent("b")], [receipt("a", usd=None)]) == ["budget"]

    assert keeper(url, budget).exchange("w", [intent("b")], []) == ["budget"]


def test_what_is_found_is_counted_as_reused(url: str) -> None:
    mine = keeper(url)
    mine.exchange("w", [intent("a")], [])
    mine.exchange("w", [], [receipt("a", usd=0.5)])
    assert mine.finished(["call of a", "call of b"], "judge").keys() == {"call of a"}
    assert mine.n_reused() == {"judge": 1}


def test_a_final_failure_is_not_paid_for_again_by_the_same_command(url: str) -> None:
    """A later command asks again: the model may have changed."""
    mine = keeper(url)
    mine.exchange("w", [intent("a"), intent("b")], [])
    cut, overloaded = ChatReply(text=None, failure="length", cost_usd=0.5), failed("http_503")
    mine.exchange("w", [], [Receipt("a", "call of a", cut), Receipt("b", "call of b", overloaded)])
    found = mine.finished(["call of a", "call of b"])
    assert {call: (reply.failure, reply.cost_usd) for call, reply in found.items()} == {"call of a": ("length", 0.5)}
    assert keeper(url).finished(["call of a"]) == {}


def test_exchanges_of_several_workers_are_one_step_with_an_answer_each(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, steps = Clock(), list[int]()
    mine = keeper(url, Budget(max_calls=4), clock=clock)
    mine.exchange("v", [intent("a")], [])
    exchange = Ledger.exchange

    def counted(ledger: Ledger, intents: Sequence[Intent], receipts: Sequence[Receipt]) -> list[Admission]:
        steps.append(len(intents))
        return exchange(ledger, intents, receipts)

    monkeypatch.setattr(Ledger, "exchange", counted)
    said = [
        ("v", [intent("b", "shared")], []),
        ("w", [intent("c", "shared"), intent("d"), intent("e")], [receipt("a", usd=0.5)]),
        ("x", [], []),
    ]
    assert mine.exchange_all(said) == [["go"], ["busy", "go", "budget"], []]
    assert steps == [3]
    assert mine.spent() == (3, 0.5 + 2 * 1.0)
    assert mine.exchange_all(said[:1]) == [["go"]]  # its answer was lost
    assert mine.spent() == (3, 0.5 + 2 * 1.0)


def test_a_silent_worker_is_given_up_beside_those_that_speak_at_once(url: str) -> None:
    clock = Clock()
    mine = keeper(url, Budget(max_usd=9.0), clock=clock)
    mine.exchange_all([("silent", [intent("a")], []), ("speaks", [intent("b")], [])])
    clock.now = 11.0
    assert mine.exchange_all([("speaks", [], []), ("other", [intent("c", "call of a")], [])]) == [[], ["go"]]
    assert mine._open.keys() == {"b", "c"}
