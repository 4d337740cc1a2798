"""A run as formats need it that put texts, scores and results beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from longform.formats.exported import ExportedFile, HaystackOfRun
from longform.formats.table_export import TablesOfRun


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


class WholeRun(NamedTuple):
    """
    A run.

    Attributes:
        tables: Its results and tables.
        haystacks: Its rows, a haystack at a time.
        systems: Summary id -> its system, of the summaries that are results and no earlier steps.
        exported_at: The time of the export, in ISO 8601.
    """

    tables: TablesOfRun
    haystacks: Iterable[HaystackOfRun]
    systems: Mapping[str, SystemOf]
    exported_at: str

    @property
    def results(self) -> Mapping[str, Any]:
        return self.tables.results


WholeExporter = Callable[[WholeRun], Iterable[ExportedFile]]
"""Yields the files of a run."""
