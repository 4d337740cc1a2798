"""Calls and costs of a run, as its ledgers, its plan and its summaries tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from actors.chat.price_list import PriceList
from actors.ledger.ledger import Ledger
from actors.ledger.totals import Totals
from actors.storage.errors import without_the_unreachable
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.runs.record import RunRecord
from jobs.spending.plan import PLAN, open_ledger
from jobs.stages.stage import Stage
from longform.chat.prices import Price
from longform.errors import UsageError
from longform.evidence.scan import as_frame, pl
from longform.keys import in_groups
from longform.results.calls import SPENT, CallsRow, tokens_spent
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.spending import saved_by_caching_usd


@contextmanager
def noted_calls(record: RunRecord, calling: Calling, stages: Sequence[Stage[Any]]) -> Iterator[None]:
    """Note in the run's record which job calls models, how long its stages take, and which replies they had before."""
    record.add_job(calling.context(stages[0].name))
    calling.start()
    before = {stage.name: _called(record, calling, stage.name) for stage in stages}
    try:
        yield
    finally:  # also where the budget ends it
        for name, had in before.items():
            has = _called(record, calling, name)
            took = {one: has[one] - had[one] for one in ("seconds", "reused", "calls")}
            record.add_called(calling.job, {"stage": name, **took})


def _called(record: RunRecord, calling: Calling, stage: str) -> dict[str, float]:
    """Return what the command has done for a stage so far."""
    reused = calling.n_reused().get(stage, 0)
    return {"seconds": record.seconds_of(stage), "reused": reused, "calls": _n_calls(calling, stage)}


def _n_calls(calling: Calling, stage: str) -> int:
    """Return how many calls the job has made for the stage so far."""
    ledger = open_ledger(calling.context(stage).ledger)
    if ledger is None:
        return 0
    with closing(ledger):
        return ledger.totals(job=calling.job, stage=stage).calls


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
    for url, own, ledger in _ledgers(jobs, open_ledger):
        if ledger is None:
            missing.append(url)
        else:
            rows += _rows(ledger, url, own, plan, by_name)
    return rows, missing


def _ledgers(
    jobs: Sequence[CallsRow], opened: Callable[[str], Ledger | None]
) -> Iterator[tuple[str, Sequence[CallsRow], Ledger | None]]:
    """Yield each ledger of the *jobs* with its own, open until the next one; None: it cannot be read."""
    for url, own in in_groups((job["ledger"], job) for job in jobs).items():
        ledger = opened(url)
        try:
            yield url, own, ledger
        finally:
            if ledger is not None:
                ledger.close()


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
            "reranker": getattr(asked, "reranker", None),
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


_COLUMNS = [
    "work_id", "summary_id", "step", "summarizer", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens",
    "cost_usd", "seconds",
]  # fmt: skip


def spent_on(
    run: Folder,
    work_ids: Sequence[str],
    summaries: pl.DataFrame,
    experiment: Experiment,
    calls: Sequence[CallsRow] | None,
) -> pl.DataFrame:
    """
    Return `summary_id` and the columns SPENT of each summary, null if a part of it is not known.

    A twin costs what its original does; *calls*, those of the run's commands, tell what rerankers cost.
    """
    offline = [name for name, settings in experiment.summarizers.items() if settings.fitted_models]
    rows = as_frame(run.read("summaries", work_ids=work_ids, columns=_COLUMNS)).with_columns(
        usd_a_summary="cost_usd",
        tokens_in=pl.col("input_tokens") + pl.col("cached_tokens").fill_null(0),
        tokens_out=pl.col("output_tokens") + pl.col("reasoning_tokens").fill_null(0),
    )
    free = pl.col("summarizer").is_in(offline)
    nothing = {name: None if name == "seconds" else 0.0 for name in SPENT}  # no call, and so no time of calls
    each = [pl.when(free).then(nothing[name]).otherwise(name).alias(name) for name in SPENT]
    costs = pl.col(*SPENT)
    of_work = rows.with_columns(each).group_by("work_id").agg(pl.when(costs.is_not_null().all()).then(costs.sum()))
    written = rows.filter(pl.col("step").is_null()).select("work_id", "summary_id").unique("summary_id", keep="last")
    reranked = summaries.select(pl.col("summary_id").cast(pl.String), pl.col("reranker").cast(pl.String))
    asked = [name for name, reranker in experiment.used_rerankers.items() if reranker.asked_model is not None]
    rankings = pl.DataFrame(
        [{"reranker": name, **_reranking(name, summaries, calls or ())} for name in asked],
        schema={"reranker": pl.String, **{f"{name}_ranked": pl.Float64 for name in SPENT}},
    )
    found = written.join(of_work, on="work_id").join(reranked, on="summary_id")
    is_asked = pl.col("reranker").is_in(asked)
    return found.join(rankings, on="reranker", how="left").select(
        "summary_id",
        *(
            pl.when(is_asked).then(pl.col(name) + pl.col(f"{name}_ranked")).otherwise(name).alias(name)
            for name in SPENT
        ),
    )


def _reranking(name: str, summaries: pl.DataFrame, calls: Sequence[CallsRow]) -> dict[str, float | None]:
    """Return the mean cost of a ranking as far as it is known; not at all if earlier commands paid for a part of it."""
    n_ranked = len(summaries.filter(pl.col("reranker") == name).select("query_id", "retriever").unique())
    rows = [row for row in calls if row["reranker"] == name]
    if not rows or not n_ranked or any(row["reused"] or row["open"] for row in rows):
        return {}
    paid = ({"usd_a_summary": None if row["n_unknown_usd"] else row["known_usd"], **tokens_spent(row)} for row in rows)
    stated: dict[str, list[Any]] = in_groups(one for row in paid for one in row.items())
    return {f"{name}_ranked": None if None in own else sum(own) / n_ranked for name, own in stated.items()}


# ---------------------------------------------------------------- of all commands


_COUNTS = ("calls", "different", "answered", "failed", "refused", "open")
_DOLLARS = ("known_usd", "n_unknown_usd", "unsettled_usd")
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class Spend(NamedTuple):
    """Calls of a run."""

    sums: dict[str, Any] | None  # None: no ledger is there
    models: Mapping[str, tuple[str, ...]]  # stage -> the models that answered, sorted
    missing: list[str]  # ledgers that cannot be read


def run_spend(record: Mapping[str, Any]) -> Spend:
    """Return what the commands of a run, of which *record* is `run.json`, called and spent so far."""
    jobs = record.get("jobs") or []
    totals: list[Totals] = []
    failures: Counter[str] = Counter()
    models: dict[str, set[str]] = {}
    missing: list[str] = []
    for url, own, ledger in _ledgers(jobs, _opened):
        if ledger is None:
            missing.append(url)
            continue
        names = [job["job"] for job in own]
        by_stage = ledger.totals_by_stage(names)
        failures.update(ledger.failures(names))
        totals += by_stage.values()
        for (stage, _), found in by_stage.items():
            models.setdefault(stage or "", set()).update(found.answered_models)
    known = not jobs or len(missing) < len({job["ledger"] for job in jobs})
    reused = sum(stage["reused"] for job in jobs for stage in job["stages"])
    sums = _summed(totals, dict(failures.most_common()), reused) if known else None
    return Spend(sums, {stage: tuple(sorted(found)) for stage, found in models.items()}, missing)


def _opened(url: str) -> Ledger | None:
    with without_the_unreachable():
        return open_ledger(url)
    return None


def _summed(totals: Sequence[Totals], failures: dict[str, int], reused: int) -> dict[str, Any]:
    counts = {name: sum(getattr(one, name) for one in totals) for name in _COUNTS}
    stated = {name: [n for one in totals if (n := getattr(one, name)) is not None] for name in _TOKENS}
    tokens: dict[str, Any] = {name: sum(found) if found else None for name, found in stated.items()}
    dollars = {name: sum(getattr(one, name) for one in totals) for name in _DOLLARS}
    named = {"calls": counts.pop("different"), "attempts": counts.pop("calls")}
    return {**named, **counts, "reused": reused, **tokens, **dollars, "failures": failures}
