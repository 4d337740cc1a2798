"""The section on how the numbers were made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from longform.errors import LongformError
from longform.report.parts import Section
from longform.report.tables import Column, Table
from longform.report.work import TOLD_IN_TABLES, work_tables
from longform.results.results import Results, RunFacts
from longform.tables.cells import words

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


def provenance_section(results: Results) -> Section:
    """Return the section with the sources of the numbers, and the configuration."""
    record: RunFacts = results.get("run") or {}
    run: dict[str, object] = dict(record)
    work = list(work_tables(record))
    run.pop("benchmark", None)  # told already
    if run.get("limit", 0) is None:
        run["limit"] = "all queries"
    told = ("config", *TOLD_IN_TABLES) if work else ("config",)
    facts = [
        ("unreadable or missing judgements", _UNREADABLE),
        ("means", _averaging(results)),
        *(flatten(results.get("benchmark") or {}, "benchmark")),
        *(flatten({name: part for name, part in run.items() if name not in told}, "run")),
    ]
    columns = [Column("what", numeric=False), Column("value", numeric=False)]
    table = Table(
        "What the numbers rest on.", columns, [[words(name), words(value, reason=_UNSET)] for name, value in facts]
    )
    config = record.get("config")
    listing = None if config is None else json.dumps(config, indent=2, ensure_ascii=False)
    return Section("made", "How the numbers were made", [], [table, *work], listing)


def _averaging(results: Results) -> str:
    how = results["aggregate"]
    if how not in AVERAGED:
        raise LongformError(f"results: field 'aggregate': expected one of {sorted(AVERAGED)}, found {how!r}")
    return AVERAGED[how]


def flatten(value: object, name: str) -> Iterator[tuple[str, str | None]]:
    """Leaves of nested objects as (the names on the way to it, text); a list is one leaf."""
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
