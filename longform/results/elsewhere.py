"""Systems whose texts were written elsewhere: what is known of their prompts, and which queries they left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from longform.tables.table import SYSTEM, Column, Table, Value

Documents = Literal["named", "all", "unknown"]
"""Documents that a writer saw: named one by one, all of the haystack, or not known."""


Row = Mapping[str, Any]
"""
A system of texts that a benchmark ships: `summarizer`, `setting`, `n_summaries`, `n_failed` (without text), `n_empty`,
`n_queries` (with a summary), `unanswered` (queries of the run without one) and `documents` (numbers of summaries).
"""

_SHOWN = 5  # systems or queries in a sentence
UNKNOWN = (
    "their sentences are checked against documents of the whole haystack. What none of them supports is unsupported; "
    "what one of them supports may be from a document that the system never saw. Such support is an upper bound, and "
    "has no places in a prompt"
)


def elsewhere_told(rows: Sequence[Row], *, checked: bool) -> Iterator[str]:
    """Yield a sentence for each thing that shipped texts leave open; *checked*: whether they are against documents."""
    partly = [row for row in rows if row["unanswered"]]
    for row in partly[:_SHOWN]:
        named = ", ".join(row["unanswered"][:_SHOWN]) + (", ..." if len(row["unanswered"]) > _SHOWN else "")
        yield (
            f"{row['summarizer']}, {row['setting']} has no answer to {_queries(len(row['unanswered']))} of the "
            f"benchmark ({named}): its means are over the {_queries(row['n_queries'])} that it answered."
        )
    if len(partly) > _SHOWN:
        yield f"{len(partly) - _SHOWN} more systems leave queries out; the section on texts written elsewhere has them."

    if n := sum(row["documents"].get("unknown", 0) for row in rows) if checked else 0:
        of_all = sum(row["n_summaries"] for row in rows)
        yield f"It is not known which documents {n:,} of {of_all:,} texts saw: {UNKNOWN}."


def _queries(n: int) -> str:
    return f"{n:,} {'query' if n == 1 else 'queries'}"


_LISTED = 6  # queries in a cell


def elsewhere_tables(rows: Sequence[Row]) -> list[Table]:
    """Return the systems of shipped texts as a table; none if the run took none."""
    columns = [
        *SYSTEM[:2],
        Column("n_summaries", "count", "texts"),
        Column("n_failed", "count", "failed", "without a text"),
        Column("n_empty", "count", "empty"),
        Column("n_queries", "count", "queries"),
        Column(
            "n_unanswered",
            "count",
            "without an answer",
            "queries of the run that a system left out; its means are over the others",
            beside="unanswered",
        ),
        Column("unanswered", title="of them", shown=False),
        Column("named", "count", "documents named", "texts whose writer saw documents that are named one by one"),
        Column("all", "count", "all documents", "texts whose writer saw all of the haystack"),
        Column("unknown", "count", "documents not known", "texts of which nothing says what the writer saw"),
    ]
    found = Table(
        "elsewhere",
        columns,
        [_as_shown(row) for row in rows],
        title="Written elsewhere",
        told="Texts that this run took as they are, and did not write.",
        key=["summarizer", "setting"],
        page="provenance",
    )
    return [found] if rows else []


def _as_shown(row: Row) -> dict[str, Value]:
    names = row["unanswered"]
    shown = {name: value for name, value in row.items() if name != "documents"}
    return {
        **shown,
        "n_unanswered": len(names),
        "unanswered": [*names[:_LISTED], *(["..."] if len(names) > _LISTED else [])],
        **{how: row["documents"].get(how, 0) for how in get_args(Documents)},
    }
