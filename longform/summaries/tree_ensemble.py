"""
Boosted regression trees as text, with all that prediction needs.

Trees are read by QuickScorer (Lucchese et al., QuickScorer: A Fast Algorithm to Rank Documents with Additive Ensembles
of Regression Trees, SIGIR 2015): each condition that a row fails closes the leaves on its left, and of the leaves left
open a row exits by the first. Feature by feature, one look-up closes leaves in all trees at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LEAF = -1
_MOST_LEAVES = 32
_ALL_OPEN = np.uint32(2**_MOST_LEAVES - 1)
_BLOCK_ROWS = 128
"""So that what is open in all trees stays in the processor's cache."""


class Tree(NamedTuple):
    """Nodes in one array each, the root first. A row goes left if its feature is at most the threshold."""

    feature: NDArray[np.int64]  # -1: a leaf
    threshold: Array
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Array  # of a leaf

    def leaves(self, node: int = 0) -> list[int]:
        """Return the leaves under a node, from left to right."""
        if self.feature[node] == _LEAF:
            return [node]
        return self.leaves(int(self.left[node])) + self.leaves(int(self.right[node]))


class _Condition(NamedTuple):
    """A condition that closes some leaves of a tree to rows whose feature is above the threshold."""

    feature: int
    threshold: float
    tree: int
    open_leaves: int  # bits


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """
    A sum of trees of at most 32 leaves over named features.

    Attributes:
        features: Names of the columns, in order.
        baseline: What no tree adds to.

    Raises:
        ValueError: A tree has more leaves.
    """

    features: tuple[str, ...]
    baseline: float
    trees: tuple[Tree, ...]

    def __post_init__(self) -> None:
        leaves = max((int((tree.feature == _LEAF).sum()) for tree in self.trees), default=0)
        if leaves > _MOST_LEAVES:
            raise ValueError(f"expected trees of at most {_MOST_LEAVES} leaves, found one of {leaves}")

    def predict(self, rows: Array) -> Array:
        """
        Shape (rows, features) -> (rows,).

        Raises:
            ValueError: The rows have another number of columns.
        """
        if rows.shape[1] != len(self.features):
            raise ValueError(f"expected {len(self.features)} features {self.features}, got {rows.shape[1]} columns")
        blocks = [self._sums(rows[top : top + _BLOCK_ROWS]) for top in range(0, len(rows), _BLOCK_ROWS)]
        return np.asarray(self.baseline + np.concatenate(blocks)) if blocks else np.zeros(0)

    def _sums(self, rows: Array) -> Array:
        still_open = np.full((len(rows), len(self.trees)), _ALL_OPEN)
        for feature, (thresholds, open_leaves) in self._tables.items():
            # a row at a threshold goes left: it fails the conditions strictly below it
            still_open &= open_leaves[np.searchsorted(thresholds, rows[:, feature], side="left")]
        first = still_open & (~still_open + np.uint32(1))
        # the place of the only bit: the exponent of that power of two
        exits = (first.astype(np.float32).view(np.uint32) >> np.uint32(23)) - np.uint32(127)
        return np.asarray(self._values[np.arange(len(self.trees)), exits].sum(axis=1))

    @cached_property
    def _tables(self) -> dict[int, tuple[Array, NDArray[np.uint32]]]:
        # feature -> its thresholds, ascending, and the open leaves above the first n of them; (thresholds + 1, trees)
        conditions = [condition for number in range(len(self.trees)) for condition in self._conditions(number)]
        tables = {}
        for feature in sorted({condition.feature for condition in conditions}):
            own = [condition for condition in conditions if condition.feature == feature]
            thresholds = np.unique([condition.threshold for condition in own])
            open_leaves = np.full((len(thresholds) + 1, len(self.trees)), _ALL_OPEN)
            for condition in own:
                above = int(np.searchsorted(thresholds, condition.threshold)) + 1
                open_leaves[above:, condition.tree] &= np.uint32(condition.open_leaves)
            tables[feature] = (thresholds, open_leaves)
        return tables

    def _conditions(self, number: int) -> Iterator[_Condition]:
        tree = self.trees[number]
        bit = {leaf: 1 << place for place, leaf in enumerate(tree.leaves())}
        for node in np.flatnonzero(tree.feature != _LEAF).tolist():
            closed = sum(bit[leaf] for leaf in tree.leaves(int(tree.left[node])))
            yield _Condition(int(tree.feature[node]), float(tree.threshold[node]), number, int(_ALL_OPEN) & ~closed)

    @cached_property
    def _values(self) -> Array:
        # of each leaf, from left to right; (trees, leaves)
        values = np.zeros((len(self.trees), _MOST_LEAVES))
        for number, tree in enumerate(self.trees):
            leaves = tree.leaves()
            values[number, : len(leaves)] = tree.value[leaves]
        return values

    def as_json(self) -> dict[str, Any]:
        """Return each tree as a list of nodes: [feature, threshold, left, right], or [value] for a leaf."""
        return {"features": list(self.features), "baseline": self.baseline, "trees": [_nodes(t) for t in self.trees]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TreeEnsemble:
        trees = tuple(_tree(nodes) for nodes in document["trees"])
        return cls(tuple(document["features"]), document["baseline"], trees)


def _nodes(tree: Tree) -> list[list[float]]:
    return [
        [value] if feature == _LEAF else [feature, threshold, left, right]
        for feature, threshold, left, right, value in zip(*(column.tolist() for column in tree), strict=True)
    ]


def _tree(nodes: list[list[float]]) -> Tree:
    inner = [node if len(node) > 1 else [_LEAF, 0.0, 0, 0] for node in nodes]
    feature, threshold, left, right = (list(column) for column in zip(*inner, strict=True))
    values = [node[0] if len(node) == 1 else 0.0 for node in nodes]
    return Tree(
        np.array(feature, dtype=np.int64),
        np.array(threshold, dtype=np.float64),
        np.array(left, dtype=np.int64),
        np.array(right, dtype=np.int64),
        np.array(values, dtype=np.float64),
    )
