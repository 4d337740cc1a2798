"""
The results of a run, and their form in `results.json`: `{"schema": 2, "run": {...}, "tables": {name: table}}`.

`run` has what was run and how; every number stands in a table. The answer of a verb about runs or labels is sentences
and such tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

from pydantic import JsonValue

from longform.judges.card_columns import Adversarial
from longform.metrics.measure import Description
from longform.results.aggregate import Aggregate
from longform.tables.packed import unpacked
from longform.tables.table import Table

Json = Mapping[str, Any]


class JudgeRow(TypedDict):
    judge: str
    scale: str | None  # null: it has one scale alone
    card: str | None  # its line; null: it has none
    card_parts: NotRequired[list[str]]  # the same; missing: older results, and no card
    worth: NotRequired[str | None]  # a phrase with a verb; null: it has no card; missing: older results
    card_brief: NotRequired[str | None]  # figures in place of `worth`, in older results alone
    card_reason: str | None  # why it has none, if that needs a reason
    adversarial: NotRequired[Adversarial]  # its card's section on perturbed summaries; missing: the card has none
    in_sample: NotRequired[str | None]


class Results(TypedDict, total=False):
    """
    The parts of a report, `tables` first.

    An empty or missing part leaves its section of a report out; results of older versions lack some.
    """

    title: str
    so_far: dict[str, Any]  # how much of a run that goes on this is; absent: the run was done
    pooled_datasets: list[str]  # taken as one in all tables and figures; absent: each stands apart
    aggregate: Aggregate  # of the table of cells
    benchmark: dict[str, JsonValue]
    size: dict[str, Any]  # as `jobs.results.write.counted` counts it; older results lack some of it
    haystack_topics: dict[str, str | None]  # haystack id -> topic; null: not stated
    clusters: Sequence[Json] | Json  # taken as independent in intervals and tests, a row a data set; older: one row
    several_models: list[dict[str, Any]]  # summarizers whose replies came from several models
    judges: list[JudgeRow]
    rankings_told: list[str]  # why measures of rankings differ from published ones
    tables: dict[str, dict[str, Any]]  # name -> `longform.tables.table.Table.as_json`
    read: list[str]  # how texts were read as units and citations, in sentences
    unscored: list[str]
    elsewhere: list[dict[str, Any]]  # a row for each system of shipped texts
    missing_ledgers: list[str]
    audit: dict[str, Any]  # this and the next as their annex wrote them beside the benchmark
    synthesis: dict[str, Any]
    benchmark_tables: dict[str, Any]  # `title`, `told` and `tables`, likewise; absent: the benchmark keeps none
    run: dict[str, Any]  # `run.json`, as `jobs.runs.record` describes it
    drilldown: Mapping[str, Any]


SCHEMA = 2
_ABOUT = frozenset(Results.__annotations__) - {"run", "tables"}


def document(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `results.json`, whose large tables are packed there."""
    about = {name: value for name, value in results.items() if name in _ABOUT}
    return {"schema": SCHEMA, "run": {**results.get("run", {}), **about}, "tables": results.get("tables") or {}}


def of_document(content: Mapping[str, Any]) -> Results:
    """Return the results that a file holds; those of schema 1 need their tables first."""
    if content.get("schema") != SCHEMA:
        return cast("Results", {**content})
    about = {name: value for name, value in content["run"].items() if name in _ABOUT}
    run = {name: value for name, value in content["run"].items() if name not in _ABOUT - {"benchmark"}}
    return cast("Results", {**about, "run": run, "tables": unpacked(content["tables"])})


class VerbAnswer(NamedTuple):
    """Sentences and tables, from which pages, a terminal's lines and a JSON document are made."""

    title: str
    told: Sequence[str]  # paragraphs above the tables, under `head`
    tables: Sequence[Table]
    measures: Sequence[Description] = ()  # those that the tables name
    head: str = "What to conclude"
    beside: Mapping[str, Any] = {}  # keys that stand beside the document's tables: sentences and facts
    pages_only: Sequence[str] = ()  # names of tables that a terminal leaves out

    @property
    def document(self) -> dict[str, Any]:
        """The answer as JSON values; `tables` has the form that it has in `results.json`."""
        return {**self.beside, "tables": {table.name: table.as_json() for table in self.tables}}

    @property
    def shown_tables(self) -> list[Table]:
        """The tables as they are shown: a half of systems' names that is the same for all of a table is left out."""
        return [_without_constant_half(table) for table in self.tables]


_SYSTEMS = ("system", "first_system", "second_system")


def _without_constant_half(table: Table) -> Table:
    names = {str(row[name]) for row in table.rows for name in _SYSTEMS if row.get(name)}
    halves = [name.partition(", ")[::2] for name in names]
    left_out = next((side for side in (0, 1) if len({half[side] for half in halves}) == 1), None)
    if len(names) < 2 or left_out is None or not all(map(all, halves)):
        return table
    short = {name: half[1 - left_out] for name, half in zip(names, halves, strict=True)}
    rows = [{**row, **{name: short[str(row[name])] for name in _SYSTEMS if row.get(name)}} for row in table.rows]
    told = f"The names of systems leave out {halves[0][left_out]}, which all have."
    return table._replace(rows=rows, told=f"{table.told} {told}".strip())
