"""The sections that no study makes: how the numbers were made, by which work, and what a benchmark says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from longform.errors import LongformError
from longform.report.parts import Section, haystack_name
from longform.report.result_tables import shown_of
from longform.report.tables import ShownTable
from longform.results.results import Results
from longform.tables.table import Column, Table, Value

Facts = Mapping[str, Any]
_UNREADABLE = "unknown: left out of every mean, and counted as unjudged"
AVERAGED = {
    "pooled": "pooled: the mean of all insights of all summaries together",
    "per_summary": "per summary: the mean of the summaries' own means",
}
_UNSET = "not set, or not known"
_WORDS = {
    "url": "address",
    "dataset_hash": "hash of its content",
    "n_haystacks": "haystacks",
    "n_documents": "documents",
    "n_queries": "queries",
    "n_targets": "insights and other targets",
    "sources": "made from",
    "limit": "queries taken",
    "aggregate": "means",
    "query_text": "text of searches",
    "sensitivity": "position sensitivity",
    "fidelity": "rules",
    "taken": "taken here",
    "release": "of the released code",
    "paper": "of the paper",
}
"""Field -> words for it."""


_IN_TABLES = ("format", "stages", "commands", "jobs", "last_call")
"""Parts of a run's record that the tables of its work tell."""


def provenance_section(results: Results) -> Section:
    """Return the section with the sources of the numbers, and the configuration."""
    record = results.get("run") or {}
    run: dict[str, object] = dict(record)
    work = list(_work(record))
    run.pop("benchmark", None)  # told already
    if run.get("limit", 0) is None:
        run["limit"] = "all queries"
    told = ("config", *_IN_TABLES) if work else ("config",)
    facts = [
        ("unreadable or missing judgements", _UNREADABLE),
        ("means", _averaging(results)),
        *(flatten(results.get("benchmark") or {}, "benchmark")),
        *(flatten({name: part for name, part in run.items() if name not in told}, "run")),
    ]
    rows = [{"what": name, "value": value} for name, value in facts]
    table = Table("made", [Column("what"), Column("value", unknown=_UNSET)], rows, told="What the numbers rest on.")
    config = record.get("config")
    listing = None if config is None else json.dumps(config, indent=2, ensure_ascii=False)
    return Section("made", "How the numbers were made", [], _shown(results, [table, *work]), listing)


def _shown(results: Results, tables: Iterable[Table]) -> list[ShownTable]:
    return [part for table in tables for part in shown_of(results, table)]


def _averaging(results: Results) -> str:
    how = results["aggregate"]
    if how not in AVERAGED:
        raise LongformError(f"results: field 'aggregate': expected one of {sorted(AVERAGED)}, found {how!r}")
    return AVERAGED[how]


def flatten(value: object, name: str) -> Iterator[tuple[str, str | None]]:
    """Yield leaves of nested objects as (the names on the way to it, text); a list is one leaf."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from flatten(part, f"{name}: {_WORDS.get(key, key.replace('_', ' '))}")
    elif isinstance(value, list | tuple):
        plain = all(not isinstance(part, Mapping | list | tuple) for part in value)
        hashed = all(isinstance(part, Mapping) and part.keys() == {"name", "sha256"} for part in value)
        if hashed:
            yield name, ", ".join(f"{part['name']} (SHA-256 {part['sha256']})" for part in value)
        else:
            yield name, ", ".join(map(str, value)) if plain else json.dumps(value, ensure_ascii=False)
    else:
        yield name, None if value is None else str(value)


# ---------------------------------------------------------------- the work

_WORK = (
    "What the work of each stage took, over all commands that did it: a call that found everything done changes "
    "nothing here, and rows that were made again are counted again."
)
_NOT_TOLD = "done by a command that was killed, or that kept no record of it"
_NO_CALLS = "this stage asks no chat model"
_STAGES = (
    Column("stage"),
    Column("rows", "count", unknown=_NOT_TOLD),
    Column("pieces", "count", told="what a stage makes at once and does not redo, as one ranking or one summary"),
    Column("seconds", "number", told="in which some task of it was under way, of all commands", unknown=_NOT_TOLD),
    Column("workers", told="processes on Ray; 0: the command's own process", unknown=_NOT_TOLD),
    Column("calls", "count", told="of models, failed ones among them"),
    Column("commands", told="their numbers in the next table", unknown=_NOT_TOLD),
)
_UNTOLD = Column("untold", "count", "further pieces", f"{_NOT_TOLD}; then rows and seconds are at least as many")
_COMMANDS = (
    Column("number", "count"),
    Column("command"),
    Column("git_commit", title="git commit", unknown="the code stood in no git checkout"),
    Column("versions"),
    Column("ledger", unknown="it called no chat model"),
)


def _work(run: Facts) -> Iterator[Table]:
    """Yield the stages' table and the commands'; nothing for a record that does not tell who did what."""
    if run.get("commands") is None or not run.get("stages"):
        return
    call, names = run["last_call"], list(run["commands"])
    last = {stage["name"]: stage for stage in call["stages"]}
    untold = [_UNTOLD] if any(stage["pieces_untold"] for stage in run["stages"]) else []
    told = f"what the last command did, {call['command']}"
    columns = [*_STAGES, *untold, Column("last", title="last call", told=told)]
    rows = [{**_stage(run, names, one), "last": _last_words(last.get(one["name"]))} for one in run["stages"]]
    reasons = [{"calls": _NOT_TOLD if _calls(run, one["name"]) else _NO_CALLS} for one in run["stages"]]
    yield Table("work", columns, rows, told=_WORK, reasons=reasons)
    ledgers = {job["job"]: job["ledger"] for job in run["jobs"]}
    commands = [
        {
            "number": number,
            "command": name,
            "git_commit": maker["git_commit"],
            "versions": ", ".join(f"{package} {version}" for package, version in maker["versions"].items()),
            "ledger": ledgers.get(name),
        }
        for number, (name, maker) in enumerate(run["commands"].items(), start=1)
    ]
    if commands:
        told = "The commands that did the work, with the code that they ran."
        yield Table("commands", _COMMANDS, commands, told=told)


def _stage(run: Facts, names: list[str], stage: Facts) -> dict[str, Value]:
    known = bool(stage["pieces"]) or not stage["pieces_untold"]
    workers = sorted({one["workers"] for one in stage["work"] if one["workers"] is not None})
    numbers = sorted(names.index(one["command"]) + 1 for one in stage["work"])
    calls = _calls(run, stage["name"])
    return {
        "stage": stage["name"],
        "rows": stage["rows"] if known else None,
        "pieces": stage["pieces"],
        "untold": stage["pieces_untold"],
        "seconds": stage["seconds"] if known else None,
        "workers": ", ".join(map(str, workers)) or None,
        "calls": sum(one or 0 for one in calls) if calls and None not in calls else None,
        "commands": ", ".join(map(str, numbers)) or None,
    }


def _calls(run: Facts, stage: str) -> list[int | None]:
    return [part.get("calls") for job in run["jobs"] for part in job["stages"] if part["stage"] == stage]


def _last_words(stage: Facts | None) -> str:
    if stage is None:
        return "not asked for"
    if not stage["pieces"]:
        return f"0 new rows; all {stage['found']:,} pieces were there"
    there = f"; {stage['found']:,} pieces were there" if stage["found"] else ""
    return f"{stage['rows']:,} new rows in {stage['seconds']:,.1f} s{there}"


# ---------------------------------------------------------------- the benchmark

_READER = "longform.synthesis.tables"
"""The annex that makes tables of audits and accounts of benchmarks that keep none."""

_MOST_ROWS = 40  # that one still reads; the file has all


def audit_sections(results: Results) -> Iterator[Section]:
    """Yield one section if the benchmark says of itself how it was made and audited; else none."""
    if described := _described(results):
        tables = [_first_rows(results, table) for table in benchmark_tables(results) if table.plot is None]
        yield Section("audit", described["title"], list(described["told"]), _shown(results, tables))


def benchmark_tables(results: Results) -> Iterator[Table]:
    """Yield the tables that the benchmark brings; one with a figure is shown by it."""
    described = _described(results) or {"tables": {}}
    return (Table.from_json(name, content) for name, content in described["tables"].items())


def _described(results: Results) -> Mapping[str, Any] | None:
    """Return the title, the sentences and the tables of the benchmark; None: it has none of them."""
    kept = results.get("benchmark_tables")
    audit, account = results.get("audit"), results.get("synthesis")
    if kept or not (audit or account):
        return kept
    made: Mapping[str, Any] = import_module(_READER).benchmark_tables(audit, account)
    return made


def _first_rows(results: Results, table: Table) -> Table:
    """Return what a page has room for, with haystacks under the names of pages."""
    rows = [_named(results, row) for row in table.rows[:_MOST_ROWS]]
    if len(rows) == len(table.rows):
        return table._replace(rows=rows)
    more = f"The first {len(rows)} of {len(table.rows):,}; the files beside the benchmark have all."
    return table._replace(rows=rows, told=f"{table.told} {more}".strip())


def _named(results: Results, row: Mapping[str, Value]) -> Mapping[str, Value]:
    named = row.get("haystack")
    return {**row, "haystack": haystack_name(results, named)} if isinstance(named, str) else row
