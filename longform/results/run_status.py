"""The status of a run: which types it has, how fast a stage is, and what comes next."""

from __future__ import annotations

from typing import Literal, TypedDict

from longform.results.so_far import SoFar

State = Literal["running", "killed", "ended", "planned", "unknown"]
"""State of a run's last command: at work; not heard of any more; ended; planned only; nothing is recorded."""

_FOUND_LATER = 3  # exit code: some rows failed
_BUDGET = 4


class CommandStatus(TypedDict):
    """A command that works on the run, or worked on it."""

    command: str
    verb: str
    state: State
    host: str
    pid: int
    seconds: float  # that it has run, or ran
    seconds_since_heard: float
    exit_code: int | None  # null: it has not ended, or was killed


class StageStatus(TypedDict):
    """A stage, in work ids; failures are counted in rows."""

    name: str
    table: str
    unit: str | None  # null: not recorded
    wanted: int
    done: int
    failed: int
    failures: dict[str, int]  # by reason
    under_way: bool
    a_minute: float | None  # null: not under way, or nothing was done yet
    seconds_left: float | None  # null: as above


class SpendStatus(TypedDict):
    """Calls of all commands of the run; tokens are null if no call states them."""

    calls: int  # a call that is tried again is the same one
    attempts: int  # the sum of answered, failed and open ones
    answered: int
    failed: int
    refused: int  # 429
    open: int
    reused: int  # replies that an earlier command had paid
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    known_usd: float
    n_unknown_usd: int
    unsettled_usd: float
    failures: dict[str, int]  # of attempts, by reason


class RunStatus(TypedDict):
    """A run as another process sees it."""

    run: str
    verb: str
    title: str | None
    benchmark: str
    state: State
    commands: list[CommandStatus]  # the one heard of last first
    stages: list[StageStatus]
    spend: SpendStatus | None  # null: no model was called
    missing_ledgers: list[str]
    report: str | None  # null: there is none yet
    live_report: SoFar | None  # null: there is none, or the run's own report has replaced it
    live_report_reason: str | None  # why there is none, or no newer one; null: nobody tried, or all went well
    next: str


def a_minute(done: int, seconds: float) -> float | None:
    """Return work ids a minute; None if nothing is done yet."""
    return 60 * done / seconds if done and seconds > 0 else None


def seconds_left(done: int, todo: int, seconds: float) -> float | None:
    """Return the seconds that the rest takes at the same rate; None if nothing is done yet."""
    return seconds / done * (todo - done) if done else None


def next_step(state: State, exit_code: int | None, verb: str, run: str, *, complete: bool) -> str:
    """
    Say what to do next.

    Args:
        state: Of the run's last command.
        exit_code: Of that command; None: it has not ended, was killed, or nothing is recorded.
        verb: Of the run.
        run: Its folder.
        complete: Whether all stages have what they want, and a report stands there.
    """
    same = f"the same command, longform {verb} ... with --out {run}, goes on where it stopped; nothing is done twice"
    if state == "running":
        return f"nothing: the command is at work. longform status {run} --watch follows it"
    if state == "planned":
        return f"the run has only been planned: longform {verb} without --plan does it"
    if state == "killed":
        return f"the command is not heard of any more, so it was killed: {same}"
    if exit_code:
        return _after(exit_code, same)
    if complete:
        return "nothing: the run is done"
    return f"not everything is done; if --until ended the command early, leave it out: {same}"


def _after(exit_code: int, same: str) -> str:
    if exit_code == _BUDGET:
        return f"the budget was reached: {same}, with a larger --max-cost or --max-calls"
    if exit_code == _FOUND_LATER:
        return "done, but more failed or is unjudged than unjudged_threshold allows: the same command tries it again"
    return f"the command ended with exit code {exit_code}: see its last line, then {same}"
