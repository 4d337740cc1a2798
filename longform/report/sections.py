"""The sections of a report, and the figures of each: which there are, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from longform.report.pair_chooser import choosers
from longform.report.parts import Section
from longform.report.plots import Plot
from longform.report.provenance import audit_sections, benchmark_tables, provenance_section
from longform.report.repair import repair_sections
from longform.report.result_figures import figures_of, table_figures
from longform.report.result_tables import table_sections
from longform.report.scores import citation_sections, every_cell, score_figures, score_sections
from longform.report.shown_names import models_told
from longform.report.tables import cut_wide
from longform.results.results import Results
from longform.tables.table import Table


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
    The sections that *results* has anything for, in reading order; the first with tables names models and scale.

    Raises:
        LongformError: `title` or `aggregate` is missing or not one of the known words.
    """
    candidates = [section for made in SECTIONS for section in made(results)]
    shown = [
        section._replace(
            tables=[
                part._replace(caption=f"{pooled_words(results, section.anchor)}{part.caption}")
                for table in section.tables
                for part in cut_wide(table)
            ]
        )
        for section in candidates
        if section.tables or section.listing or section.paragraphs
    ]
    first = next((section for section in shown if section.tables), None)
    told = [*models_told(results), _SCALE]
    return [one._replace(paragraphs=[*told, *one.paragraphs]) if one is first else one for one in shown]


_SCALE = "Scores and shares are from 0 to 100, and higher is better, unless a table says otherwise."
_NOT_OF_DATA = frozenset(
    {
        "table-judges",
        "retest",
        "audit",
        "made",
        "unscored",
        "table-calls",
        "table-missing-ledgers",
        "table-several-models",
    }
)
"""Anchors of sections whose tables are of no data set."""


def pooled_words(results: Results, anchor: str) -> str:
    """Name the data sets that a section pools, to stand before a caption; empty if each stands apart."""
    pooled = results.get("pooled_datasets") or []
    if not pooled or anchor in _NOT_OF_DATA:
        return ""
    return f"Data sets pooled: {', '.join(pooled)}. "


_DRAWN: Mapping[str, Callable[[Results], Iterable[Table]]] = {"scores": score_figures, "audit": benchmark_tables}
"""Anchor of a section of no single table -> the tables whose figures it shows."""


def figures(anchor: str, results: Results) -> list[Plot]:
    """The figures of the section *anchor*; ids are numbered, as names of judges and systems are anyone's text."""
    pooled = pooled_words(results, anchor)
    drawn = enumerate(_DRAWN[anchor](results) if anchor in _DRAWN else ())
    found = [plot for number, table in drawn for plot in figures_of(results, table, name=f"{anchor}-{number}-")]
    return [plot._replace(caption=f"{pooled}{plot.caption}") for plot in (*found, *table_figures(anchor, results))]
