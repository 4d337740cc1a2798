"""The names of the files of a run, beside its tables."""

from __future__ import annotations

RECORD = "run.json"
"""States what the run was made from, and what its work cost."""

RESULTS = "results.json"
"""Has everything that the report shows."""
