"""Calls and costs of a run for its report: sums of its ledgers beside the plan."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from actors.chat.price_list import PriceList
from actors.ledger.ledger import Ledger
from actors.ledger.totals import Totals
from actors.storage.folder import Folder
from jobs.calling import Calling
from jobs.runs.record import RunRecord
from jobs.spending.plan import PLAN, open_ledger
from longform.chat.prices import Price
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.spending import saved_by_caching_usd

Job = Mapping[str, Any]

_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
_COUNTS = ("calls", "answered", "failed", "refused", "open")
_DOLLARS = ("known_usd", "n_unknown_usd", "unsettled_usd", "n_unsettled_unknown_usd")


@contextmanager
def noted_calls(record: RunRecord, calling: Calling, stage: str) -> Iterator[None]:
    """Note in the run's record which job calls models, how long a stage takes, and how many replies it had before."""
    record.add_job(calling.context(stage))
    calling.start()
    started, before, n_before = time.monotonic(), calling.n_reused(), _n_calls(calling, stage)
    try:
        yield
    finally:  # also where the budget ends it
        seconds, reused = time.monotonic() - started, max(0, calling.n_reused() - before)
        calls = _n_calls(calling, stage) - n_before
        took = {"stage": stage, "seconds": seconds, "reused": reused, "calls": calls}
        record.add_called(calling.job, took)


def _n_calls(calling: Calling, stage: str) -> int:
    """Return how many calls the job has made for the stage so far."""
    ledger = open_ledger(calling.context(stage).ledger)
    if ledger is None:
        return 0
    try:
        return ledger.totals(job=calling.job, stage=stage).calls
    finally:
        ledger.close()


def call_results(run: Folder, record: RunRecord, experiment: Experiment) -> dict[str, Any]:
    """
    `calls`, a row for each ledger, stage and model that the run's jobs called; `missing_ledgers`, of which nothing is
    known. Nothing if they called none.
    """
    jobs: Sequence[Job] = record.content["jobs"]
    if not jobs:
        return {}
    plan = run.read_json(PLAN) if run.has(PLAN) else None
    rows, missing = [], []
    for url in dict.fromkeys(job["ledger"] for job in jobs):
        if (ledger := open_ledger(url)) is None:
            missing.append(url)
        else:
            own = [job for job in jobs if job["ledger"] == url]
            rows += [{"ledger": url, **row} for row in _rows(ledger, own, plan, experiment)]
            ledger.close()
    return {"calls": rows, "missing_ledgers": missing}


def _rows(
    ledger: Ledger, jobs: Sequence[Job], plan: Mapping[str, Any] | None, experiment: Experiment
) -> Iterator[dict[str, Any]]:
    chats = _chats(experiment)
    later = [job for job in jobs if plan is None or job["job"] not in plan["jobs_before"]]
    totals, since = (ledger.totals_by_stage([job["job"] for job in part]) for part in (jobs, later))
    noted = ((part["stage"], chats[part["stage"]].model) for part in _noted(jobs) if part["stage"] in chats)
    for stage, model in dict.fromkeys([*totals, *noted]):
        price = _price(chats.get(str(stage)), jobs)
        planned = _planned(plan, stage, model)
        yield {
            "stage": stage,
            "model": model,
            **_spent(totals.get((stage, model)), price),
            "reused": sum(part["reused"] for part in _noted(jobs) if part["stage"] == stage),
            "planned": planned,
            "since_plan": planned and _made(since.get((stage, model)), _noted(later), stage),
        }


def _chats(experiment: Experiment) -> dict[str, ChatSettings]:
    """The models of an experiment by the stages that ask them."""
    found = {
        f"summarize {n}": settings.chat for n, settings in experiment.summarizers.items() if settings.kind == "chat"
    }
    return found | {f"judge {n}": chat for n, judge in experiment.judges.items() if (chat := judge.asked_model)}


def _noted(jobs: Sequence[Job]) -> list[Mapping[str, Any]]:
    return [part for job in jobs for part in job["stages"]]


def _price(chat: ChatSettings | None, jobs: Sequence[Job]) -> Price | None:
    """Return the price that the last job had; None if it is not known any more."""
    try:
        return None if chat is None else PriceList.read(jobs[-1]["prices"]).price(chat)
    except UsageError:
        return None


def _spent(totals: Totals | None, price: Price | None) -> dict[str, Any]:
    if totals is None:
        nothing: dict[str, Any] = dict.fromkeys((*_COUNTS, *_TOKENS, *_DOLLARS), 0)
        return nothing | {"cached_share": None, "saved_usd": 0.0, "answered_models": []}
    found = {name: getattr(totals, name) for name in (*_COUNTS, *_TOKENS, *_DOLLARS, "cached_share")}
    saved = None if totals.cached_tokens is None else saved_by_caching_usd(totals.cached_tokens, price)
    return found | {"saved_usd": saved, "answered_models": list(totals.answered_models)}


def _planned(plan: Mapping[str, Any] | None, stage: str | None, model: str | None) -> dict[str, Any] | None:
    for row in plan["stages"] if plan else ():
        if (row["stage"], row["model"]) == (stage, model):
            return {name: row[name] for name in ("calls", "input_tokens", "output_tokens", "usd", "minutes", "reasons")}
    return None


def _made(totals: Totals | None, noted: Sequence[Mapping[str, Any]], stage: str | None) -> dict[str, Any]:
    """Return a plan's outcome in its quantities: input with its cached part, output with its hidden part."""
    minutes = sum(part["seconds"] for part in noted if part["stage"] == stage) / 60
    if totals is None:
        return {"calls": 0, "input_tokens": 0, "output_tokens": 0, "usd": 0.0, "minutes": minutes}
    return {
        "calls": totals.calls,
        "input_tokens": _both(totals.input_tokens, totals.cached_tokens),
        "output_tokens": _both(totals.output_tokens, totals.reasoning_tokens),
        "usd": None if totals.n_unknown_usd or totals.open else totals.known_usd,
        "minutes": minutes,
    }


def _both(stated: int | None, besides: int | None) -> int | None:
    return None if stated is None else stated + (besides or 0)
