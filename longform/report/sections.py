"""The sections of a report: which there are, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from longform.report.audit import audit_sections
from longform.report.calls import calls_sections
from longform.report.comparisons import comparison_sections
from longform.report.cost import cost_sections
from longform.report.elsewhere import elsewhere_sections
from longform.report.models_told import models_told
from longform.report.orders import order_sections
from longform.report.parts import Section, as_shown, card_words, judge_cell, judge_line
from longform.report.perturbed import perturbed_tables
from longform.report.pooling import pooled_told
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


def _models(results: Results) -> Iterator[Section]:
    yield Section("models", "Several models under one name", _several_models(results), [])


def _several_models(results: Results) -> list[str]:
    """One sentence a summarizer and data set."""
    rows = results.get("several_models") or []
    names = [row["summarizer"] + (f" on {row['dataset']}" if row["dataset"] else "") for row in rows]
    return [
        f"{name}: its summaries were written by "
        f"{len(row['models'])} models, as the provider answered: "
        f"{', '.join(f'{model} ({n})' for model, n in row['models'].items())}. Its rows pool them; name one version "
        "of the model in the configuration, or give each version a summarizer of its own, to tell them apart."
        for name, row in zip(names, rows, strict=True)
    ]


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
    _models,
    score_sections,
    comparison_sections,
    order_sections,
    table_sections,
    cost_sections,
    retrieval_sections,
    against_sections,
    citation_sections,
    repair_sections,
    elsewhere_sections,
    every_cell,
    _judges,
    audit_sections,
    calls_sections,
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
