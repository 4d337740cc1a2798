"""Pages that would grow with a run without end, cut into several that a browser opens quickly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from longform.report.parts import Section
from longform.report.plots import Captioned
from longform.report.tables import Table

MOST_BYTES = 2_900_000
"""Most bytes of a page with all its markup."""

Shown = tuple[Section, Sequence[Captioned]]


class Part(NamedTuple):
    """
    One of several pages that hold what is too much for one.

    Attributes:
        shown: Sections with their figures.
        text: The page as HTML.
    """

    shown: Sequence[Shown]
    text: str


def in_parts(
    shown: Sequence[Shown], render: Callable[[Sequence[Shown]], str], *, most_bytes: int = MOST_BYTES
) -> list[Part]:
    """
    Return *shown* on one page, or on as few halvings of it as keep each below *most_bytes*.

    What cannot be halved, such as one row, has a page whatever its size.

    Args:
        shown: Sections with their figures.
        render: Makes the page of some of them.
        most_bytes: Of a page.
    """
    text = render(shown)
    halves = None if len(text.encode()) <= most_bytes else _halves(shown)
    if halves is None:
        return [Part(shown, text)]
    return [part for half in halves for part in in_parts(half, render, most_bytes=most_bytes)]


def _halves(shown: Sequence[Shown]) -> tuple[Sequence[Shown], Sequence[Shown]] | None:
    """Cut between sections, else between a section's figures and tables, tables, or rows; None: it is one thing."""
    if len(shown) > 1:
        middle = len(shown) // 2
        return shown[:middle], shown[middle:]
    section, drawn = shown[0]
    bare = section._replace(paragraphs=[], listing=None, examples=(), chooser=None)
    tables = section.tables
    if drawn and tables:
        return [(section, ())], [(bare._replace(tables=[]), drawn)]
    if len(tables) > 1:
        middle = len(tables) // 2
        return [(section._replace(tables=tables[:middle]), drawn)], [(bare._replace(tables=tables[middle:]), ())]
    rows = _row_halves(tables[0]) if tables else None
    if rows is None:
        return None
    return [(section._replace(tables=[rows[0]]), drawn)], [(bare._replace(tables=[rows[1]]), ())]


def _row_halves(table: Table) -> tuple[Table, Table] | None:
    """Cut a table between two rows, but not between an original and the twin below it."""
    for middle in range(len(table.rows) // 2, 0, -1):
        if not any(cell.beside for cell in table.rows[middle]):
            return table._replace(rows=table.rows[:middle]), table._replace(rows=table.rows[middle:])
    return None
