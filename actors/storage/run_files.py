"""The names of the files of a run, beside its tables, and how a damaged one is made anew."""

from __future__ import annotations

from collections.abc import Mapping

RECORD = "run.json"
"""States what the run was made from, and what its work cost."""

RESULTS = "results.json"
"""Has everything that the report shows."""

REMADE: Mapping[str, str] = {
    RECORD: "put it back from a copy, or delete it: the command that made the run writes it anew, and what the tables "
    "hold is not made again",
    RESULTS: "put it back from a copy, or delete it: the command that made the run, or `longform aggregate`, writes it "
    "anew from the tables",
    "benchmark.json": "put it back from a copy, or make the benchmark anew",
}
"""File name -> what to do if it is damaged."""

PUT_BACK = (
    "put the file back from a copy, or go on in a new folder: finished calls are in the ledger and not paid again"
)
"""Advice about any other."""
