"""The answer of a verb as a page, as Markdown and for a terminal: nothing here knows what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import fill, wrap
from typing import cast

from longform.report.page import sections_html, sections_markdown, unknowns
from longform.report.parts import Section
from longform.report.result_tables import table_sections
from longform.report.sections import figures
from longform.report.tables import whole_head
from longform.results.cells import MEASURES
from longform.results.results import Results, VerbAnswer
from longform.tables.cells import TextCell
from longform.tables.files import with_detail
from longform.tables.table import Table


def answer_sections(answer: VerbAnswer) -> list[Section]:
    """Return the paragraphs of an answer as a section, and one for each of its tables."""
    told = [Section("told", answer.head, [*answer.told], [])] if answer.told else []
    return [*told, *table_sections(_results(answer))]


def _results(answer: VerbAnswer) -> Results:
    measures = Table(MEASURES, [], [], shown=False).having(answer.measures)
    shown = {one.name: one.as_json() for one in (*answer.shown_tables, measures)}
    return cast("Results", {"judges": [], "tables": shown})


def answer_html(answer: VerbAnswer) -> str:
    """Return a page that stands alone, with the figures of its tables."""
    results = _results(answer)
    shown = [(section, figures(section.anchor, results)) for section in answer_sections(answer)]
    return sections_html(answer.title, shown)


def answer_markdown(answer: VerbAnswer) -> str:
    """Return the page as Markdown."""
    return sections_markdown(answer.title, answer_sections(answer))


def answer_text(answer: VerbAnswer) -> str:
    """Return the lines of a terminal; what each column says of itself stands on pages alone."""
    kept = [table for table in answer.tables if table.name not in answer.pages_only]
    shown = answer_sections(answer._replace(tables=kept, head=""))
    return "\n\n".join(part for section in shown for part in _parts(section))


# ---------------------------------------------------------------- a terminal

WIDTH = 100
"""Characters of a line in a terminal."""
_SPACE, _INTERVAL = "\N{NO-BREAK SPACE}", re.compile(r"(?<=,) (?=\S+\]$)")  # keep an interval on one line
_LEAST = 9  # characters of a column that is made narrower


def _parts(section: Section) -> Iterator[str]:
    if section.title:
        yield section.title
    yield from (fill(paragraph, WIDTH) for paragraph in section.paragraphs)
    for table in section.tables:
        texts = [place for place, column in enumerate(table.columns) if column.unit == "text"]
        rows = aligned([*map(whole_head, table.columns)], table.cells, texts=texts)
        caption = [fill(table.caption, WIDTH)] if table.caption else []
        yield "\n".join([*caption, *rows, *(fill(line, WIDTH) for line in unknowns(table))])


def aligned(heads: Sequence[str], rows: Iterable[Sequence[TextCell]], *, texts: Sequence[int] = ()) -> Iterator[str]:
    """
    Yield lines of aligned columns for a terminal of WIDTH; an unknown is a dash.

    If the whole is too wide, the columns at the places *texts* are broken into lines first.
    """
    whole = ([one._replace(detail=one.detail and _INTERVAL.sub(_SPACE, one.detail)) for one in row] for row in rows)
    lines = [list(heads), *([with_detail(cell, unknown="-") for cell in row] for row in whole)]
    widths = _fitted([max(len(line[place]) for line in lines) for place in range(len(heads))], texts)
    for line in lines:
        parts = [wrap(text, width) for text, width in zip(line, widths, strict=True)]
        for broken in zip_longest(*parts, fillvalue=""):
            shown = "  ".join(text.ljust(width) for text, width in zip(broken, widths, strict=True))
            yield shown.replace(_SPACE, " ").rstrip()


def _fitted(widths: Sequence[int], texts: Sequence[int]) -> list[int]:
    """Return widths that fit into WIDTH: the widest texts lose most, then other columns, none below its least."""
    found = [max(1, width) for width in widths]
    for places in (texts, range(len(found))):
        while sum(found) + 2 * (len(found) - 1) > WIDTH and (wide := [n for n in places if found[n] > _LEAST]):
            found[max(wide, key=lambda place: found[place])] -= 1
    return found
