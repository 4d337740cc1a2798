"""
`longform evaluate --plan`: what the run will ask, and what that will take, as a document and as a table.

Nothing is asked and no key is needed. A plan stands in `plan.json` of the run, for its report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from actors.chat.opening import quota_domain
from actors.chat.price_list import PriceList
from actors.ledger.ledger import Ledger
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.spending.call_count import StageCalls, for_queries, scaling_notes
from jobs.spending.walk import calls_to_make
from jobs.stages.stage import Plan
from longform.errors import UsageError
from longform.keys import content_key
from longform.quota.leases import QuotaLimits
from longform.settings.chat import ChatSettings
from longform.spending import NOTHING, CountRange, Spending, spending, total, with_further
from longform.tables.files import aligned_text

PLAN = "plan.json"
BOUNDS = ("lowest", "highest")
_QUANTITIES = ("input_tokens", "output_tokens", "usd", "minutes")
_HEADS = ("stage", "model", "calls", "paid already", "tokens in", "tokens out", "dollars", "minutes")

NO_HISTORY = "no earlier call of this model in such a stage: between 1 and max_tokens a call"
NO_PRICE = "the price of the model is unknown; state it with --prices"
NO_PRICE_OF_OWN = "what a call of a system of your own costs is unknown; state it with its `cost_usd_per_call`"
NO_PACE = "no limit is known, and no earlier call tells how long one takes"
NOT_IN_IT = "not in it: calls that are tried again because they failed"
NOTHING_ASKED = "no model is called"
A_BATCH = "through the provider's batch API: within a day"


class Scale(NamedTuple):
    """A plan of so many queries is told for another number of them."""

    n_planned: int
    n_queries: int


def spending_plan(
    run: Folder, plan: Plan, *, calling: Calling, workers: int, scale: Scale | None = None
) -> dict[str, Any]:
    """
    Return the document of what is still to be asked; *scale* tells it for another number of queries than the run's.

    *run* has the rows of the stages that ask no model.
    """
    work = content_key(sorted(item.work_id for stage in plan.stages if stage.chat for item in plan.items(stage)))
    with opened_ledger(calling) as ledger:
        calls = calls_to_make(run, plan, ledger)
    if scale is None:
        return plan_document(calls, calling=calling, workers=workers) | {"work": work}
    document = plan_document(for_queries(calls, **scale._asdict()), calling=calling, workers=workers)
    document["notes"] = [*scaling_notes(*scale), *document["notes"]]
    return document | {"work": work, "scale": scale._asdict()}


def plan_document(
    found: Iterable[StageCalls], *, calling: Calling, workers: int, notes: Sequence[str] | None = None
) -> dict[str, Any]:
    """
    Return the document of the calls *found*; a stage may use so many *workers*.

    *notes* are what the verb has to say of its plan; None: what holds for those with one number of calls.
    """
    context = calling.context("plan")
    prices = PriceList.read(context.prices)
    stages = [_stage_document(calls, prices, _limits(calls.chat, context.ledger, workers)) for calls in found]
    return {
        "ledger": context.ledger,
        "stages": stages,
        "total": _total(stages),
        "notes": list(dict.fromkeys([*_notes(stages), *(_usual_notes(stages) if notes is None else notes)])),
    }


def keep_plan(run: Folder, document: Mapping[str, Any], jobs: Sequence[str]) -> None:
    """
    Write the plan to the run, with the *jobs* that have called models for it before.

    The estimate to hold against what was spent is the one made before it was spent: a later plan of the same work does
    not take its place.
    """
    before = run.read_json(PLAN) if run.has(PLAN) else None
    if before is None or before["work"] != document["work"] or before["jobs_before"] == list(jobs):
        run.write_json(PLAN, {**document, "jobs_before": list(jobs)})


@contextmanager
def opened_ledger(calling: Calling) -> Iterator[Ledger | None]:
    """Open the ledger that a command's calls will stand in, to read."""
    ledger = open_ledger(calling.context("plan").ledger)
    try:
        yield ledger
    finally:
        if ledger is not None:
            ledger.close()


def open_ledger(url: str) -> Ledger | None:
    """Open a ledger to read; return None if there is none, and make none."""
    with suppress(UsageError):
        return Ledger.existing(url)
    return None


def _limits(chat: ChatSettings, ledger_url: str, workers: int) -> QuotaLimits:
    """Return the narrowest limits: as configured, as the governor left beside the ledger, or as workers set them."""
    folder, file = Folder(ledger_url), f"limits/{quota_domain(chat)}.json"
    found = QuotaLimits(**folder.read_json(file)) if folder.has(file) else QuotaLimits()
    told = QuotaLimits(chat.requests_per_minute, chat.tokens_per_minute, chat.in_flight)
    at_once = QuotaLimits(in_flight=workers * chat.concurrency)
    return QuotaLimits(*(_least(values) for values in zip(found, told, at_once, strict=True)))


def _least(values: Iterable[Any]) -> Any:
    return min((value for value in values if value is not None), default=None)


def _stage_document(calls: StageCalls, prices: PriceList, limits: QuotaLimits) -> dict[str, Any]:
    inputs = list(calls.inputs.values())
    price = prices.price(calls.chat)
    price_of = partial(spending, max_tokens=calls.chat.max_tokens, history=calls.history, price=price, limits=limits)
    found = with_further(price_of(inputs), price_of([*calls.further.values()]))
    if calls.chat.batch and inputs:
        found = found._replace(minutes=None)
    return {
        "stage": calls.stage,
        "provider": calls.chat.provider,
        "model": calls.chat.model,
        "calls": len(inputs),
        "calls_at_most": len(inputs) + len(calls.further),
        "paid_already": calls.n_paid,
        "not_asked": dict(calls.not_asked),
        "assumed": dict(calls.assumed),
        **{name: _span(getattr(found, name)) for name in _QUANTITIES},
        "price": prices.source(calls.chat),
        "limits": limits._asdict(),
        "history": calls.history.output_tokens.n if calls.history.output_tokens else 0,
        "reasons": _reasons(found, calls.chat),
    }


def _span(span: CountRange | None) -> dict[str, float | None] | None:
    return None if span is None else span._asdict()


def _reasons(found: Spending, chat: ChatSettings) -> dict[str, str]:
    """Say why a quantity, or the middle of its interval, is unknown."""
    reasons = {}
    if found.output_tokens.expected is None:
        reasons["output_tokens"] = NO_HISTORY
    if found.usd is None:
        reasons["usd"] = NO_PRICE_OF_OWN if chat.is_own_system else NO_PRICE
    elif found.usd.expected is None:
        reasons["usd"] = NO_HISTORY
    if found.minutes is None:
        reasons["minutes"] = A_BATCH if chat.batch else NO_PACE
    elif found.minutes.expected is None:
        reasons["minutes"] = NO_HISTORY
    return reasons


def _total(stages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = {name: sum(stage[name] for stage in stages) for name in ("calls", "calls_at_most", "paid_already")}
    return counts | {name: _span(_sum(stage[name] for stage in stages)) for name in _QUANTITIES}


def _sum(spans: Iterable[Mapping[str, float] | None]) -> CountRange | None:
    """Return the sum of all; None if one is unknown."""
    found = [None if span is None else CountRange(**span) for span in spans]
    known = [span for span in found if span is not None]
    return total([NOTHING, *known]) if len(known) == len(found) else None


def _notes(stages: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for stage in stages:
        name = stage["stage"]
        yield from (f"{name}: {count} calls assume {what}" for what, count in stage["assumed"].items())
        if n_further := stage["calls_at_most"] - stage["calls"]:
            yield f"{name}: up to {n_further} further calls if the replies lead to them; only the high ends hold them"
        yield from (f"{name}: {count} not asked: {reason}" for reason, count in stage["not_asked"].items())
        yield from (f"{name}: {field.replace('_', ' ')}: {reason}" for field, reason in stage["reasons"].items())
        if stage["price"] is not None:
            yield f"{name}: price of {stage['model']} from {stage['price']}"


def _usual_notes(stages: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    if stages:
        if any(stage["assumed"] or "output_tokens" in stage["reasons"] for stage in stages):
            yield "a first run with --limit makes the intervals narrower: what it takes is the sample of a further plan"
        yield "not in it: calls that are tried again, and replies that are asked for again because none could read them"


# ---------------------------------------------------------------- in words


def plan_words(document: Mapping[str, Any]) -> str:
    """Return the plan as an aligned table with a line of totals, and what it rests on."""
    if not document["stages"]:
        return NOTHING_ASKED
    lines = [_HEADS, *(_cells(stage) for stage in document["stages"])]
    lines.append(_cells({"stage": "total", "model": "", **document["total"]}))
    return "\n".join([aligned_text(lines, left=range(2)), *document["notes"]])


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    n = row["calls"]
    return (
        str(row["stage"]),
        str(row["model"]),
        span_words({"low": n, "expected": n, "high": row.get("calls_at_most", n)}, "{:,}"),
        f"{row['paid_already']:,}",
        span_words(row["input_tokens"], "{:,.0f}"),
        span_words(row["output_tokens"], "{:,.0f}"),
        span_words(row["usd"], "${:,.4f}"),
        span_words(row["minutes"], "{:,.1f}"),
    )


def span_words(span: Mapping[str, float | None] | None, shape: str) -> str:
    """Return the middle with its interval, the interval alone if the middle is unknown, or `unknown`."""
    if span is None:
        return "unknown"
    low, expected, high = (None if value is None else shape.format(value) for value in span.values())
    if low == high:
        return str(low)
    return f"[{low}, {high}]" if expected is None else f"{expected} [{low}, {high}]"


# ---------------------------------------------------------------- verbs that ask again for what was rejected


def bounded_plan(
    # rows of `step`, `role`, `model`, `cap` (in words), `lowest` and `highest` (calls)
    steps: Sequence[Mapping[str, Any]],
    calls: Mapping[str, Sequence[StageCalls]],  # calls that each stage makes, for each of `BOUNDS`
    *,
    notes: Sequence[str],  # what the lowest number assumes, what the highest does, then what holds of both
    calling: Calling,
    workers: int,  # processes that a stage may use
) -> dict[str, Any]:
    """
    Return the document of a plan with two numbers of calls.

    Returns:
        `steps`, `lowest` and `highest` (plans as of other verbs), `notes`.
    """
    plans = {bound: plan_document(calls[bound], calling=calling, workers=workers, notes=[]) for bound in BOUNDS}
    return {"steps": list(steps), **plans, "notes": list(notes)}


def bounded_plan_words(document: Mapping[str, Any]) -> str:
    """Return the plan as three tables (steps, lowest, highest) with its notes; if nothing is asked, say so and why."""
    if not document["steps"]:
        return ": ".join([NOTHING_ASKED, *document.get("reasons", [])])
    heads = ("step", "asked", "model", "cap", "at least", "at most")
    keys = ("step", "role", "model", "cap", *BOUNDS)
    rows = [
        tuple(f"{value:,}" if isinstance(value := row[key], int) else str(value) for key in keys)
        for row in document["steps"]
    ]
    parts = [aligned_text([heads, *rows], left=range(4))]
    for bound, told in zip(BOUNDS, document["notes"], strict=False):
        parts += ["", told, plan_words({**document[bound], "notes": []})]
    both = document["notes"][len(BOUNDS) :]
    notes = dict.fromkeys([*document["lowest"]["notes"], *document["highest"]["notes"], *both])
    return "\n".join([*parts, "", *notes])
