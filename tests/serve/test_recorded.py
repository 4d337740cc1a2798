"""A judge's answers outlive it: whoever serves it next finds them in the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actors.ledger.ledger import Ledger
from serve.engine import JOB, Engine, InLedger, Work
from serve.http.app import Backends, ServedJudge
from serve.settings import Batching
from tests.serve.served import LengthItem, LengthJudge, client, local_app

SHORT = {"text": "three words here", "most_words": 3}
LONG = {"text": "three words here", "most_words": 2}


class CountingJudge(LengthJudge):
    """Notes what it had to judge."""

    def __init__(self, strictness: float = 1.0) -> None:
        super().__init__("length", threads=1, strictness=strictness)
        self.judged: list[Any] = []

    def run(self, units: list[Any]) -> list[Work]:
        self.judged += units
        return super().run(units)


async def asked(worker: CountingJudge, ledger: Path, *items: Any) -> Any:
    engine = Engine(worker, Batching(), InLedger(str(ledger), "length"))
    app = local_app(Backends(judges={"length": ServedJudge(engine, LengthItem)}))
    async with client(app) as one:
        response = await one.post("/v1/judge", json={"items": list(items)})
    assert response.status_code == 200, response.text
    return response.json()


async def test_an_identical_request_is_answered_from_the_ledger(tmp_path: Path) -> None:
    """By another replica: the second judge has judged nothing, and says the same under the same call ids."""
    first, second = CountingJudge(), CountingJudge()
    told, again = await asked(first, tmp_path, SHORT, LONG), await asked(second, tmp_path, SHORT, LONG)
    assert (len(first.judged), second.judged) == (2, [])
    assert (told["from_ledger"], again["from_ledger"], again["from_cache"]) == (False, True, True)
    said = [
        [{k: v for k, v in one["verdicts"][0].items() if "from" not in k} for one in a["results"]]
        for a in (told, again)
    ]
    assert said[0] == said[1]
    assert (again["card"], again["card_reason"]) == (None, "a test's judge")
    assert (told["usage"]["cached_tokens"], again["usage"]["cached_tokens"]) == (0, 32)


async def test_each_verdict_says_where_it_came_from(tmp_path: Path) -> None:
    await asked(CountingJudge(), tmp_path, SHORT)
    mixed = await asked(CountingJudge(), tmp_path, SHORT, LONG)
    assert [one["verdicts"][0]["from_ledger"] for one in mixed["results"]] == [True, False]
    assert mixed["from_ledger"] is False


async def test_a_judge_that_changed_is_asked_anew(tmp_path: Path) -> None:
    changed = CountingJudge(strictness=2.0)
    await asked(CountingJudge(), tmp_path, LONG)
    answer = await asked(changed, tmp_path, LONG)
    assert (len(changed.judged), answer["from_ledger"]) == (1, False)


async def test_the_ledger_says_who_judged_and_that_it_cost_nothing(tmp_path: Path) -> None:
    await asked(CountingJudge(), tmp_path, SHORT, LONG)
    totals = Ledger.existing(str(tmp_path)).totals(job=JOB)
    assert (totals.calls, totals.answered, totals.known_usd) == (2, 2, 0.0)


async def test_what_another_try_may_answer_otherwise_is_not_written_down(tmp_path: Path) -> None:
    class Failing(CountingJudge):
        def run(self, units: list[Any]) -> list[Work]:
            return [work._replace(lasting=False) for work in super().run(units)]

    worker = Failing()
    for _ in range(2):
        assert (await asked(worker, tmp_path, SHORT))["from_ledger"] is False
    assert len(worker.judged) == 2
