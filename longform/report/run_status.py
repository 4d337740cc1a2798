"""The status of a run as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from longform.results.run_status import CommandStatus, RunStatus, SpendStatus, StageStatus
from longform.results.so_far import live_page

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


def status_words(status: RunStatus) -> str:
    """Return the status as text of several lines."""
    return "\n".join(_lines(status))


def status_line(status: RunStatus) -> str:
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


def _lines(status: RunStatus) -> Iterator[str]:
    title = f" ({status['title']})" if status["title"] else ""
    yield f"{status['run']}: a run of longform {status['verb']}{title} on {status['benchmark']}"
    yield from (_command(one) for one in status["commands"])
    if not status["commands"]:
        yield "no command has told of itself: none is at work on this run, or an older version is"
    if status["stages"]:
        yield ""
        yield from _table(status["stages"])
    for stage in status["stages"]:
        if stage["failures"]:
            yield f"{stage['name']}: {stage['failed']:,} rows failed: {_reasons(stage['failures'])}"
    yield ""
    yield from _spend(status)
    if status["report"]:
        yield f"report: {status['report']}"
    yield from _live(status)
    yield f"next: {status['next']}"


def _live(status: RunStatus) -> Iterator[str]:
    if so_far := status["live_report"]:
        shown = f"{so_far['judged']:,} of {so_far['queries']:,} queries, as of {so_far['as_of']}"
        yield f"live report: {live_page(status['run'])} ({shown})"
    if reason := status["live_report_reason"]:
        yield f"{'no newer' if so_far else 'no'} live report: {reason}"


def _command(one: CommandStatus) -> str:
    where = f"process {one['pid']} of {one['host'].split()[0] if one['host'] else 'an unknown machine'}"
    if one["state"] == "running":
        heard = f"last heard of {one['seconds_since_heard']:.0f} s ago"
        return f"running: {one['command']}, {where}, for {_time(one['seconds'])}; {heard}"
    if one["state"] == "killed":
        return f"not running: {one['command']}, {where}, was last heard of {_time(one['seconds_since_heard'])} ago"
    code = one["exit_code"]
    words = f" ({_EXIT_CODES[code]})" if code is not None and code in _EXIT_CODES else ""
    ago = _time(one["seconds_since_heard"])
    return f"ended: {one['command']} {ago} ago with exit code {code}{words}, after {_time(one['seconds'])}"


def _table(stages: Sequence[StageStatus]) -> Iterator[str]:
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
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADS))]
    left = {0, 2}
    for row in rows:
        cells = (
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _rate(stage: StageStatus) -> str:
    rate = stage["a_minute"]
    if rate is None:
        return "none done yet"
    return f"{rate:,.0f} a minute" if rate >= 1 else f"{60 * rate:,.1f} an hour"


def _left(stage: StageStatus) -> str:
    return "unknown" if stage["seconds_left"] is None else _time(stage["seconds_left"])


def _time(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{seconds / _HOUR_S:.1f} h"


def _spend(status: RunStatus) -> Iterator[str]:
    spend = status["spend"]
    if spend is None:
        yield "no model was called" if not status["missing_ledgers"] else "calls: not known"
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


def _tokens(spend: SpendStatus) -> str:
    found = [
        ("input", spend["input_tokens"]),
        ("cached", spend["cached_tokens"]),
        ("output", spend["output_tokens"]),
        ("reasoning", spend["reasoning_tokens"]),
    ]
    told = ", ".join(f"{count:,} {name}" for name, count in found if count is not None)
    return f"tokens: {told}" if told else "tokens: not stated"


def _dollars(spend: SpendStatus) -> str:
    known = f"${spend['known_usd']:,.4f}"
    unknown = f" and {spend['n_unknown_usd']:,} attempts of unknown price" if spend["n_unknown_usd"] else ""
    at_stake = f" (at most ${spend['unsettled_usd']:,.4f} more under way)" if spend["unsettled_usd"] else ""
    return f"{known}{unknown}{at_stake}"


def _reasons(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {n:,}" for reason, n in failures.items())
