"""Answers that are several labels at once: a set of labels as one text, the labels in their kind's order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

NO_LABEL = "none"
LABEL_SEPARATOR = "+"


def label_set(stated: Collection[str], labels: Sequence[str]) -> str | None:
    """
    Return the answer that has the *stated* labels, in any order; `none`, or nothing, has none.

    Returns:
        None if a label is none of *labels*, or if `none` stands beside another.
    """
    chosen = set(stated) - {NO_LABEL}
    if not chosen <= set(labels) or (chosen and NO_LABEL in stated):
        return None
    return LABEL_SEPARATOR.join(label for label in labels if label in chosen) or NO_LABEL


def labels_in(answer: str) -> frozenset[str]:
    """Return the labels of an answer."""
    return frozenset() if answer == NO_LABEL else frozenset(answer.split(LABEL_SEPARATOR))


def label_sets(labels: Sequence[str]) -> list[str]:
    """Return all answers, `none` first."""
    chosen = (some for n in range(1, len(labels) + 1) for some in combinations(labels, n))
    return [NO_LABEL, *(LABEL_SEPARATOR.join(some) for some in chosen)]
