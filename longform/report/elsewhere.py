"""Marks of systems whose texts were written elsewhere, and words on them."""

from __future__ import annotations

from collections.abc import Iterable

from longform.report.tables import ELSEWHERE
from longform.results.cells import systems_in
from longform.results.columns import Columns
from longform.results.results import Results


def written_elsewhere(results: Results) -> frozenset[str]:
    """Return the names of systems that were written elsewhere, in a run that writes too."""
    rows = [*systems_in(results), *results.get("faithfulness", {}).get("cells", [])]
    return frozenset(f"{row['summarizer']}, {row['setting']}" for row in rows if row.get("elsewhere"))


def elsewhere_mark(results: Results, row: Columns) -> str | None:
    """Return the mark of a row whose system was written elsewhere."""
    known = f"{row['summarizer']}, {row['setting']}" in written_elsewhere(results)
    return f"({ELSEWHERE})" if known else None


def elsewhere_words(results: Results, names: Iterable[str]) -> list[str]:
    """Return a sentence that says which of the named systems were written elsewhere; none if none was."""
    known = written_elsewhere(results)
    found = [name for name in dict.fromkeys(names) if name in known]
    return [f"{ELSEWHERE.capitalize()}: {'; '.join(found)}."] if found else []
