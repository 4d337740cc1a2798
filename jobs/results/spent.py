"""Reads what the calls behind each summary took: dollars, tokens and seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from actors.ledger.ledger import Ledger
from actors.ledger.totals import Totals
from actors.storage.errors import without_the_unreachable
from actors.storage.folder import Folder
from jobs.spending.plan import open_ledger
from longform.evidence.scan import as_frame, pl
from longform.results.calls import SPENT, CallsRow, tokens_spent
from longform.settings.experiment import Experiment

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
    if not rows or any(row["reused"] or row["open"] for row in rows):
        return {}
    usd = [None if row["n_unknown_usd"] else row["known_usd"] for row in rows]
    known = pl.DataFrame(
        [{"usd_a_summary": paid, **tokens_spent(row)} for paid, row in zip(usd, rows, strict=True)],
        schema=dict.fromkeys([*SPENT][:3], pl.Float64),
    )
    each = known.select(pl.when(pl.all().is_not_null().all()).then(pl.all().sum() / n_ranked)).row(0, named=True)
    return {f"{name}_ranked": mean for name, mean in each.items()}


# ---------------------------------------------------------------- of all commands


_COUNTS = ("calls", "different", "answered", "failed", "refused", "open")
_DOLLARS = ("known_usd", "n_unknown_usd", "unsettled_usd")
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class Spend(NamedTuple):
    """Calls of a run."""

    sums: dict[str, Any] | None  # None: no model was called, or no ledger is there
    models: Mapping[str, tuple[str, ...]]  # stage -> the models that answered, sorted
    missing: list[str]  # ledgers that cannot be read


def run_spend(record: Mapping[str, Any]) -> Spend:
    """Return what the commands of a run, of which *record* is `run.json`, called and spent so far."""
    jobs = record.get("jobs") or []
    totals: list[Totals] = []
    failures: Counter[str] = Counter()
    models: dict[str, set[str]] = {}
    missing: list[str] = []
    for url in dict.fromkeys(job["ledger"] for job in jobs):
        if (ledger := _opened(url)) is None:
            missing.append(url)
            continue
        names = [job["job"] for job in jobs if job["ledger"] == url]
        try:
            by_stage = ledger.totals_by_stage(names)
            failures.update(ledger.failures(names))
        finally:
            ledger.close()
        totals += by_stage.values()
        for (stage, _), found in by_stage.items():
            models.setdefault(stage or "", set()).update(found.answered_models)
    known = len(missing) < len({job["ledger"] for job in jobs})
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
