"""Cells and measures as older results had them: a wide row for each system, judge and data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longform.measures import default_names, named
from longform.metrics.measure import Measure, described
from longform.results.cells import CELLS, KEY
from longform.studies import cells
from longform.studies.schema_1.rows import Json, without_axes
from longform.tables.names import CUT, SYSTEM
from longform.tables.table import Table

Row = Mapping[str, Any]
_FACTS = {fact.column.name: fact.column.unit for fact in cells.FACTS}


def of_cells(results: Json) -> list[Table]:
    """Return the cells of results that have them; measures that none lists are those of coverage."""
    measures = results.get("measures")
    if measures is None:
        measures = [described(one) for one in named(default_names(["coverage"])) if isinstance(one, Measure)]
    units = {row["name"]: row["unit"] for row in measures}
    per_summary = {_key(row): row for row in results.get("per_summary_cells") or ()}
    rows = [one for row in results[CELLS] for one in _rows(row, per_summary.get(_key(row), {}), units)]
    failed = [
        {**dict(zip(KEY, _key(row), strict=True)), "reason": reason, "n_summaries": n}
        for row in results[CELLS]
        for reason, n in (row.get("failures") or {}).items()
    ]
    made = cells.table([], str(results.get("aggregate")))
    return [
        made.having([row for row, _ in rows])._replace(reasons=[why for _, why in rows]),
        cells.measures_table(measures),
        *cells.failures(failed),
    ]


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in KEY)


def _rows(row: Row, other: Row, units: Mapping[str, str]) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield a row for each measure and fact of a system, with why its value is unknown."""
    flat = without_axes(row) | {"order": (row.get("axes") or {}).get("order")}
    kept = (*(column.name for column in SYSTEM), "judge", "dataset", "order", *(row.get("axes") or ()))
    names = {name: flat[name] for name in kept if flat.get(name) is not None} | dict(zip(KEY, _key(row), strict=True))
    for name, unit in {**units, **_FACTS}.items():
        if name in row:
            reason = (row.get("reasons") or {}).get(name) or (_why(row, name) if row[name] is None else None)
            means = {"value": _mean(row, name), "per_summary": _mean(other, name)}
            means = {"value": row[name]} if name in _FACTS else means
            spread = {f"spread_{by}": one for by, one in ((row.get("spread") or {}).get(name) or {}).items()}
            yield {**names, "measure": name, **means, "unit": unit, **spread}, {"value": reason} if reason else {}


def _why(row: Row, name: str) -> str | None:
    """Return why a value is unknown of which no reason was recorded, as counts tell; None: they do not."""
    if name == CUT.name:
        return cells.PROMPT_UNKNOWN.reason
    all_failed = row.get("n_summaries") and row.get("n_failed") == row["n_summaries"]
    none_covered = name in ("precision", "recall", "citation") and row.get("n_covered") == 0
    return "every summary failed" if all_failed else "no insight was covered" if none_covered else None


def _mean(row: Row, name: str) -> dict[str, Any] | None:
    """Return a mean with its interval; `n` is null, as it was not said how many clusters are in it."""
    low, high = (row.get("intervals") or {}).get(name) or (None, None)
    return None if row.get(name) is None else {"value": row[name], "low": low, "high": high, "n": None}
