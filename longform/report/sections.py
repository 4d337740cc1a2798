"""The sections of a report, and the figures of each: which there are, in which order, and examples of repair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from longform.report.how_it_ran import ANCHOR, flow_sections, flow_tables
from longform.report.page_data import choosers
from longform.report.parts import Section
from longform.report.plots import Plot
from longform.report.provenance import audit_sections, benchmark_tables, provenance_section
from longform.report.result_figures import figures_of, table_figures
from longform.report.result_tables import table_sections
from longform.report.scores import citation_sections, every_cell, score_figures, score_sections
from longform.report.shown_names import models_told
from longform.report.tables import cut_wide
from longform.results.repaired_examples import Example, examples_in
from longform.results.results import Results
from longform.tables.table import Table

Side = Literal["before", "after"]
SIDES: dict[Side, str] = {"before": "As written", "after": "Supporting documents found"}
DocumentOf = Callable[[Example, Side, str], str | None]
"""Finds the address of a document of an example, by its number; None: it has none."""


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


def repair_sections(results: Results) -> Iterator[Section]:
    """One section if citations of bullets were repaired that cover an insight, else none."""
    if examples := examples_in(results.get("tables") or {}):
        told = (
            "Some bullets that became better, worse, and stayed, drawn by a hash; a document is right where it is one "
            "of those that state the insight."
        )
        yield Section("repair", "Bullets before and after repair", [told], [], examples=examples, page="citations")


SECTIONS: tuple[Callable[[Results], Iterable[Section]], ...] = (
    _unscored,
    score_sections,
    sections_of_tables,
    citation_sections,
    repair_sections,
    _judged,
    every_cell,
    audit_sections,
    flow_sections,
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
        ANCHOR,
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


_DRAWN: Mapping[str, Callable[[Results], Iterable[Table]]] = {
    "scores": score_figures,
    "audit": benchmark_tables,
    ANCHOR: flow_tables,
}
"""Anchor of a section of no single table -> the tables whose figures it shows."""


def figures(anchor: str, results: Results) -> list[Plot]:
    """The figures of the section *anchor*; ids are numbered, as names of judges and systems are anyone's text."""
    pooled = pooled_words(results, anchor)
    drawn = enumerate(_DRAWN[anchor](results) if anchor in _DRAWN else ())
    found = [plot for number, table in drawn for plot in figures_of(results, table, name=f"{anchor}-{number}-")]
    return [plot._replace(caption=f"{pooled}{plot.caption}") for plot in (*found, *table_figures(anchor, results))]


# ---------------------------------------------------------------- examples of repair


def example_head(example: Example) -> str:
    """Say in a line what an example shows."""
    before, after = (f"{100 * share:.0f}" for share in (example["f1_before"], example["f1_after"]))
    return f"{example['kind']}: citation score {before} to {after} · {example['summarizer']}, {example['setting']}"


def chips(example: Example, side: Side) -> list[tuple[str, str, Sequence[str]]]:
    """Return the documents cited rightly, wrongly, and not though they state the insight: kind, words and numbers."""
    cited, gold = example[side], example["gold"]
    numbers = {
        "right": [number for number in cited if number in gold],
        "wrong": [number for number in cited if number not in gold],
        "missing": [number for number in gold if number not in cited],
    }
    return [
        (kind, f"{mark} {len(found)} {one if len(found) == 1 else several}:", found)
        for (kind, (mark, one, several)), found in zip(_CHIPS.items(), numbers.values(), strict=True)
        if found
    ]


_CHIPS = {
    "right": ("✓", "right citation", "right citations"),
    "wrong": ("✗", "wrong citation", "wrong citations"),
    "missing": ("○", "document not cited that states it", "documents not cited that state it"),
}


def evidence_line(example: Example) -> str:
    """Name the document of the quoted sentences, or say why there are none."""
    number = example["evidence_document"]
    if number is None:
        return "No document supports this bullet, so it cites none."
    right = "states the insight" if str(number) in example["gold"] else "not among those that state the insight"
    return f"Document {number} ({right}) supports it best:"


def markdown_examples(section: Section) -> list[tuple[str, list[str]]]:
    """Each example's head and its lines, not yet escaped."""
    return [(example_head(example), [*_lines(example)]) for example in section.examples]


def _lines(example: Example) -> Iterator[str]:
    yield f"Bullet: {example['bullet']}"
    yield f"Insight: {example['insight']}"
    for side, name in SIDES.items():
        cited = (f"{words} {', '.join(numbers)}" for _, words, numbers in chips(example, side))
        yield f"{name}: {'; '.join(cited)}"
    yield f"{evidence_line(example)} {example['evidence'] or ''}".rstrip()
