"""Which document states which insights."""

from __future__ import annotations

import numpy as np

from longform.errors import UsageError

MIN_DOCUMENTS = 5
"""Documents that state each insight, at least (SummHay, section 3.1)."""


def assign_insights(
    n_insights: int, *, documents: int, insights_per_document: int, rng: np.random.Generator
) -> list[list[int]]:
    """
    For each document the insights it states, in the order it states them.

    Each insight is dealt to `MIN_DOCUMENTS` documents first; what room is left is filled at random.

    Raises:
        UsageError: The documents have no room for that.
    """
    _check_room(n_insights, documents, insights_per_document)
    counts = np.zeros(n_insights, dtype=np.int64)
    assigned: list[list[int]] = []
    for _ in range(documents):
        order = rng.permutation(n_insights)
        if counts.min() < MIN_DOCUMENTS:
            order = order[np.argsort(counts[order], kind="stable")]
        chosen = order[:insights_per_document]
        counts[chosen] += 1
        assigned.append([int(insight) for insight in rng.permutation(chosen)])
    return [assigned[i] for i in rng.permutation(documents)]


def _check_room(n_insights: int, documents: int, insights_per_document: int) -> None:
    if not 1 <= insights_per_document <= n_insights:
        msg = f"insights_per_document: expected 1 to {n_insights}, the insights of the topic, got {insights_per_document}"
        raise UsageError(msg)
    needed, room = n_insights * MIN_DOCUMENTS, documents * insights_per_document
    if room < needed:
        msg = (
            f"{documents} documents x {insights_per_document} insights a document = {room} places, but {n_insights} "
            f"insights x {MIN_DOCUMENTS} documents each = {needed}; "
            f"ask for {-(-needed // insights_per_document)} documents or more insights a document"
        )
        raise UsageError(msg)
