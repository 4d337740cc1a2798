"""The section of systems whose texts were written elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longform.report.parts import Section
from longform.report.tables import ELSEWHERE, Column, Table
from longform.results.columns import Columns
from longform.results.elsewhere import Documents, ElsewhereRow
from longform.results.results import Results
from longform.tables.cells import Cell, count, words

_SHOWN = 6  # queries in a cell
_DOCUMENTS: dict[Documents, str] = {"named": "named", "all": "all of the haystack", "unknown": "not known"}
_CAPTION = (
    "Texts that this run took as they are, and did not write. Without an answer: queries of the run that a system left "
    "out; its means are over the others. Documents it saw: named one by one, all of the haystack, or not known."
)


def written_elsewhere(results: Results) -> frozenset[str]:
    """Return the names of systems that were written elsewhere, in a run that writes too."""
    rows = [*results.get("cells", []), *results.get("faithfulness", {}).get("cells", [])]
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


def elsewhere_sections(results: Results) -> Iterator[Section]:
    """One section if the run took shipped texts."""
    rows = results.get("elsewhere") or []
    if not rows:
        return
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
    columns += [Column(name) for name in ("texts", "failed", "empty", "queries", "without an answer")]
    columns.append(Column("documents it saw", numeric=False))
    body = [
        [
            words(row["summarizer"]),
            words(row["setting"]),
            count(row["n_summaries"]),
            count(row["n_failed"]),
            count(row["n_empty"]),
            count(row["n_queries"]),
            _unanswered(row),
            Cell(", ".join(f"{_DOCUMENTS[how]} {n}" for how, n in row["documents"].items())),
        ]
        for row in rows
    ]
    yield Section("elsewhere", "Written elsewhere", [], [Table(_CAPTION, columns, body)])


def _unanswered(row: ElsewhereRow) -> Cell:
    names = row["unanswered"]
    more = ", ..." if len(names) > _SHOWN else ""
    return count(len(names))._replace(detail=", ".join(names[:_SHOWN]) + more if names else None)
