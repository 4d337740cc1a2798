"""Assign insights to the documents that state them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import UsageError

_EXCHANGES = 5  # for each pair of document and insight

InsightPlace = tuple[int, int]
"""Subtopic index, insight index within it."""


def assign_insights(
    sizes: Sequence[int],
    *,
    documents: int,
    subtopics_per_document: int,
    insights_per_document: int,
    least_documents: int,
    rng: np.random.Generator,
) -> list[list[InsightPlace]]:
    """
    For each document the insights it states, in no order.

    A document takes as many from each of its subtopics, whose numbers of insights are *sizes*. Each insight is dealt to
    *least_documents* documents first (SummHay, section 3.2: 5), what room is left is filled at random.

    Raises:
        UsageError: The numbers do not fit, or leave an insight in fewer documents; the message has the arithmetic.
    """
    share = _share(sizes, subtopics_per_document, insights_per_document)
    needed = _visits_needed(sizes, share, documents, subtopics_per_document, least_documents)
    visits = np.zeros(len(sizes), dtype=np.int64)
    counts = [np.zeros(size, dtype=np.int64) for size in sizes]
    assigned = []
    for _ in range(documents):
        subtopics = _choose(visits, subtopics_per_document, least=needed, rng=rng)
        chosen = [(s, _choose(counts[s], share, least=least_documents, rng=rng)) for s in subtopics]
        assigned.append([(int(s), int(i)) for s, insights in chosen for i in insights])
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


def _visits_needed(
    sizes: Sequence[int], share: int, documents: int, subtopics_per_document: int, least_documents: int
) -> int:
    """Documents that must speak of each subtopic, so that each of its insights is stated often enough."""
    needed = -(-max(sizes) * least_documents // share)
    visits = documents * subtopics_per_document // len(sizes)
    if visits < needed:
        msg = (
            f"{documents} documents x {subtopics_per_document} subtopics each / {len(sizes)} subtopics = {visits} "
            f"documents a subtopic, but {max(sizes)} insights x {least_documents} documents each / {share} insights a "
            f"document = {needed}; ask for {-(-needed * len(sizes) // subtopics_per_document)} documents or more "
            "insights a document"
        )
        raise UsageError(msg)
    return needed


# ---------------------------------------------------------------- within bounds


class Bounds(NamedTuple):
    """Lowest and highest, both allowed."""

    least: int
    most: int


def assign_within(
    n_insights: int, *, documents: int, per_document: Bounds, per_insight: Bounds, rng: np.random.Generator
) -> list[list[int]]:
    """
    For each document the insights it states, each at most once and within both bounds; in ascending order.

    Every assignment within the bounds can come. Counts are drawn first; a bipartite graph with these counts is built
    (each document takes the insights that need most documents, which succeeds whenever any graph exists), and then
    mixed by exchanges that keep all counts.

    Raises:
        UsageError: No assignment meets the bounds; the message has the arithmetic.
    """
    n_cells = n_statements(n_insights, documents=documents, per_document=per_document, per_insight=per_insight)
    given = _counts(documents, per_document, n_cells, rng)
    needed = _counts(n_insights, per_insight, n_cells, rng)
    if not _realizable(given, needed):
        # counts that differ by one at most always have a graph
        given, needed = _even_counts(documents, n_cells, rng), _even_counts(n_insights, n_cells, rng)
    return [sorted(taken) for taken in _mixed(_graph(given, needed, rng), rng)]


def n_statements(n_insights: int, *, documents: int, per_document: Bounds, per_insight: Bounds) -> int:
    """
    Return how many pairs of document and insight `assign_within` deals: the middle of the range that the bounds allow.

    Raises:
        UsageError: As `assign_within`.
    """
    for bounds, largest, what in (
        (per_document, n_insights, f"insights a document, of {n_insights} insights"),
        (per_insight, documents, f"documents an insight, of {documents} documents"),
    ):
        if not 0 <= bounds.least <= bounds.most <= largest:
            raise UsageError(f"{_span(*bounds)} {what}: expected 0 <= least <= most <= {largest}")
    low, high = (
        max(documents * per_document.least, n_insights * per_insight.least),
        min(documents * per_document.most, n_insights * per_insight.most),
    )
    if low > high:
        raise UsageError(_arithmetic(n_insights, documents, per_document, per_insight))
    middle = documents * (per_document.least + per_document.most) // 2
    return min(max(middle, low), high)


def _arithmetic(n_insights: int, documents: int, per_document: Bounds, per_insight: Bounds) -> str:
    few, many = documents * per_document.least, documents * per_document.most
    least, most = n_insights * per_insight.least, n_insights * per_insight.most
    told = (
        f"{documents} documents x {_span(*per_document)} insights = {_span(few, many)} statements, "
        f"but {n_insights} insights x {_span(*per_insight)} documents = {_span(least, most)}"
    )
    if many < least:
        enough = f"{-(-least // max(1, per_document.most))} documents or {-(-least // documents)} insights a document"
        return f"{told}; ask for {enough}"
    wanted = -(-few // n_insights)
    return f"{told}; let an insight stand in {wanted} documents, or ask for fewer insights a document"


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _counts(n: int, bounds: Bounds, total: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """*n* numbers within *bounds* that sum to *total*."""
    counts = np.full(n, bounds.least, dtype=np.int64)
    for _ in range(total - int(counts.sum())):
        open_places = np.flatnonzero(counts < bounds.most)
        counts[open_places[int(rng.integers(len(open_places)))]] += 1
    return counts


def _even_counts(n: int, total: int, rng: np.random.Generator) -> NDArray[np.int64]:
    each, rest = divmod(total, n)
    return rng.permutation(np.array([each + (place < rest) for place in range(n)], dtype=np.int64))


def _realizable(given: NDArray[np.int64], needed: NDArray[np.int64]) -> bool:
    """Return whether a bipartite graph has these counts (Gale and Ryser, 1957)."""
    ordered = np.sort(given)[::-1]
    return all(int(ordered[:k].sum()) <= int(np.minimum(needed, k).sum()) for k in range(1, len(ordered) + 1))


def _graph(given: NDArray[np.int64], needed: NDArray[np.int64], rng: np.random.Generator) -> list[set[int]]:
    left = needed.copy()
    taken: list[set[int]] = []
    for count in given:
        order = rng.permutation(len(left))
        chosen = order[np.argsort(-left[order], kind="stable")][:count]
        left[chosen] -= 1
        taken.append({int(place) for place in chosen})
    assert not left.any(), "counts that have a graph are used up by it"
    return taken


def _mixed(taken: list[set[int]], rng: np.random.Generator) -> list[set[int]]:
    """After many exchanges of one insight each between two documents."""
    for one, other in rng.integers(len(taken), size=(_EXCHANGES * sum(map(len, taken)), 2)):
        gives, gets = sorted(taken[one] - taken[other]), sorted(taken[other] - taken[one])
        if gives and gets:
            given, got = gives[int(rng.integers(len(gives)))], gets[int(rng.integers(len(gets)))]
            taken[one] ^= {given, got}
            taken[other] ^= {given, got}
    return taken
