"""Cells and measures of older results, which had a wide row for each system, judge and data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longform.measures import default_names, named
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import Merging
from longform.metrics.measure import Measure, described
from longform.results.cells import CELLS, KEY
from longform.studies import cells
from longform.tables.table import AXES, CUT, SYSTEM, Table

Row = Mapping[str, Any]
_FACTS = {fact.column.name: fact.column.unit for fact in cells.FACTS}


def of_cells(results: Row) -> list[Table]:
    """Return the cells of results that have them; measures that none lists are those of coverage."""
    measures, of_support = results.get("measures") or [], list[Measure]()
    if "measures" not in results and results.get(CELLS):
        measures = [described(one) for one in named(default_names(["coverage"])) if isinstance(one, Measure)]
    per_summary = {_key(row): row for row in results.get("per_summary_cells") or ()}
    known = [(row, per_summary.get(_key(row), {})) for row in results.get(CELLS) or ()]
    if found := results.get("faithfulness"):
        merging = Merging(**found["merging"])
        of_support = cells.measures_of_support(merging)
        costs = {_key(row)[1:]: row for row in (results.get("cost") or {}).get("systems") or ()}
        for row in found[CELLS]:
            means = {SHARE: row.get("supported"), merging.name: row["faithfulness"]}
            known.append(({**row, **means, **costs.get(_key(row)[1:], {})}, {}))
    units = {one.name: one.unit for one in of_support} | {row["name"]: row["unit"] for row in measures}
    rows = cells.distinct(one for row, other in known for one in _rows(row, other, units))
    failed = [
        {**dict(zip(KEY, _key(row), strict=True)), "reason": reason, "n_summaries": n}
        for row, _ in known
        for reason, n in (row.get("failures") or {}).items()
    ]
    made = cells.table([], str(results.get("aggregate")))
    return [
        made.having([row for row, _ in rows])._replace(reasons=[why for _, why in rows]),
        cells.measures_table(measures, of_support),
        *cells.failures(failed),
    ]


def without_axes(row: Row) -> dict[str, Any]:
    """Return a row whose columns of its setting, which stood together, stand by themselves."""
    kept = {name: value for name, value in row.items() if name not in ("axes", "order")}
    axes, names = row.get("axes") or {}, {column.name for column in AXES}
    return {**kept, **{name: value for name, value in axes.items() if name in names}}


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in KEY)


def _rows(row: Row, other: Row, units: Mapping[str, str]) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield a row for each measure and fact of a system, with why its value is unknown."""
    flat = without_axes(row) | {"order": (row.get("axes") or {}).get("order")}
    kept = (*(column.name for column in SYSTEM), "judge", "dataset", "order", *(row.get("axes") or ()))
    names = {name: flat[name] for name in kept if flat.get(name) is not None} | dict(zip(KEY, _key(row), strict=True))
    for name, unit in {**units, **_FACTS}.items():
        if name in row:
            means = {"value": _mean(row, name), "per_summary": _mean(other, name)}
            means = {"value": row[name]} if name in _FACTS else means
            reason = (row.get("reasons") or {}).get(name) or (_why(row, name) if means["value"] is None else None)
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
    """Return a mean with its interval; `n` is null if it was not said how many clusters are in it."""
    low, high = (row.get("intervals") or {}).get(name) or (None, None)
    mean = row.get(name)
    mean = mean if isinstance(mean, Mapping) else {"value": mean, "low": low, "high": high, "n": None}
    return None if mean["value"] is None else dict(mean)
