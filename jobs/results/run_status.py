"""Read the status of a run: its record, heartbeats, tables and ledgers. Nothing is written."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from actors.storage.benchmark import MANIFEST
from actors.storage.folder import Folder
from jobs.results.calls import run_spend
from jobs.runs.heartbeat import Heard, heartbeats, lives
from jobs.runs.record import RECORD_FILE, stored_record
from longform.errors import UsageError
from longform.judges.matrix import SUMMARY_FAILED
from longform.results.run_status import LIVE, State, next_step

_REPORT = "report/index.html"
SO_FAR = "so_far.json"
"""Beside the pages of a live report: how much of the run they show."""
_SHOWN = 3
_LEDGER_FILES = ("calls.sqlite", "ledger.json")
# Table -> the column that names who made a row, and the steps that do; a stage is named by both.
_MADE_BY = {
    "summaries": ("summarizer", "summarize"),
    "verdicts": ("judge", "judge", "check"),
    "rankings": ("reranker", "rerank"),
}


def run_status(url: str) -> dict[str, Any]:
    """
    Return the status of the run at *url*.

    Raises:
        UsageError: No run stands there; the message says what does.
    """
    run = Folder(url)
    record = stored_record(run)
    if not record:
        raise UsageError(f"no run at {url!r}: expected a folder with {RECORD_FILE}, found {_found(run)}")
    heard, now = heartbeats(run), time.time()
    current = next((one for one in heard if lives(one, now=now)), heard[0] if heard else None)
    state = _state(record, current, now)
    stages = _stages(run, record, current if state == "running" else None, heard[:1], now)
    failures = sum((Counter(stage["failures"]) for stage in stages), Counter[str]())
    spend = run_spend(record)
    report = f"{url.rstrip('/')}/{_REPORT}" if run.has(_REPORT) else None
    complete = report is not None and all(stage["done"] >= stage["wanted"] for stage in stages)
    verb = current["verb"] if current is not None else record["verb"]  # judge makes a run of evaluate
    code = current["ended"]["exit_code"] if current is not None and current["ended"] else None
    return {
        "run": url,
        "verb": verb,
        "title": (record.get("config") or {}).get("name"),
        "benchmark": record["benchmark"]["url"],
        "state": state,
        "commands": [_command(record, one, now) for one in heard],
        "stages": stages,
        "spend": spend.sums if record.get("jobs") else None,
        "missing_ledgers": spend.missing,
        "report": report,
        "live_report": stored_so_far(run),
        "live_report_reason": None,
        "next": next_step(
            state, code, verb, url, failures, open_calls=(spend.sums or {}).get("open", 0), complete=complete
        ),
    }


def _found(run: Folder) -> str:
    """Say what stands in a folder that is no run."""
    if not run.is_folder():
        return "a file; name a run's folder" if run.exists() else "no such folder; `longform evaluate` makes a run"
    if run.has(MANIFEST):
        return "a benchmark; name a run that was made on it"
    if any(run.has(name) for name in _LEDGER_FILES):
        return "a ledger; `longform ledger` tells what it holds"
    if run.commits("pieces") or run.child("synthesis").commits("haystacks") or run.child("synthesis").commits("pieces"):
        return "a benchmark that is not finished; the same `longform synthesize` goes on"
    folders = run.folders()
    if runs := [run.child(name).url for name in folders if run.child(name).has(RECORD_FILE)]:
        return f"a folder of runs; name one of them: {_listed(runs)}"
    names = [*run.names(), *(f"{name}/" for name in folders)]
    return _listed(names) if names else "an empty folder; `longform evaluate` makes a run"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _state(record: Mapping[str, Any], heard: Heard | None, now: float) -> State:
    if heard is not None:
        return "running" if lives(heard, now=now) else "ended" if heard["ended"] else "killed"
    return "planned" if record.get("config") is None else "unknown"


def _command(record: Mapping[str, Any], heard: Heard, now: float) -> dict[str, Any]:
    ended, state = heard["ended"], _state(record, heard, now)
    host, pid, _ = heard["session"]
    last = ended["at"] if ended else heard["written_at"]
    return {
        "command": heard["command"],
        "verb": heard["verb"],
        "state": state,
        "host": str(host),
        "pid": int(pid),
        "seconds": (now if state == "running" else last) - heard["began_at"],
        "seconds_since_heard": max(0.0, now - last),
        "exit_code": ended["exit_code"] if ended else None,
        "reason": ended.get("reason") if ended else None,  # an older version wrote none
    }


# ---------------------------------------------------------------- stages


def _stages(
    run: Folder, record: Mapping[str, Any], heard: Heard | None, last: Sequence[Heard], now: float
) -> list[dict[str, Any]]:
    """Return the stages that the record or a command knows, behind those that the record alone knows."""
    recorded: dict[str, Any] = {
        stage["name"]: {**stage, "unit": None, "done": stage["pieces"] + stage["pieces_untold"]}
        for stage in record.get("stages") or []
    }
    told = {stage["name"]: stage for stage in (last[0]["stages"] if last else [])}
    failures, under_way = _failures(run), heard["now"] if heard else {}
    return [
        _stage({"done": 0, **recorded.get(name, {}), **told.get(name, {})}, failures, under_way, now)
        for name in dict.fromkeys([*(one for one in recorded if one not in told), *told])
    ]


def _stage(
    known: Mapping[str, Any], failures: Mapping[str, Counter[str]], under_way: Heard, now: float
) -> dict[str, Any]:
    failed = failures.get(known["name"], Counter())
    rate: dict[str, Any] = {"under_way": False, "a_minute": None, "seconds_left": None}
    at = under_way.get(known["name"])
    if at is not None and known["done"] < known["wanted"]:
        rate["under_way"] = True
        if done := at["done"]:
            seconds = now - at["began_at"]
            rate["a_minute"] = 60 * done / seconds if seconds > 0 else None
            rate["seconds_left"] = seconds / done * (at["todo"] - done)
    return {
        **{name: known[name] for name in ("name", "table", "unit", "wanted")},
        "done": min(known["done"], known["wanted"]),
        "failed": failed.total(),
        "failures": dict(failed.most_common()),
        **rate,
    }


def _failures(run: Folder) -> dict[str, Counter[str]]:
    """Return stage -> how many of its rows failed for each reason; numbers behind a colon are no other one."""
    found: dict[str, Counter[str]] = {}
    for table, (column, *steps) in _MADE_BY.items():
        for batch in run.batches(table, columns=["work_id", column, "failure"]):
            for row in batch.filter(batch["failure"].is_valid()).to_pylist():
                reason = row["failure"].partition(":")[0]
                if table == "verdicts" and reason == SUMMARY_FAILED:
                    continue  # a failure of the system, which stands with its summaries
                for step in steps:
                    found.setdefault(f"{step} {row[column]}", Counter())[reason] += 1
    return found


def stored_so_far(run: Folder) -> dict[str, Any] | None:
    """Return how much of a run its live report shows; None if there is none."""
    if not run.has(f"{LIVE}/{SO_FAR}"):
        return None
    try:
        found: dict[str, Any] = run.read_json(f"{LIVE}/{SO_FAR}")
    except FileNotFoundError:  # removed meanwhile
        return None
    return found
