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
from longform.evidence.scan import pl
from longform.results.calls import CallsRow
from longform.results.spent import NOTHING, Spent, summed
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
) -> dict[str, Spent]:
    """
    Return the cost of each summary by its id, that of its method's steps and of chat rerankers in it.

    Args:
        run: The folder with the tables.
        work_ids: Of summaries.
        summaries: Those of the run; a twin costs what its original does.
        experiment: Whose summarizers ask models, or none.
        calls: Of the run's commands; what rerankers cost.
    """
    works: dict[str, list[Spent]] = {}
    written: dict[str, str] = {}  # summary id -> work id
    for batch in run.batches("summaries", work_ids=work_ids, columns=_COLUMNS):
        for row in batch.to_pylist():
            works.setdefault(row["work_id"], []).append(_of_row(row, experiment))
            if row["step"] is None:
                written[row["summary_id"]] = row["work_id"]
    reranked_by = dict(summaries.select("summary_id", "reranker").iter_rows())
    of_reranker = {name: [_reranking(name, summaries, calls or ())] for name in _asking(experiment)}
    return {
        summary_id: summed([*works[work_id], *of_reranker.get(reranked_by[summary_id], ())])
        for summary_id, work_id in written.items()
        if summary_id in reranked_by
    }


def _of_row(row: Mapping[str, Any], experiment: Experiment) -> Spent:
    settings = experiment.summarizers.get(row["summarizer"])
    if settings is not None and settings.kind == "offline":
        return NOTHING
    return Spent(
        row["cost_usd"],
        _both(row["input_tokens"], row["cached_tokens"]),
        _both(row["output_tokens"], row["reasoning_tokens"]),
        row["seconds"],
    )


def _both(stated: int | None, besides: int | None) -> float | None:
    return None if stated is None else float(stated + (besides or 0))


def _asking(experiment: Experiment) -> list[str]:
    return [name for name, reranker in experiment.used_rerankers.items() if reranker.asked_model is not None]


def _reranking(name: str, summaries: pl.DataFrame, calls: Sequence[CallsRow]) -> Spent:
    """Return the mean cost of a ranking, without seconds; unknown if earlier commands paid for a part of it."""
    ranked = summaries.filter(pl.col("reranker") == name).select("query_id", "retriever").unique()
    rows = [row for row in calls if row["reranker"] == name]
    if not rows or any(row["reused"] or row["open"] for row in rows):
        return Spent(None, None, None, None)
    total = summed(
        [
            Spent(
                None if row["n_unknown_usd"] else row["known_usd"],
                _both(row["input_tokens"], row["cached_tokens"]),
                _both(row["output_tokens"], row["reasoning_tokens"]),
                None,
            )
            for row in rows
        ]
    )
    return Spent(*(None if value is None else value / len(ranked) for value in total))


# ---------------------------------------------------------------- of all commands


_COUNTS = ("calls", "different", "answered", "failed", "refused", "open")
_DOLLARS = ("known_usd", "n_unknown_usd", "unsettled_usd")
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class Spend(NamedTuple):
    """
    Calls of a run.

    Attributes:
        sums: None if no model was called, or no ledger is there.
        models: Stage -> the models that answered, sorted.
        missing: Ledgers that cannot be read.
    """

    sums: dict[str, Any] | None
    models: Mapping[str, tuple[str, ...]]
    missing: list[str]


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
