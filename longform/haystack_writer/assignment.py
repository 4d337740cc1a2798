"""Which document states which insights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from longform.errors import UsageError

MIN_DOCUMENTS = 5
"""Documents that state each insight, at least (SummHay, section 3.1)."""

InsightPlace = tuple[int, int]
"""Subtopic index, insight index within it."""


def assign_insights(
    sizes: Sequence[int],
    *,
    documents: int,
    subtopics_per_document: int,
    insights_per_document: int,
    rng: np.random.Generator,
) -> list[list[InsightPlace]]:
    """
    For each document the insights it states, in no order.

    A document takes as many from each of its subtopics. Each insight is dealt to `MIN_DOCUMENTS` documents first,
    what room is left is filled at random.

    Args:
        sizes: Insights of each subtopic.
        documents: How many there are.
        subtopics_per_document: How many subtopics a document speaks of.
        insights_per_document: How many insights it states, a multiple of the subtopics.
        rng: The source of chance.

    Raises:
        UsageError: The numbers do not fit, or leave an insight in fewer than `MIN_DOCUMENTS` documents.
    """
    share = _share(sizes, subtopics_per_document, insights_per_document)
    needed = _visits_needed(sizes, share, documents, subtopics_per_document)
    visits = np.zeros(len(sizes), dtype=np.int64)
    counts = [np.zeros(size, dtype=np.int64) for size in sizes]
    assigned = []
    for _ in range(documents):
        subtopics = _choose(visits, subtopics_per_document, least=needed, rng=rng)
        places = [(int(s), int(i)) for s in subtopics for i in _choose(counts[s], share, least=MIN_DOCUMENTS, rng=rng)]
        assigned.append(places)
    return [assigned[i] for i in rng.permutation(documents)]


def _choose(counts: NDArray[np.int64], n: int, *, least: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """*n* places at random, those with the lowest counts as long as one has fewer than *least*; they are counted."""
    order = rng.permutation(len(counts))
    if counts.min() < least:
        order = order[np.argsort(counts[order], kind="stable")]
    chosen = order[:n]
    counts[chosen] += 1
    return chosen


def _share(sizes: Sequence[int], subtopics_per_document: int, insights_per_document: int) -> int:
    """Insights that a document takes from each of its subtopics."""
    share, rest = divmod(insights_per_document, subtopics_per_document)
    if rest or not 1 <= share <= min(sizes) or subtopics_per_document > len(sizes):
        msg = (
            f"insights_per_document {insights_per_document}, subtopics_per_document {subtopics_per_document}: expected "
            f"at most {len(sizes)} subtopics a document and of each the same number of insights, 1 to {min(sizes)}"
        )
        raise UsageError(msg)
    return share


def _visits_needed(sizes: Sequence[int], share: int, documents: int, subtopics_per_document: int) -> int:
    """Documents that must speak of each subtopic, so that each of its insights is stated often enough."""
    needed = -(-max(sizes) * MIN_DOCUMENTS // share)
    visits = documents * subtopics_per_document // len(sizes)
    if visits < needed:
        msg = (
            f"{documents} documents x {subtopics_per_document} subtopics each / {len(sizes)} subtopics = {visits} "
            f"documents a subtopic, but {max(sizes)} insights x {MIN_DOCUMENTS} documents each / {share} insights a "
            f"document = {needed}; ask for {-(-needed * len(sizes) // subtopics_per_document)} documents or more "
            "insights a document"
        )
        raise UsageError(msg)
    return needed
