"""The page on how a run ran: its stages, the actors that performed them, and when each was at work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.keys import in_groups
from longform.report.parts import Section
from longform.report.result_tables import shown_of
from longform.results.results import Results
from longform.tables.table import Axes, Column, Table, Value

ANCHOR = "ran"
_Work = Mapping[str, Any]  # of a stage in a command, as the run's record has it
_TOLD = "The last command that did work. Operators of a stream work at once, each on what the one before has finished."
_COLUMNS = (
    Column("stage"),
    Column("operator", told="the stages that its actors perform"),
    Column("actors", "count", told="processes that did some of it"),
    Column("pieces", "count", told="what it makes at once, as one ranking or one summary"),
    Column("rows", "count"),
    Column("begins", "seconds", told="a stage's first task", digits=1),
    Column("ends", "seconds", told="its last", digits=1),
    Column("at_work", "seconds", "at work", "while some task of it was under way", digits=1),
    Column("a_second", "number", "rows a second", "while it was at work", digits=1, unknown="too short to be told"),
    Column("waited", "seconds", told="between its first task and its last, without a task under way", digits=1),
    Column("waited_for", title="waited for", told="the operator before it, or other stages of its own", none="nothing"),
)
_SHORT_S = 0.01
_WAITED = 0.05  # of the time between a stage's first task and its last, from which on it is told


def flow_tables(results: Results) -> list[Table]:
    """Return the table of the last command that did work; none if the run's record does not say when."""
    run: Mapping[str, Any] = results.get("run") or {}
    work = ((stage["name"], one) for stage in run.get("stages") or () for one in stage["work"])
    if not (timed := [(name, one) for name, one in work if one.get("began_at") is not None]):
        return []
    last = max(timed, key=lambda one: float(one[1]["ended_at"]))[1]["command"]
    own = [(name, one) for name, one in timed if one["command"] == last]
    first = min(float(one["began_at"]) for _, one in own)
    by_operator = in_groups((one["operator"], one) for _, one in own)
    rows = [_row(name, one, first, by_operator) for name, one in own]
    told = f"{_TOLD} Longest at work: {max(own, key=lambda one: float(one[1]['seconds']))[0]}."
    return [Table("flow", _COLUMNS, rows, told=told, key=["stage"], plot=Axes("change", "begins", "stage", to="ends"))]


def _row(stage: str, work: _Work, first: float, by_operator: Mapping[str, Sequence[_Work]]) -> dict[str, Value]:
    begins, ends, at_work = work["began_at"] - first, work["ended_at"] - first, float(work["seconds"])
    waited = max(0.0, ends - begins - at_work)
    return {
        "stage": stage,
        **{name: work[name] for name in ("operator", "actors", "pieces", "rows")},
        "begins": begins,
        "ends": ends,
        "at_work": at_work,
        "a_second": work["rows"] / at_work if at_work > _SHORT_S else None,
        "waited": waited,
        "waited_for": _cause(work, by_operator) if waited > _WAITED * (ends - begins) else None,
    }


def _cause(work: _Work, by_operator: Mapping[str, Sequence[_Work]]) -> str | None:
    """Return what a stage waits for: its turn if the stages of its operator have no time to spare between them."""
    mates, before = by_operator[work["operator"]], list(by_operator)[: list(by_operator).index(work["operator"])]
    span = max(one["ended_at"] for one in mates) - min(one["began_at"] for one in mates)
    if sum(one["seconds"] for one in mates) >= (1 - _WAITED) * span:
        return "its turn"
    still = before and max(one["ended_at"] for one in by_operator[before[-1]]) > work["began_at"]
    return before[-1] if still else None


def flow_sections(results: Results) -> Iterator[Section]:
    """Yield the section with the table, if there is one."""
    for table in flow_tables(results):
        yield Section(ANCHOR, "How it ran", [], shown_of(results, table))
