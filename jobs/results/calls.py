"""Calls and costs of a run for its report: sums of its ledgers beside the plan."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from actors.chat.price_list import PriceList
from actors.ledger.ledger import Ledger
from actors.ledger.totals import Totals
from actors.storage.folder import Folder
from jobs.calling import Calling
from jobs.runs.record import RunRecord
from jobs.spending.plan import PLAN, open_ledger
from jobs.stages.rerank import Rerank
from jobs.stages.stage import Stage
from longform.chat.prices import Price
from longform.errors import UsageError
from longform.results.calls import CallsRow
from longform.settings.chat import ChatSettings
from longform.spending import saved_by_caching_usd


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


def call_results(
    run: Folder, record: CallsRow, stages: Iterable[Stage[Any]]
) -> tuple[list[CallsRow] | None, list[str]]:
    """
    Return a row for each ledger, stage and model that a run's jobs called for its *stages*, and lost ledgers.

    There are no rows, but None, if the jobs called no model.
    """
    jobs: Sequence[CallsRow] = record["jobs"]
    if not jobs:
        return None, []
    plan, by_name = run.read_json(PLAN) if run.has(PLAN) else None, asking(stages)
    rows: list[CallsRow] = []
    missing: list[str] = []
    for url in dict.fromkeys(job["ledger"] for job in jobs):
        if (ledger := open_ledger(url)) is None:
            missing.append(url)
        else:
            own = [job for job in jobs if job["ledger"] == url]
            rows += _rows(ledger, url, own, plan, by_name)
            ledger.close()
    return rows, missing


def _rows(
    ledger: Ledger, url: str, jobs: Sequence[CallsRow], plan: CallsRow | None, stages: Mapping[str, Stage[Any]]
) -> Iterator[CallsRow]:
    chats = {name: stage.chat for name, stage in stages.items() if stage.chat is not None}
    later = [job for job in jobs if plan is None or job["job"] not in plan["jobs_before"]]
    totals, since = (ledger.totals_by_stage([job["job"] for job in part]) for part in (jobs, later))
    noted = ((part["stage"], chats[part["stage"]].model) for part in _noted(jobs) if part["stage"] in chats)
    for stage, model in dict.fromkeys([*totals, *noted]):
        asked, price = stages.get(str(stage)), _price(chats.get(str(stage)), jobs)
        planned = _planned(plan, stage, model)
        yield {
            "ledger": url,
            "stage": stage,
            "model": model,
            "judge": None if asked is None else asked.judged_by,
            "reranker": asked.reranker if isinstance(asked, Rerank) else None,
            **_spent(totals.get((stage, model)), price),
            "reused": sum(part["reused"] for part in _noted(jobs) if part["stage"] == stage),
            "planned": planned,
            "since_plan": None if planned is None else _made(since.get((stage, model)), _noted(later), stage),
        }


def asking(stages: Iterable[Stage[Any]]) -> dict[str, Stage[Any]]:
    """Return those of *stages* that ask models, by name."""
    return {stage.name: stage for stage in stages if stage.chat is not None}


def _noted(jobs: Sequence[CallsRow]) -> list[CallsRow]:
    return [part for job in jobs for part in job["stages"]]


def _price(chat: ChatSettings | None, jobs: Sequence[CallsRow]) -> Price | None:
    """Return the price that the last job had; None if it is not known any more."""
    try:
        return None if chat is None else PriceList.read(jobs[-1]["prices"]).price(chat)
    except UsageError:
        return None


_SUMS = (
    "calls", "answered", "failed", "refused", "open", "input_tokens", "cached_tokens", "output_tokens",
    "reasoning_tokens", "known_usd", "n_unknown_usd", "unsettled_usd", "n_unsettled_unknown_usd",
)  # fmt: skip
_PLANNED = ("calls", "input_tokens", "output_tokens", "usd", "minutes", "reasons")


def _spent(totals: Totals | None, price: Price | None) -> CallsRow:
    if totals is None:
        return {**dict.fromkeys(_SUMS, 0), "cached_share": None, "saved_usd": 0.0, "answered_models": []}
    saved = None if totals.cached_tokens is None else saved_by_caching_usd(totals.cached_tokens, price)
    kept = {name: getattr(totals, name) for name in (*_SUMS, "cached_share")}
    return {**kept, "saved_usd": saved, "answered_models": list(totals.answered_models)}


def _planned(plan: CallsRow | None, stage: str | None, model: str | None) -> CallsRow | None:
    for row in plan["stages"] if plan else ():
        if (row["stage"], row["model"]) == (stage, model):
            return {name: row[name] for name in _PLANNED}
    return None


def _made(totals: Totals | None, noted: Sequence[CallsRow], stage: str | None) -> CallsRow:
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
