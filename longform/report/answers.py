"""The answer of a verb as a page, as Markdown and for a terminal: nothing here knows what was asked."""

from __future__ import annotations

from typing import cast

from longform.report.page import sections_html, sections_markdown
from longform.report.parts import Section, as_shown
from longform.report.plain_tables import plain_text
from longform.report.result_tables import table_sections
from longform.report.sections import figures
from longform.results.answer import VerbAnswer
from longform.results.results import Results


def answer_sections(answer: VerbAnswer) -> list[Section]:
    """Return the paragraphs of an answer as a section, and one for each of its tables."""
    told = [Section("told", answer.head, [*answer.told], [])] if answer.told else []
    tables = [
        section._replace(tables=[as_shown(table) for table in section.tables])
        for section in table_sections(_results(answer))
    ]
    return [*told, *tables]


def _results(answer: VerbAnswer) -> Results:
    tables = {one.name: one.as_json() for one in answer.shown_tables}
    return cast("Results", {"measures": answer.measures, "judges": [], "tables": tables})


def answer_html(answer: VerbAnswer) -> str:
    """Return a page that stands alone, with the figures of its tables."""
    results = _results(answer)
    shown = [(section, figures(section.anchor, results)) for section in answer_sections(answer)]
    return sections_html(answer.title, shown)


def answer_markdown(answer: VerbAnswer) -> str:
    """Return the page as Markdown."""
    return sections_markdown(answer.title, answer_sections(answer))


def answer_text(answer: VerbAnswer) -> str:
    """Return the lines of a terminal."""
    kept = [table for table in answer.tables if table.name not in answer.pages_only]
    return plain_text(answer_sections(answer._replace(tables=kept, head="")))
