"""The sections of a report: which there are, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from longform.report.audit import audit_sections
from longform.report.models_told import models_told
from longform.report.pair_chooser import choosers
from longform.report.parts import Section, as_shown, judge_line
from longform.report.pooling import pooled_told
from longform.report.provenance import provenance_section
from longform.report.repair import repair_sections
from longform.report.result_tables import table_sections
from longform.report.scores import citation_sections, every_cell, score_sections
from longform.results.results import Results


def _unscored(results: Results) -> Iterator[Section]:
    told = [*(results.get("read") or []), *(results.get("unscored") or [])]
    yield Section("unscored", "How texts were read, and what is not scored", told, [])


def _judged(results: Results) -> Iterator[Section]:
    yield Section("judged", "Documents that were judged", results.get("rankings_told") or [], [], page="retrieval")


def sections_of_tables(results: Results) -> Iterator[Section]:
    """Yield the sections of tables, those of pairs with what lets a reader pick two."""
    offered = choosers(results)
    for section in table_sections(results):
        yield section._replace(chooser=offered.get(section.anchor))


SECTIONS: tuple[Callable[[Results], Iterable[Section]], ...] = (
    _unscored,
    score_sections,
    sections_of_tables,
    citation_sections,
    repair_sections,
    _judged,
    every_cell,
    audit_sections,
    lambda results: [provenance_section(results)],
)
"""In reading order; each gives what the results have for it."""


def sections(results: Results) -> list[Section]:
    """
    The sections that *results* has anything for, in reading order.

    Raises:
        LongformError: `title` or `aggregate` is missing or not one of the known words.
    """
    candidates = [section for made in SECTIONS for section in made(results)]
    shown = [
        section._replace(tables=[pooled_told(results, section.anchor, as_shown(table)) for table in section.tables])
        for section in candidates
        if section.tables or section.listing or section.paragraphs
    ]
    return _with_models(results, _with_judges(results, shown))


_SCALE = "Scores and shares are from 0 to 100, and higher is better, unless a table says otherwise."


def _with_models(results: Results, shown: Sequence[Section]) -> list[Section]:
    """Name the models, and the scale of all figures, at the head of the first section with tables."""
    first = next((section for section in shown if section.tables), None)
    told = [*models_told(results), _SCALE]
    return [one._replace(paragraphs=[*told, *one.paragraphs]) if one is first else one for one in shown]


def _with_judges(results: Results, shown: Sequence[Section]) -> list[Section]:
    """Mark the tables whose captions name a judge, so that a page leads to what it is worth."""
    lines = [judge_line(results, row["judge"]) for row in results.get("judges") or []]
    return [
        section._replace(
            tables=[
                table._replace(judged=any(line in table.caption or line in table.how for line in lines))
                for table in section.tables
            ]
        )
        for section in shown
    ]
