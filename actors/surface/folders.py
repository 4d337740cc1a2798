"""Reads benchmarks and runs: tables as Arrow, which pandas takes by `to_pandas()`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from os import PathLike
from typing import Any

import pyarrow as pa

from actors.storage.benchmark import Benchmark as Benchmark  # noqa: PLC0414  # a public name
from actors.storage.folder import Folder
from actors.storage.json_files import RECORD, RESULTS
from longform.errors import UsageError
from longform.evidence.frames import Frames
from longform.evidence.scan import Read, pl
from longform.evidence.scores import SCORE_COLUMNS, ScoreTable
from longform.evidence.summaries import clustered, summaries
from longform.results.cells import compared_families, systems_in, table_rows
from longform.settings.named_judges import ALIGNERS
from longform.studies.schema_1 import with_tables

TABLES = ("rankings", "contexts", "summaries", "units", "verdicts", "scores")
"""The tables of a run."""

_NESTED = (dict, list)
_COMPARED = ("judge", "dataset", "measure", "reference", "system", "difference", "low", "high", "p", "finding")


class Run:
    """
    A run folder, read and never written.

    Args:
        url: A folder, local or `s3://`.

    Raises:
        UsageError: No run stands there.
        StorageError: The folder cannot be reached.
    """

    def __init__(self, url: str | PathLike[str]) -> None:
        self.folder = Folder(url)
        if not self.folder.has(RECORD):
            self.folder.check_reachable()  # a bucket that is not there looks empty
            raise UsageError(
                f"no run at {self.folder.url!r}: expected a folder with {RECORD}; make one with `longform evaluate`"
            )

    def __repr__(self) -> str:
        return f"Run({self.folder.url!r})"

    def table(self, name: str) -> pa.Table:
        """
        Return a table of the run; one that was not written yet has no rows.

        Args:
            name: One of `TABLES`; `longform/schemas.py` has their keys, `longform/rows.py` their columns.

        Raises:
            UsageError: A run has no such table.
        """
        if name not in TABLES:
            raise UsageError(f"table: expected one of {', '.join(TABLES)}, found {name!r}")
        return self.folder.read(name)

    @property
    def summaries(self) -> pa.Table:
        """Every summary; its text is null if it failed."""
        return self.table("summaries")

    @property
    def verdicts(self) -> pa.Table:
        """Every verdict of every judge."""
        return self.table("verdicts")

    @property
    def scores(self) -> pa.Table:
        """Every measure of every summary, as shares from 0 to 1."""
        return self.table("scores")

    @cached_property
    def frames(self) -> Frames:
        """
        The tables of the run as lazy frames of polars, as studies query them: `longform.evidence.frames.Frames`.

        `frames.scores` has the facts of its summary beside each score. Rows are those that the run held when a frame
        was first asked for, or collected.
        """
        known = cache(self._known)
        return Frames(known, lambda: self._scores(known()["summary_id"]), self._read, self._calls)

    def _known(self) -> pl.DataFrame:
        (found,) = clustered(summaries(self._read("summaries"), self.folder.locate("summaries")))
        return found

    def _scores(self, summary_ids: Iterable[str]) -> pl.DataFrame:
        parts = self.folder.batches("scores", columns=SCORE_COLUMNS)
        return ScoreTable((), summary_ids, aside=ALIGNERS, parts=parts).reported

    def _read(self, table: str) -> Read:
        folder = self.folder
        if table == "qrels":  # of the benchmark, where it was
            folder = Folder(self.folder.read_json(RECORD, needs=["benchmark"])["benchmark"]["url"])
        return lambda columns: folder.batches(table, columns=columns)

    def _calls(self) -> Sequence[Mapping[str, object]]:
        return table_rows(self.results, "calls")

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """
        The content of `results.json`, which has everything that the report shows.

        Raises:
            UsageError: The run has none yet.
        """
        if not self.folder.has(RESULTS):
            raise UsageError(
                f"{self.folder.url}: expected {RESULTS}, found none yet; the command that makes the run goes on to it, "
                f"and `longform status {self.folder.url}` says how far it is"
            )
        return with_tables(self.folder.read_json(RESULTS, needs=()))

    def explain(self, summary_id: str, judge: str, *, bench: str | PathLike[str] | None = None) -> pa.Table:
        """
        Return why a summary has its scores by a judge of coverage: a row for each insight of its query.

        The columns are the insight, the answer to it (`full`, `partial`, `none`; null: unjudged), the bullet that says
        it, the documents which that bullet cites, the documents that state it, those cited `wrong` and those `missed`;
        documents are the numbers that summaries cite, from 1. All but the first two are null if no bullet says it.

        *bench* is the place of the run's benchmark now, if it was moved.

        Raises:
            UsageError: The run has no such summary, the judge has judged no insight of it, or there is another
                benchmark or none.
        """
        from actors.surface.explained import explained

        return explained(self, summary_id, judge, bench)

    @cached_property
    def systems(self) -> pa.Table:
        """
        Every system under every judge: its means as the report prints them, points from 0 to 100.

        Ends of the 95 % interval of a measure are its columns `NAME_low` and `NAME_high`.
        """
        return _table([_system(cell) for cell in systems_in(self.results)])

    @cached_property
    def comparisons(self) -> pa.Table:
        """
        Every system against the reference of its judge and data set: difference, interval, p and finding.

        A run of a single system has no rows.
        """
        return _table(list(_compared(self.results)), _COMPARED)


def _system(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell of the results as a row of plain values."""
    plain = {name: value for name, value in cell.items() if not isinstance(value, _NESTED)}
    low = {f"{name}_low": ends[0] for name, ends in cell["intervals"].items()}
    high = {f"{name}_high": ends[1] for name, ends in cell["intervals"].items()}
    return {**plain, **cell["axes"], **low, **high}


def _compared(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of all comparisons, each with what it is compared with."""
    for one in compared_families(results):
        for row in one["rows"]:
            plain = {name: value for name, value in row.items() if not isinstance(value, _NESTED)}
            yield {**plain, "in_sample": bool(row.get("in_sample"))}


def _table(rows: Sequence[Mapping[str, Any]], least: Sequence[str] = ()) -> pa.Table:
    """Return a table with the columns of all *rows*, and the *least* ones; null if a row has none."""
    names = dict.fromkeys([*least, *(name for row in rows for name in row)])
    return pa.table({name: [row.get(name) for row in rows] for name in names})
