"""Words for tables and figures of data sets that a configuration pools."""

from __future__ import annotations

from longform.report.tables import Table
from longform.results.results import Results

_NOT_OF_DATA = frozenset(
    {
        "table-judges",
        "retest",
        "audit",
        "made",
        "unscored",
        "table-calls",
        "table-missing-ledgers",
        "table-several-models",
    }
)
"""Anchors of sections whose tables are of no data set."""


def pooled_words(results: Results, anchor: str) -> str:
    """Name the data sets that a section pools, to stand before a caption; empty if each stands apart."""
    pooled = results.get("pooled_datasets") or []
    if not pooled or anchor in _NOT_OF_DATA:
        return ""
    return f"Data sets pooled: {', '.join(pooled)}. "


def pooled_told(results: Results, anchor: str, table: Table) -> Table:
    """Return *table* with the data sets that it pools in its caption."""
    return table._replace(caption=f"{pooled_words(results, anchor)}{table.caption}")
