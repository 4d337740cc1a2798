"""Rows of one haystack, table by table, as readers hand them over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from longform.records import Document, Qrel, Query, Target


class HaystackRows(NamedTuple):
    """
    The tables of a benchmark for one haystack.

    `documents` may be a one-time iterator that reads as it goes, and may raise as it goes: take the rows once, and
    let nothing count as written before the last of them. The dicts have the columns of their tables' schemas (those
    left out are null).
    """

    haystack_id: str
    documents: Iterable[Document]
    queries: Iterable[Query]
    targets: Iterable[Target] = ()
    qrels: Iterable[Qrel] = ()
    rankings: Iterable[dict[str, Any]] = ()
    summaries: Iterable[dict[str, Any]] = ()
    labels: Iterable[dict[str, Any]] = ()
