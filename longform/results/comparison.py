"""A comparison of two runs as one JSON document."""

from __future__ import annotations

from typing import TypedDict

from longform.results.compared_runs import Family, PairedRow
from longform.results.run_differences import CostRow, SettingRow
from longform.results.run_status import State


class ComparedRun(TypedDict):
    """One of the two."""

    run: str
    label: str
    verb: str
    title: str | None
    state: State
    finished: bool
    benchmark: str
    dataset_hash: str
    n_queries: int  # with a summary
    systems: list[str]


class Comparison(TypedDict):
    """Two runs; differences are the second run's less the first run's."""

    runs: list[ComparedRun]
    n_common: int  # queries that both have
    cautions: list[str]  # sentences
    conclusion: list[str]  # three sentences
    tests: list[PairedRow]
    family: Family
    retrieval: list[PairedRow]  # of rankings; empty: neither ranks, or nothing is judged
    retrieval_family: Family  # a family of their own
    settings: list[SettingRow]
    costs: list[CostRow]
