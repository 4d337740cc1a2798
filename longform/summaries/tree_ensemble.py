"""Boosted regression trees as text, with all that prediction needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LEAF = -1
_BLOCK_ROWS = 128  # so that the places in all trees stay in the processor's cache


class Tree(NamedTuple):
    """Nodes in one array each, the root first. A row goes left if its feature is at most the threshold."""

    feature: NDArray[np.int64]  # -1: a leaf
    threshold: Array
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Array  # of a leaf

    def depth(self, node: int = 0) -> int:
        """Return how many conditions a row passes at most from a node to a leaf."""
        if self.feature[node] == _LEAF:
            return 0
        return 1 + max(self.depth(int(self.left[node])), self.depth(int(self.right[node])))


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """A sum of trees over named features."""

    features: tuple[str, ...]  # names of the columns, in order
    baseline: float  # added to the sum of the trees
    trees: tuple[Tree, ...]

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
        nodes, (roots, depth) = self._nodes, self._roots
        own = np.arange(len(rows))[:, None]
        at = np.broadcast_to(roots, (len(rows), len(roots)))  # node that each row has reached in each tree
        for _ in range(depth):
            stays_left = rows[own, nodes.feature[at]] <= nodes.threshold[at]
            at = np.where(stays_left, nodes.left[at], nodes.right[at])
        return np.asarray(nodes.value[at].sum(axis=1))

    @cached_property
    def _nodes(self) -> Tree:
        # of all trees behind one another; a leaf leads to itself
        columns = [_self_leading(tree, top) for tree, top in zip(self.trees, self._roots[0].tolist(), strict=True)]
        return Tree(*(np.concatenate(column) for column in zip(*columns, strict=True))) if columns else _tree([[0.0]])

    @cached_property
    def _roots(self) -> tuple[NDArray[np.int64], int]:
        # place of each tree's root among all nodes, and the depth of the deepest tree
        sizes = [len(tree.feature) for tree in self.trees]
        return np.cumsum([0, *sizes[:-1]])[: len(sizes)], max((tree.depth() for tree in self.trees), default=0)

    def as_json(self) -> dict[str, Any]:
        """Return each tree as a list of nodes: [feature, threshold, left, right], or [value] for a leaf."""
        return {"features": list(self.features), "baseline": self.baseline, "trees": [_nodes(t) for t in self.trees]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TreeEnsemble:
        trees = tuple(_tree(nodes) for nodes in document["trees"])
        return cls(tuple(document["features"]), document["baseline"], trees)


def _self_leading(tree: Tree, top: int) -> Tree:
    """Return the tree's nodes at places from *top* on; leaves lead to themselves."""
    leaf, own = tree.feature == _LEAF, np.arange(len(tree.feature))
    left, right = (top + np.where(leaf, own, side) for side in (tree.left, tree.right))
    return tree._replace(feature=np.where(leaf, 0, tree.feature), left=left, right=right)


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
