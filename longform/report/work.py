"""Sections on the cost of a run's work over all its commands, and on the last command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.report.tables import Column, Table
from longform.results.results import CommandWork, LastStage, RunFacts, StageFacts
from longform.tables.cells import Cell, words

TOLD_IN_TABLES = ("format", "stages", "commands", "jobs", "last_call")
"""Parts of a run's record that these tables tell, so that no list of facts repeats them."""

_WORK = (
    "What the work of each stage took, over all commands that did it: a call that found everything done changes "
    "nothing here, and rows that were made again are counted again. Pieces: what a stage makes at once and does not "
    "redo, as one query's ranking or one summary. Seconds: of the commands' stages, not of processors. Workers: "
    "processes on Ray; 0: the command's own process. Calls: of models, failed ones among them. Last call: what the "
    "last command did, {command}."
)
_COMMANDS = "The commands that did the work, with the code that they ran."
_NOT_TOLD = "done by a command that was killed, or that kept no record of it"
_ASKS_NONE = "this stage asks no chat model"
_NO_COMMIT = "the code stood in no git checkout"


def work_tables(run: RunFacts) -> Iterator[Table]:
    """Yield the stages' table and the commands'; nothing for a record that does not tell who did what."""
    if run.get("commands") is None or not run.get("stages"):
        return
    yield _stages(run)
    if run["commands"]:
        yield _commands(run)


def _stages(run: RunFacts) -> Table:
    columns = [Column("stage", numeric=False)]
    columns += [Column(name) for name in ("rows", "pieces", "seconds", "workers", "calls", "commands")]
    columns.append(Column("last call", numeric=False))
    last = {stage["name"]: stage for stage in run["last_call"]["stages"]}
    body = [
        [
            words(stage["name"]),
            _sum(stage["rows"], "{:,}", stage),
            _pieces(stage),
            _sum(stage["seconds"], "{:,.1f}", stage),
            _workers(stage["work"]),
            _calls(run, stage["name"]),
            _who(run, stage["work"]),
            words(_last_words(last.get(stage["name"]))),
        ]
        for stage in run["stages"]
    ]
    return Table(_WORK.format(command=run["last_call"]["command"]), columns, body)


def _pieces(stage: StageFacts) -> Cell:
    pieces, untold = stage["pieces"], stage["pieces_untold"]
    return Cell(f"{pieces:,}", order=float(pieces), detail=f"+ {untold:,} {_NOT_TOLD}" if untold else None)


def _sum(value: float, shape: str, stage: StageFacts) -> Cell:
    """A sum over commands; unknown if no command told of the work, and a least sum if one did not."""
    if stage["pieces_untold"] and not stage["pieces"]:
        return Cell(None, reason=_NOT_TOLD)
    least = "at least" if stage["pieces_untold"] else None
    return Cell(shape.format(value), order=float(value), detail=least)


def _workers(work: Sequence[CommandWork]) -> Cell:
    found = sorted({one["workers"] for one in work if one["workers"] is not None})
    if not found:
        return Cell(None, reason=_NOT_TOLD)
    return Cell(", ".join(map(str, found)), order=float(found[-1]))


def _calls(run: RunFacts, stage: str) -> Cell:
    found = [part.get("calls") for job in run["jobs"] for part in job["stages"] if part["stage"] == stage]
    if not found:
        return Cell(None, reason=_ASKS_NONE)
    known = [calls for calls in found if calls is not None]
    if len(known) < len(found):
        return Cell(None, reason=_NOT_TOLD)
    return Cell(f"{sum(known):,}", order=float(sum(known)))


def _who(run: RunFacts, work: Sequence[CommandWork]) -> Cell:
    names = list(run["commands"])
    numbers = sorted(names.index(one["command"]) + 1 for one in work)
    return Cell(", ".join(map(str, numbers))) if numbers else Cell(None, reason=_NOT_TOLD)


def _last_words(stage: LastStage | None) -> str:
    if stage is None:
        return "not asked for"
    if not stage["pieces"]:
        return f"0 new rows; all {stage['found']:,} pieces were there"
    there = f"; {stage['found']:,} pieces were there" if stage["found"] else ""
    return f"{stage['rows']:,} new rows in {stage['seconds']:,.1f} s{there}"


def _commands(run: RunFacts) -> Table:
    columns = [Column("number")]
    columns += [Column(name, numeric=False) for name in ("command", "git commit", "versions", "ledger")]
    ledgers = {job["job"]: job["ledger"] for job in run["jobs"]}
    body = [
        [
            Cell(str(number), order=float(number)),
            words(name),
            words(maker["git_commit"], reason=_NO_COMMIT),
            words(", ".join(f"{package} {version}" for package, version in maker["versions"].items())),
            words(ledgers.get(name), reason="it called no chat model"),
        ]
        for number, (name, maker) in enumerate(run["commands"].items(), start=1)
    ]
    return Table(_COMMANDS, columns, body)
