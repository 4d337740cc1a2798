"""
Fit the ranker of sentences on gold maps: which sentence would cover an insight and cite its documents.

The target of a (query, sentence) is a stand-in for the joint score it would earn: the best over the query's insights
of how much of the insight it says (idf recall and cosine) times the F1 of the documents it would cite. A sentence
of a document that does not state the insight earns nothing from it. No judge and no language model's label is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from lab.fits import significant
from lab.fits.haystacks import GoldHaystack, set_f1
from longform.keys import stable_seed
from longform.summaries.extractive import Tree, TreeEnsemble
from longform.summaries.query_relevance import FEATURES, VectorQuery, relevance
from longform.summaries.sentence_support import SentenceSupport, first_candidates
from longform.support.model import SupportModel
from longform.text.words import stems, without_marks

_WORDS, _MEANING = 0.6, 0.4
_FLOOR, _SPAN, _POWER = 0.25, 0.55, 1.5
_WORTH_LEARNING = 0.02
_RISING = frozenset(FEATURES) - {"mass", "words"}

Array = NDArray[np.float64]


class GoldInsight(NamedTuple):
    """An insight as text, unit vector and the documents that state it, shape (documents,)."""

    text: str
    vector: NDArray[np.float32]
    gold: NDArray[np.bool_]


class RankedQuery(NamedTuple):
    """One query of a haystack with all its insights."""

    haystack_id: str
    support: SentenceSupport
    query: VectorQuery
    insights: Sequence[GoldInsight]


def ranked_queries(haystacks: Iterable[GoldHaystack], model: SupportModel) -> list[RankedQuery]:
    """Return the queries of all *haystacks*, whose sentences are claims that *model* reads."""
    found = []
    for haystack in haystacks:
        support = SentenceSupport([document.text for document in haystack.documents], haystack.embed, model)
        for query, targets in haystack.queries:
            insights = [
                GoldInsight(one.text, haystack.embed([one.text])[0], haystack.states(one.target_id)) for one in targets
            ]
            found.append(RankedQuery(haystack.haystack_id, support, haystack.query_text(query), insights))
    return found


class RankerRecipe(NamedTuple):
    """
    Settings of the fits whose mean is the ranker.

    Each fit learns from all rows that earn something and draws the others and the features of its trees anew: one fit
    alone is a lucky or an unlucky draw.
    """

    fits: int = 40
    trees: int = 30  # of each fit
    depth: int = 4
    rate: float = 0.2
    leaf: int = 40  # rows, at least
    others_kept: float = 0.6  # share of the rows that earn nothing


SHIPPED = RankerRecipe()


def fit_ranker(
    queries: Iterable[RankedQuery], *, left_out: Collection[str], recipe: RankerRecipe = SHIPPED
) -> TreeEnsemble:
    """
    Return the ranker fitted on the queries of all haystacks but those whose ids are *left_out*.

    The order of *queries* changes nothing. Every relevance may only raise a score (monotone trees): with a handful
    of queries to learn from, anything else is noise.

    Raises:
        ValueError: No query is left.
    """
    names, rows, targets = [], [], []
    for query in sorted(queries, key=lambda query: (query.haystack_id, query.query.text)):
        if query.haystack_id not in left_out:
            allowed = first_candidates(query.support)
            names.append((query.haystack_id, query.query.text))
            rows.append(relevance(query.support, query.query)[allowed])
            targets.append(earned(query)[allowed])
    if not names:
        raise ValueError("no query is left to fit the ranker on")
    features, target = np.concatenate(rows), np.concatenate(targets)
    models = []
    for fit in range(recipe.fits):
        seeds = [stable_seed("rows of the ranker", fit, *name) for name in names]
        chance = [np.random.default_rng(seed).random(len(own)) for seed, own in zip(seeds, targets, strict=True)]
        learned = (target > _WORTH_LEARNING) | (np.concatenate(chance) < recipe.others_kept)
        models.append(_boosted(features[learned], target[learned], fit, recipe))
    trees = tuple(_as_tree(stage[0].nodes, recipe.fits) for model in models for stage in model._predictors)  # noqa: SLF001 - no public way to a fitted tree
    baseline = float(np.mean([model._baseline_prediction.item() for model in models]))  # noqa: SLF001 - as above
    return TreeEnsemble(FEATURES, significant(baseline), trees)


def earned(query: RankedQuery) -> Array:
    """The target of each sentence, in [0, 1]; shape (sentences,)."""
    support = query.support
    best = np.zeros(len(support.statements))
    for insight in query.insights:
        wanted = frozenset(stems(without_marks(insight.text)))
        recall = np.array([support.mass(wanted & held) for held in support.stems]) / max(support.mass(wanted), 1e-9)
        alike = _WORDS * recall + _MEANING * (support.vectors @ insight.vector)
        said = np.clip((alike - _FLOOR) / _SPAN, 0, 1) ** _POWER
        f1 = set_f1(support.cited, np.broadcast_to(insight.gold, support.cited.shape))
        best = np.maximum(best, said * insight.gold[support.index.owners] * f1)
    return best


def _boosted(features: Array, target: Array, seed: int, recipe: RankerRecipe) -> Any:
    return HistGradientBoostingRegressor(
        max_depth=recipe.depth,
        max_iter=recipe.trees,
        learning_rate=recipe.rate,
        min_samples_leaf=recipe.leaf,
        max_features=0.5,
        monotonic_cst=[int(name in _RISING) for name in FEATURES],
        early_stopping=False,
        random_state=seed,
    ).fit(features, target)


def _as_tree(nodes: Any, n_fits: int) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    rounded = np.vectorize(significant, otypes=[float])
    return Tree(
        np.where(leaf, -1, nodes["feature_idx"]).astype(np.int64),
        rounded(np.where(leaf, 0.0, nodes["num_threshold"])),
        np.where(leaf, 0, nodes["left"]).astype(np.int64),
        np.where(leaf, 0, nodes["right"]).astype(np.int64),
        rounded(np.where(leaf, nodes["value"] / n_fits, 0.0)),
    )
