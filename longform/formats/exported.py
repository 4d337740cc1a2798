"""
A run as formats of `longform export` write it.

A new format is a file beside this one with a function from haystacks to files, and its place in
`longform.formats.shipped`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from longform.records import Document, Qrel, Query, Target
from longform.rows import RankingRow, SummaryRow, VerdictRow


class RunFacts(NamedTuple):
    """
    Facts of the whole run that a format must know.

    Attributes:
        judge: Of coverage, whose labels are written.
        full_context: The retrievers that leave no document out.
    """

    judge: str
    full_context: frozenset[str]


class HaystackOfRun(NamedTuple):
    """
    The rows of one haystack.

    Attributes:
        haystack_id: Of all rows.
        documents: In their order.
        queries: Of the haystack, whether or not they were run.
        targets: Of the queries.
        qrels: Of the queries.
        rankings: Of the run.
        summaries: Of the run, those of earlier steps included.
        units: Summary id -> its lines.
        verdicts: Summary id -> the verdicts of all judges.
    """

    haystack_id: str
    documents: Sequence[Document]
    queries: Sequence[Query]
    targets: Sequence[Target]
    qrels: Sequence[Qrel]
    rankings: Sequence[RankingRow]
    summaries: Sequence[SummaryRow]
    units: Mapping[str, Sequence[str]]
    verdicts: Mapping[str, Sequence[VerdictRow]]


class ExportedFile(NamedTuple):
    """
    A file to write.

    Attributes:
        name: Of the file.
        content: JSON; bytes: as they are.
        n_summaries: That it holds, with labels of one judge.
        left_out: What the format cannot express -> how many.
    """

    name: str
    content: Mapping[str, Any] | bytes
    n_summaries: int
    left_out: Mapping[str, int]


Exporter = Callable[[Iterable[HaystackOfRun], RunFacts], Iterable[ExportedFile]]
"""Yields the files of a run, a haystack at a time."""

RowExporter = Callable[[Iterable[HaystackOfRun]], Iterable[ExportedFile]]
"""The same for a format without labels."""
