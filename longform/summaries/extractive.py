"""
The offline summarizer: quotes sentences that several documents repeat and the query asks for, and cites those
documents.

Every sentence is a candidate. `longform.summaries.sentence_support` says which documents support it,
`longform.summaries.query_relevance` describes its relevance, and a small ranker of boosted trees, fitted on gold maps,
puts the candidates in order. They are taken greedily, each against its likeness to what was taken: the same words or
meaning from the same documents. A bullet cites the documents that maximise the expected F1 of its citations.

No language model writes anything: bullets are sentences of the documents, made to stand alone by rule. Conclusions that
no document states are never found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.models import models_version, read_model
from longform.summaries.query_relevance import FEATURES, VectorQuery, relevance
from longform.summaries.sentence_support import Embed, SentenceSupport, candidates
from longform.support.model import SupportModel

Array = NDArray[np.float64]

VERSION = "5"
"""Changes with any change of what the code extracts, prose and support included."""

_POOL = 400
_LIKENESS_COSTS = 0.8
_TOO_ALIKE = 0.6
_ALIKE, _SAME_DOCUMENTS = 0.42, 0.75
_DIGITS = 6


class Extractor:
    """Numbered documents, read once and asked any number of times. Their order changes nothing."""

    def __init__(
        self, documents: Sequence[tuple[int, str]], embed: Embed, *, model: SupportModel, ranker: TreeEnsemble
    ) -> None:
        ordered = sorted(documents)
        self.numbers = np.array([number for number, _ in ordered], dtype=np.int64)
        self.support = SentenceSupport([text for _, text in ordered], embed, model)
        self._ranker = ranker
        self._usable, self._preferred = candidates(self.support)

    def extract(self, query: VectorQuery, n_bullets: int, max_words: int) -> list[tuple[str, list[int]]]:
        """
        Return at most *n_bullets* sentences of at most *max_words* words together, best first, each with the numbers it
        cites.

        Questions, talk and sentences that open with a dangling word come only if nothing else is left, and so do those
        that probably fewer than three documents support.
        """
        chosen = [place for place, _ in self.ranked_choice(query, n_bullets, max_words)]
        return [(self.support.statements[i], self.numbers[self.support.cited[i]].tolist()) for i in chosen]

    def ranked_choice(self, query: VectorQuery, n_bullets: int, max_words: int) -> list[tuple[int, float]]:
        """Return the places of the sentences that `extract` quotes, in order, each with its score."""
        if not self.support.statements:
            return []
        features = relevance(self.support, query)
        scores = np.zeros(len(features))
        chosen: list[int] = []
        for allowed in (self._preferred, self._usable & ~self._preferred):
            if len(chosen) == n_bullets:
                break
            pool = np.flatnonzero(allowed)
            scores[pool] = np.round(self._ranker.predict(features[pool]), _DIGITS)
            pool = pool[np.argsort(-scores[pool], kind="stable")][:_POOL]
            self._choose(chosen, pool, scores, n_bullets, max_words)
        return [(place, float(scores[place])) for place in chosen]

    def _choose(
        self, chosen: list[int], pool: NDArray[np.int64], scores: Array, n_bullets: int, max_words: int
    ) -> None:
        n_words = self.support.n_words[pool]
        left = max_words - int(self.support.n_words[chosen].sum())
        cost, out = np.zeros(len(pool)), np.zeros(len(pool), dtype=bool)
        for taken in chosen:
            self._mark(taken, pool, cost, out)
        while len(chosen) < n_bullets:
            fits = ~out & (n_words <= left)
            if not fits.any():
                return
            best = int(np.where(fits, np.round(scores[pool] - _LIKENESS_COSTS * cost, _DIGITS), -np.inf).argmax())
            left -= int(n_words[best])
            chosen.append(int(pool[best]))
            self._mark(chosen[-1], pool, cost, out)

    def _mark(self, taken: int, pool: NDArray[np.int64], cost: Array, out: NDArray[np.bool_]) -> None:
        """
        Lower the others in *pool* by the cost of taking a sentence, and mark those it makes
        superfluous, in place.
        """
        alike, same_documents = self._likeness(taken, pool)
        np.maximum(cost, alike * same_documents, out=cost)
        out |= (alike > _TOO_ALIKE) | ((alike > _ALIKE) & (same_documents > _SAME_DOCUMENTS))

    def _likeness(self, taken: int, pool: NDArray[np.int64]) -> tuple[Array, Array]:
        # of words and meaning: half shared weight / smaller weight, half cosine; and of the supporting documents
        support = self.support
        shared = support.shared_mass(taken, pool)
        by_words = shared / np.maximum(np.minimum(support.weights[taken], support.weights[pool]), 1e-9)
        alike = (by_words + support.vectors[pool] @ support.vectors[taken]) / 2
        probability = support.probability[pool]
        both = np.minimum(probability, support.probability[taken]).sum(axis=1)
        fewer = np.minimum(support.n_expected[pool], support.n_expected[taken])
        return np.round(alike, _DIGITS), np.round(both / np.maximum(fewer, 1e-9), _DIGITS)


@cache
def shipped_ranker() -> TreeEnsemble:
    """Return the ranker in `longform/models/`; `longform train ranker` re-makes it."""
    ranker = TreeEnsemble.from_json(read_model("ranker")["model"])
    if ranker.features != FEATURES:
        raise ValueError(
            f"models/ranker.json reads {ranker.features}, expected {FEATURES}; run `longform train ranker`"
        )
    return ranker


def extractor_version() -> str:
    """Return a text that changes with any change of the extraction: of the code, or of the models that ship."""
    return f"{VERSION}+{models_version('support_vectors', 'ranker')}"


def bullet_lines(extracted: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Return the summary's text: `- Sentence. [3][17]`, one a line."""
    return "\n".join(f"- {text} {''.join(f'[{number}]' for number in numbers)}" for text, numbers in extracted)


# ---------------------------------------------------------------- boosted trees, as text with all that prediction needs

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
