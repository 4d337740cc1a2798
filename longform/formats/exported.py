"""
A run as formats of `longform export` write it.

A new format is a file with an `Export`, which `--as MODULE:NAME` names; one that ships has its line in
`longform.formats.names`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import pyarrow as pa

from longform.records import Document, Qrel, Query, Target
from longform.rows import RankingRow, SummaryRow, VerdictRow


class SystemOf(NamedTuple):
    """
    The system of a summary, as the report names it.

    Attributes:
        summarizer: Its name.
        setting: Of the summarizer.
        dataset: Of the query; None: not stated.
    """

    summarizer: str
    setting: str
    dataset: str | None

    def __str__(self) -> str:
        return f"{self.summarizer}, {self.setting}{f' on {self.dataset}' if self.dataset else ''}"


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
    n_summaries: int = 0
    left_out: Mapping[str, int] = {}


class RunToExport(Protocol):
    """
    A run, whose parts are read as they are asked for.

    Attributes:
        haystacks: Its rows, a haystack at a time.
        results: The content of `results.json`.
        systems: Summary id -> its system, of the summaries that are results and no earlier steps.
        judge: The judge of coverage whose labels are written; empty: the format writes none.
        full_context: The retrievers that leave no document out.
        exported_at: The time of the export, in ISO 8601.
    """

    @property
    def haystacks(self) -> Iterable[HaystackOfRun]: ...

    @property
    def results(self) -> Mapping[str, Any]: ...

    @property
    def systems(self) -> Mapping[str, SystemOf]: ...

    @property
    def judge(self) -> str: ...

    @property
    def full_context(self) -> frozenset[str]: ...

    @property
    def exported_at(self) -> str: ...

    def table(self, name: str, /) -> pa.Table:
        """Return the rows of a table that the run's configuration asks for."""
        ...


class Export(NamedTuple):
    """
    A format of files that a run is written in.

    Attributes:
        files: Yields the files of a run.
        told: The format in one line.
        of: The rows without which there is nothing to write, for messages.
        labelled: Whether it writes the labels of one judge of coverage.
    """

    files: Callable[[RunToExport], Iterable[ExportedFile]]
    told: str
    of: Literal["summaries", "rankings"] = "summaries"
    labelled: bool = False
