"""
A run as formats of `longform export` write it.

A new format is a file with an `Export`, which `--as MODULE:NAME` names; one that ships has its line in
`longform.formats.names`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import pyarrow as pa
from pydantic import AfterValidator, SkipValidation
from pydantic_core import PydanticCustomError

from longform.given import Count, Text
from longform.records import Document, Qrel, Query, Target
from longform.rows import RankingRow, SummaryRow, VerdictRow


class SystemOf(NamedTuple):
    """The system of a summary, as the report names it."""

    summarizer: str
    setting: str
    dataset: str | None  # the query's; None: not stated

    def __str__(self) -> str:
        return f"{self.summarizer}, {self.setting}{f' on {self.dataset}' if self.dataset else ''}"


class HaystackOfRun(NamedTuple):
    """The rows of one haystack."""

    haystack_id: str
    documents: Sequence[Document]  # in their order
    queries: Sequence[Query]  # all of the haystack, whether or not they were run
    targets: Sequence[Target]
    qrels: Sequence[Qrel]
    rankings: Sequence[RankingRow]
    summaries: Sequence[SummaryRow]  # those of earlier steps included
    units: Mapping[str, Sequence[str]]  # summary id -> its lines
    verdicts: Mapping[str, Sequence[VerdictRow]]  # summary id -> the verdicts of all judges


_PART = r"(?!(?:\.\.?|\s*)(?:/|\Z))[^/\\\0-\x1f\x7f]+"
_BELOW = re.compile(f"{_PART}(?:/{_PART})*")


def _below(name: str) -> str:
    """Refuse a *name* that leads out of the folder, or that a system of files may read as another."""
    if not _BELOW.fullmatch(name):
        raise PydanticCustomError("name", "a name below the folder, as scores/mine.json,")
    return name


class ExportedFile(NamedTuple):
    """A file to write."""

    name: Annotated[Text, AfterValidator(_below)]  # its folders, if any, stand before it, each with a `/`
    content: Annotated[Mapping[str, Any] | bytes, SkipValidation]  # JSON; bytes: as they are
    n_summaries: Count = 0  # summaries in it, with labels of one judge
    left_out: Mapping[Text, Count] = {}  # kind of thing that the format cannot express -> how many


class RunToExport(Protocol):
    """
    A run, whose parts are read as they are asked for. `judge` is the judge of coverage whose labels are written, and
    empty if the format writes none. `systems` maps a summary id to its system, for the summaries that are results and
    no earlier steps. `full_context` names the retrievers that leave no document out, and `exported_at` is in ISO 8601.
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
    """A format of files that a run is written in."""

    files: Callable[[RunToExport], Iterable[ExportedFile]]
    told: str  # the format in one line
    of: Literal["summaries", "rankings"] = "summaries"  # rows without which there is nothing to write, for messages
    labelled: bool = False  # the format writes the labels of one judge of coverage
