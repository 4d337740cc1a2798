"""The status of a run: what comes next, and all of it as lines for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from longform.chat.failures import lasting
from longform.tables.files import aligned_text

Status = Mapping[str, Any]
"""
A run as another process sees it, as `longform status RUN --json` prints it.

    commands       those that work on the run or did, the one heard of last first; `exit_code` is null if it is at work
                   or was killed
    stages         in work ids, but `failed` and `failures` in rows; `a_minute` and `seconds_left` are null if the stage
                   is not under way or nothing was done yet
    spend          calls of all commands; a call that is tried again is one of `calls` and several of `attempts`; null:
                   no chat model was called
    live_report    how many queries its live report shows, of how many, which judges wait, and if the run goes on
"""

State = Literal["running", "killed", "ended", "planned", "unknown"]
"""State of a run's last command: at work; not heard of any more; ended; planned only; nothing is recorded."""

_WITHOUT_TEXT = re.compile("empty_reply|only_reasoning|bad_encoding|bad_content.*")
_FOUND_LATER = 3  # exit code: some rows failed
_BUDGET = 4

LIVE = "report/live"
"""The folder of its pages, in the run's."""

REFRESH_S = 30
"""Seconds after which a first page loads itself anew, as long as the run goes on."""


def next_step(
    state: State, exit_code: int | None, verb: str, run: str, failures: Mapping[str, int], *, open_calls: int,
    complete: bool,
) -> str:  # fmt: skip
    """Say what to do next; *exit_code* is None if none is recorded; a *complete* run has a report and all its rows."""
    again = f"; up to {open_calls:,} calls that were in flight may be asked, and paid, again" if open_calls else ""
    same = f"the same command, longform {verb} ... with --out {run}, goes on; nothing that is kept is done twice{again}"
    if state == "running":
        return f"nothing: the command is at work. longform status {run} --watch follows it"
    if state == "planned":
        return f"the run has only been planned: longform {verb} without --plan does it"
    if state == "killed":
        return f"the command is not heard of any more: it was killed, or could write no more there; {same}"
    if exit_code:
        return _after(exit_code, same, failures)
    if complete:
        return "; ".join(filter(None, ["nothing: the run is done", without_text(failures)]))
    return f"not everything is done; if --until ended the command early, leave it out: {same}"


def _after(exit_code: int, same: str, failures: Mapping[str, int]) -> str:
    if exit_code == _BUDGET:
        return f"the budget was reached: {same}, with a larger --max-cost or --max-calls"
    if exit_code == _FOUND_LATER:
        again = "the same command tries it again" if failures != (lasts := lasting(failures)) or not lasts else ""
        lasts = {reason: n for reason, n in lasts.items() if not _WITHOUT_TEXT.fullmatch(reason)}
        cure = f"only another configuration cures {_reasons(lasts)}, which no command tries again" if lasts else ""
        above = "done, but more failed or is unjudged than unjudged_threshold allows"
        return f"{above}: {'; '.join(filter(None, [again, cure, without_text(failures)]))}"
    return f"the command ended with exit code {exit_code}: see its last line, then {same}"


def without_text(failures: Mapping[str, int]) -> str:
    """Say what cures paid replies in which no text can be read; empty if *failures* have none."""
    if not (found := {reason: n for reason, n in failures.items() if _WITHOUT_TEXT.fullmatch(reason)}):
        return ""
    return (
        f"replies in which no text can be read ({_reasons(found)}) are paid, and no command asks again here; one with "
        "another --out does, and a larger max_tokens, another server, or a --ledger of its own"
    )


# ---------------------------------------------------------------- the live report


def banner(so_far: Status, *, anew: bool = False) -> str:
    """Return the line at the head of a page; *anew* if the page loads itself anew."""
    judged = f"{so_far['judged']:,} of {so_far['queries']:,} queries judged, as of {so_far['as_of']}"
    later = f" Not shown yet: judge {', '.join(so_far['waiting'])}." if so_far["waiting"] else ""
    if so_far["goes_on"]:
        again = f"This page loads itself every {REFRESH_S} seconds." if anew else "Load this page again to see more."
        return f"This run goes on: {judged}; figures move.{later} {again}"
    return f"This run has stopped before its end: {judged}.{later} The same command goes on, and figures will move."


def live_page(run: str) -> str:
    """Return the address of its first page, of the run at the address *run*."""
    return f"{run.rstrip('/')}/{LIVE}/index.html"


# ---------------------------------------------------------------- words

_HEADS = ("stage", "done", "wanted", "failed", "rate", "time left")
_EXIT_CODES: Mapping[int, str] = {
    0: "done",
    1: "failed",
    2: "wrong usage, configuration or input",
    3: "done, with failures above the threshold",
    4: "budget reached",
    130: "interrupted",
    143: "terminated",
}
_MINUTE_S, _HOUR_S = 60, 3600


def status_words(status: Status) -> str:
    """Return the status as text of several lines."""
    return "\n".join(_lines(status))


def status_line(status: Status) -> str:
    """Return the status as one line, for a log that is followed."""
    stages = status["stages"]
    done = sum(stage["done"] >= stage["wanted"] for stage in stages)
    parts = [f"{done} of {len(stages)} stages done"]
    parts += [
        f"{stage['name']} {stage['done']:,}/{stage['wanted']:,}, {_rate(stage)}, {_left(stage)} left"
        for stage in stages
        if stage["under_way"]
    ]
    if n_failed := sum(stage["failed"] for stage in stages):
        parts.append(f"{n_failed:,} rows failed")
    if spend := status["spend"]:
        parts.append(f"{spend['calls']:,} calls, {_dollars(spend)}, {spend['refused']:,} refused")
    return "; ".join([status["state"], *parts, *_live(status)])


def _lines(status: Status) -> Iterator[str]:
    title = f" ({status['title']})" if status["title"] else ""
    yield f"{status['run']}: a run of longform {status['verb']}{title} on {status['benchmark']}"
    yield from (_command(one) for one in status["commands"])
    if not status["commands"]:
        yield "no command has told of itself: none is at work on this run, or an older version is"
    if status["stages"]:
        yield ""
        yield _table(status["stages"])
    for stage in status["stages"]:
        if stage["failures"]:
            yield f"{stage['name']}: {stage['failed']:,} rows failed: {_reasons(stage['failures'])}"
    yield ""
    yield from _spend(status)
    if status["report"]:
        yield f"report: {status['report']}"
    yield from _live(status)
    yield f"next: {status['next']}"


def _live(status: Status) -> Iterator[str]:
    if so_far := status["live_report"]:
        shown = f"{so_far['judged']:,} of {so_far['queries']:,} queries, as of {so_far['as_of']}"
        yield f"live report: {live_page(status['run'])} ({shown})"
    if reason := status["live_report_reason"]:
        yield f"{'no newer' if so_far else 'no'} live report: {reason}"


def _command(one: Status) -> str:
    where = f"process {one['pid']} of {one['host'].split()[0] if one['host'] else 'an unknown machine'}"
    if one["state"] == "running":
        heard = f"last heard of {one['seconds_since_heard']:.0f} s ago"
        return f"running: {one['command']}, {where}, for {time_words(one['seconds'])}; {heard}"
    if one["state"] == "killed":
        return f"not running: {one['command']}, {where}, was last heard of {time_words(one['seconds_since_heard'])} ago"
    code = one["exit_code"]
    words = f" ({_EXIT_CODES[code]})" if code is not None and code in _EXIT_CODES else ""
    ago = time_words(one["seconds_since_heard"])
    why = f": {one['reason']}" if one["reason"] else ""
    return f"ended: {one['command']} {ago} ago with exit code {code}{words}, after {time_words(one['seconds'])}{why}"


def _table(stages: Sequence[Status]) -> str:
    rows = [
        _HEADS,
        *(
            (
                f"{'> ' if stage['under_way'] else '  '}{stage['name']}",
                f"{stage['done']:,}",
                f"{stage['wanted']:,}{' ' + stage['unit'] if stage['unit'] else ''}",
                f"{stage['failed']:,}",
                _rate(stage) if stage["under_way"] else "",
                _left(stage) if stage["under_way"] else "",
            )
            for stage in stages
        ),
    ]
    return aligned_text(rows, left={0, 2})


def _rate(stage: Status) -> str:
    rate = stage["a_minute"]
    if rate is None:
        return "none done yet"
    return f"{rate:,.0f} a minute" if rate >= 1 else f"{60 * rate:,.1f} an hour"


def _left(stage: Status) -> str:
    return "unknown" if stage["seconds_left"] is None else time_words(stage["seconds_left"])


def time_words(seconds: float) -> str:
    """Return a duration in the largest unit that it fills."""
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{seconds / _HOUR_S:.1f} h"


def _spend(status: Status) -> Iterator[str]:
    spend = status["spend"]
    if spend is None:
        yield "no chat model was called" if not status["missing_ledgers"] else "calls: not known"
    else:
        counts = f"{spend['answered']:,} answered, {spend['failed']:,} failed, {spend['open']:,} open"
        reused = f"; {spend['reused']:,} replies were paid before" if spend["reused"] else ""
        tried = f"{spend['attempts']:,} attempts: " if spend["attempts"] > spend["calls"] else ""
        yield f"calls: {spend['calls']:,} ({tried}{counts}); {_dollars(spend)}; {_tokens(spend)}{reused}"
        yield f"refusals (429): {spend['refused']:,}"
        if spend["failures"]:
            yield f"failed attempts: {_reasons(spend['failures'])}"
    for url in status["missing_ledgers"]:
        yield f"the ledger {url} cannot be read: what it holds is not in these sums"


def _tokens(spend: Status) -> str:
    found = ((name, spend[f"{name}_tokens"]) for name in ("input", "cached", "output", "reasoning"))
    told = ", ".join(f"{count:,} {name}" for name, count in found if count is not None)
    return f"tokens: {told}" if told else "tokens: not stated"


def _dollars(spend: Status) -> str:
    known = f"${spend['known_usd']:,.4f}"
    unknown = f" and {spend['n_unknown_usd']:,} attempts of unknown price" if spend["n_unknown_usd"] else ""
    at_stake = f" (at most ${spend['unsettled_usd']:,.4f} more under way)" if spend["unsettled_usd"] else ""
    return f"{known}{unknown}{at_stake}"


def _reasons(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {n:,}" for reason, n in failures.items())
