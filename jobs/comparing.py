"""Compares two runs from Python; the numbers are those of `longform compare`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import pyarrow as pa

from actors.surface.folders import Run
from jobs.compare import compare as _compare
from longform.errors import UsageError
from longform.report.answers import answer_text
from longform.results.answer import VerbAnswer
from longform.results.comparison import comparison_answer


@dataclass(frozen=True)
class ComparedRuns:
    """
    Two runs on the queries that both have; differences are the second run's less the first run's.

    Attributes:
        answer: The sentences and tables of `longform compare`.
    """

    answer: VerbAnswer

    @property
    def document(self) -> dict[str, Any]:
        """All of it, as `longform compare --out DIR` writes it to `compare.json`."""
        return self.answer.document

    @property
    def n_queries(self) -> int:
        """Queries that both have."""
        return int(self.document["n_common"])

    @property
    def conclusion(self) -> list[str]:
        """Three sentences."""
        return list(self.document["conclusion"])

    @property
    def cautions(self) -> list[str]:
        """Sentences on what weakens the comparison."""
        return list(self.document["cautions"])

    @property
    def differences(self) -> pa.Table:
        """
        A row for each judge, measure and pair of systems: both means, difference, interval, p and finding.

        Measures that are shares stand in points from 0 to 100; p is adjusted for all rows together.
        """
        return _table(self.document["tests"])

    @property
    def retrieval(self) -> pa.Table:
        """The same of rankings, by measures such as nDCG@10; p is adjusted for these rows together."""
        return _table(self.document["retrieval"])

    @property
    def settings(self) -> pa.Table:
        """Settings that differ."""
        return _table(self.document["settings"])

    def __str__(self) -> str:
        return answer_text(self.answer)


def compare(
    first: Run | str | PathLike[str],
    second: Run | str | PathLike[str],
    *,
    systems: Mapping[str, str] | None = None,
    measures: Sequence[str] = (),
) -> ComparedRuns:
    """
    Compare two runs on the queries that both have; nothing is written.

    Args:
        first: A run, or its folder.
        second: The run whose differences from the first are told.
        systems: System of the first -> system of the second, as `longform compare --systems` names them; None: those
            of the same name.
        measures: Only these; none: all that the runs list.

    Raises:
        UsageError: They cannot be compared; the message says why.
    """
    if isinstance(measures, str):
        raise UsageError(f"measures: expected a list of names, found the text {measures!r}")
    urls = [_url("first", first), _url("second", second)]
    pairs = [f"{one}={other}" for one, other in (systems or {}).items()]
    return ComparedRuns(comparison_answer(_compare(urls, systems=pairs, measures=measures, now=time.time())))


def _url(argument: str, run: object) -> str:
    if isinstance(run, Run):
        return run.folder.url
    if isinstance(run, str | PathLike):
        return Run(fspath(run)).folder.url
    raise UsageError(f"{argument}: expected a run or its folder, found a value of type {type(run).__name__}")


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([{name: _plain(value) for name, value in row.items()} for row in rows])


def _plain(value: Any) -> Any:
    """Return a value of a column: settings are of any type, and a column has one."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
