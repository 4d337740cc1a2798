"""The calls and costs of all commands of a run, from the ledgers that its record names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from actors.ledger.ledger import Ledger
from actors.ledger.totals import Totals
from actors.storage.errors import without_the_unreachable
from jobs.spending.plan import open_ledger
from longform.results.run_status import SpendStatus
from longform.results.work import JobFacts

_COUNTS = ("calls", "different", "answered", "failed", "refused", "open")
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


class Spend(NamedTuple):
    """
    Calls of a run.

    Attributes:
        sums: None if no model was called, or no ledger is there.
        models: Stage -> the models that answered, sorted.
        missing: Ledgers that cannot be read.
    """

    sums: SpendStatus | None
    models: Mapping[str, tuple[str, ...]]
    missing: list[str]


def run_spend(record: Mapping[str, Any]) -> Spend:
    """Return what the commands of a run, of which *record* is `run.json`, called and spent so far."""
    jobs: Sequence[JobFacts] = record.get("jobs") or []
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


def _summed(totals: Sequence[Totals], failures: dict[str, int], reused: int) -> SpendStatus:
    counts = {name: sum(getattr(one, name) for one in totals) for name in _COUNTS}
    stated = {name: [n for one in totals if (n := getattr(one, name)) is not None] for name in _TOKENS}
    tokens = {name: sum(found) if found else None for name, found in stated.items()}
    return {
        "calls": counts["different"],
        "attempts": counts["calls"],
        "answered": counts["answered"],
        "failed": counts["failed"],
        "refused": counts["refused"],
        "open": counts["open"],
        "reused": reused,
        "input_tokens": tokens["input_tokens"],
        "cached_tokens": tokens["cached_tokens"],
        "output_tokens": tokens["output_tokens"],
        "reasoning_tokens": tokens["reasoning_tokens"],
        "known_usd": sum(one.known_usd for one in totals),
        "n_unknown_usd": sum(one.n_unknown_usd for one in totals),
        "unsettled_usd": sum(one.unsettled_usd for one in totals),
        "failures": failures,
    }
