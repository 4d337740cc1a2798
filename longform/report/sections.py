"""The sections of a report: which there are, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from longform.report.audit import audit_sections
from longform.report.comparisons import comparison_sections
from longform.report.faithfulness import faithfulness_sections
from longform.report.models_told import models_told
from longform.report.parts import Section, as_shown, card_words, judge_cell, judge_line
from longform.report.perturbed import perturbed_tables
from longform.report.pooling import pooled_told
from longform.report.position import position_sections
from longform.report.provenance import provenance_section
from longform.report.repair import repair_sections
from longform.report.result_tables import table_sections
from longform.report.retest import retest_cell, retest_tables
from longform.report.retrieval import retrieval_sections
from longform.report.retrieval_against_generation import against_sections
from longform.report.scores import citation_sections, every_cell, score_sections
from longform.report.tables import Column, Table
from longform.results.results import Results
from longform.tables.cells import Cell


def _unscored(results: Results) -> Iterator[Section]:
    told = [*(results.get("read") or []), *(results.get("unscored") or [])]
    yield Section("unscored", "How texts were read, and what is not scored", told, [])


def _judges(results: Results) -> Iterator[Section]:
    rows = results.get("judges") or []
    if rows:
        body = [
            [judge_cell(results, row["judge"]), Cell(card_words(row)), retest_cell(results, row["judge"])]
            for row in rows
        ]
        columns = [Column(name, numeric=False) for name in ("judge", "card", "asked again")]
        if not results.get("retest"):
            columns, body = columns[:-1], [row[:-1] for row in body]
        caption = "What each judge is worth: its agreement with people's labels."
        perturbed = perturbed_tables({row["judge"]: row.get("adversarial") for row in rows})
        yield Section("judges", "Judges", [], [Table(caption, columns, body), *retest_tables(results), *perturbed])


SECTIONS: tuple[Callable[[Results], Iterable[Section]], ...] = (
    _unscored,
    score_sections,
    comparison_sections,
    position_sections,
    faithfulness_sections,
    retrieval_sections,
    against_sections,
    citation_sections,
    repair_sections,
    table_sections,
    every_cell,
    _judges,
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
