"""Reach of the support model on haystacks it was not fitted on: documents of insights, citations of systems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from lab.fits.haystacks import GoldHaystack
from lab.fits.reach import INTERVALS
from lab.fits.support import SetQuality, fit_support, found_quality, set_quality
from longform.judges.card_columns import Reach, reach_of
from longform.metrics.coverage import score_summary
from longform.metrics.measure import Score, Verdict
from longform.metrics.statistics import pooled_mean
from longform.repair.by_matrix import repaired_texts
from longform.rows import LabelRow, SummaryRow
from longform.support.feedback import Readers, read_twice
from longform.support.model import Kind, SupportModel, expected_f1_sets
from longform.text.citations import bullets

KINDS: tuple[Kind, ...] = ("words", "vectors", "words_and_gap")
"""The models that ship."""

_READ_ONCE: tuple[Kind, ...] = ("words", "vectors")

MAIN_SYSTEMS = ("claude3-opus", "gemini-1.5-pro", "gpt-4o")
MAIN_SETTINGS = ("full", "rerank3", "oracle")
"""The nine cells of released systems whose citations are repaired and averaged."""


def support_without(haystacks: Sequence[GoldHaystack], kind: Kind, left_out: str) -> SupportModel:
    """The model fitted on all haystacks but one."""
    return fit_support([haystack.claims for haystack in haystacks], kind, left_out=[left_out])


def readers_without(haystacks: Sequence[GoldHaystack], left_out: str) -> Readers:
    """Both models of a claim that is read twice, fitted on all haystacks but one."""
    return Readers(support_without(haystacks, "words", left_out), support_without(haystacks, "words_and_gap", left_out))


def document_reach(haystacks: Sequence[GoldHaystack]) -> list[Reach]:
    """Mean F1 of the documents found for each insight, by domain, each haystack by a model fitted on the others."""
    found = []
    for reading, quality_of in _READINGS.items():
        quality = {h: quality_of(h, haystacks) for h in haystacks}
        for domain in sorted({haystack.domain for haystack in haystacks}):
            members = [haystack for haystack in haystacks if haystack.domain == domain]
            f1 = np.concatenate([quality[haystack].f1 for haystack in members])
            clusters = [query_id for haystack in members for query_id in haystack.claims.query_ids]
            estimate = pooled_mean(f1, np.ones_like(f1), clusters, **INTERVALS)
            measure = f"documents found for an insight, by {reading}: F1"
            found.append(reach_of(measure, estimate, fitted_on=_OTHERS, scored_on=f"{domain} ({len(members)})"))
    return found


def _once(kind: Kind, haystack: GoldHaystack, haystacks: Sequence[GoldHaystack]) -> SetQuality:
    return found_quality(haystack.claims, support_without(haystacks, kind, haystack.haystack_id))


def _twice(haystack: GoldHaystack, haystacks: Sequence[GoldHaystack]) -> SetQuality:
    readers = readers_without(haystacks, haystack.haystack_id)
    probability = read_twice([target.text for target in haystack.targets], haystack.index, readers)
    return set_quality(expected_f1_sets(probability), haystack.claims.gold)


_READINGS: dict[str, Callable[[GoldHaystack, Sequence[GoldHaystack]], SetQuality]] = {
    **{kind: partial(_once, kind) for kind in _READ_ONCE},
    "words read twice": _twice,
}
"""Maps a reading to the quality of what it finds on a haystack, fitted on the others of those given."""

_OTHERS = "gold maps of the other haystacks"


def citation_reach(
    haystacks: Sequence[GoldHaystack], summaries: Iterable[SummaryRow], labels: Mapping[str, Sequence[LabelRow]]
) -> list[Reach]:
    """
    Citation and joint score of released systems, before and after repair, as means over the cells.

    Args:
        haystacks: Each one's citations are repaired by a model fitted on the others.
        summaries: Rows of the released summaries.
        labels: Summary id -> its released labels; a summary without any is left aside.
    """
    chosen = [
        row
        for row in summaries
        if row["summarizer"] in MAIN_SYSTEMS and row["setting"] in MAIN_SETTINGS and row["summary_id"] in labels
    ]
    if not chosen:
        return []  # a benchmark without these systems has nothing to repair
    by_haystack = {h.haystack_id: [row for row in chosen if row["haystack_id"] == h.haystack_id] for h in haystacks}
    figures: list[tuple[SummaryRow, str, Sequence[Score]]] = []
    for haystack in haystacks:
        rows = by_haystack[haystack.haystack_id]
        readers = readers_without(haystacks, haystack.haystack_id)
        texts = [row["text"] or "" for row in rows]
        numbers = [document.number for document in haystack.documents]
        repaired = repaired_texts(texts, haystack.index, numbers, readers)
        gold = haystack.gold_numbers()
        for row, before, after in zip(rows, texts, repaired, strict=True):
            figures += [
                (row, when, score_summary(_read(labels[row["summary_id"]]), bullets(text), gold, partial_score=0.5))
                for when, text in (("as released", before), ("by matrix", after))
            ]
    return [
        _mean_of_cells(figures, when, measure)
        for measure in ("citation", "joint")
        for when in ("as released", "by matrix")
    ]


def _read(labels: Sequence[LabelRow]) -> list[Verdict]:
    return [Verdict(row["target_id"], row["answer"], linked_unit=row["linked_unit"]) for row in labels]


def _mean_of_cells(figures: Sequence[tuple[SummaryRow, str, Sequence[Score]]], when: str, measure: str) -> Reach:
    scored = [
        (row, next(score for score in scores if score.measure == measure)) for row, at, scores in figures if at == when
    ]
    sizes: dict[tuple[str, str], int] = {}
    for row, score in scored:
        cell = (row["summarizer"], row["setting"])
        sizes[cell] = sizes.get(cell, 0) + score.n
    # each insight weighs so that each cell counts the same
    weights = np.array([1 / sizes[row["summarizer"], row["setting"]] for row, _ in scored])
    totals = np.array([score.total for _, score in scored]) * weights
    counts = np.array([score.n for _, score in scored]) * weights
    estimate = pooled_mean(100 * totals, counts, [row["query_id"] for row, _ in scored], **INTERVALS)
    haystack_count = len({row["haystack_id"] for row, _ in scored})
    estimate = estimate._replace(n=sum(score.n for _, score in scored))
    return reach_of(
        f"citations {when}, mean of {len(sizes)} cells: {measure}",
        estimate,
        fitted_on="nothing" if when == "as released" else _OTHERS,
        scored_on=f"released systems, {haystack_count} haystacks",
    )
