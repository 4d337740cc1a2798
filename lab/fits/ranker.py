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

from lab.fits import significant
from lab.fits.haystacks import GoldHaystack, set_f1
from longform.keys import stable_seed
from longform.summaries.candidates import first_candidates
from longform.summaries.extractive import Extractor
from longform.summaries.query_relevance import FEATURES, QueryText, relevance
from longform.summaries.sentence_support import SentenceSupport
from longform.summaries.tree_ensemble import Tree, TreeEnsemble
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
    query: QueryText
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


def extractor(haystack: GoldHaystack, model: SupportModel, ranker: TreeEnsemble) -> Extractor:
    """Return the summarizer of a haystack."""
    numbered = [(document.number, document.text) for document in haystack.documents]
    return Extractor(numbered, haystack.embed, model=model, ranker=ranker)


class RankerRecipe(NamedTuple):
    """
    Settings of the fits whose mean is the ranker.

    Each fit draws its rows and the features of its trees anew: one fit alone is a lucky or an unlucky draw.
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
    taught = [_taught(query) for query in sorted(queries, key=_name) if query.haystack_id not in left_out]
    if not taught:
        raise ValueError("no query is left to fit the ranker on")
    models = [_boosted(*_drawn_rows(taught, fit, recipe), fit, recipe) for fit in range(recipe.fits)]
    trees = tuple(_as_tree(stage[0].nodes, recipe.fits) for model in models for stage in model._predictors)  # noqa: SLF001 - no public way to a fitted tree
    baseline = float(np.mean([model._baseline_prediction.item() for model in models]))  # noqa: SLF001 - as above
    return TreeEnsemble(FEATURES, significant(baseline), trees)


class _Taught(NamedTuple):
    """The sentences of a query that may be learned from."""

    name: tuple[str, str]
    features: Array  # (sentences, features)
    target: Array  # (sentences,)


def _name(query: RankedQuery) -> tuple[str, str]:
    return query.haystack_id, query.query.text


def _taught(query: RankedQuery) -> _Taught:
    allowed = first_candidates(query.support)
    return _Taught(_name(query), relevance(query.support, query.query).features[allowed], earned(query)[allowed])


def _drawn_rows(taught: Sequence[_Taught], fit: int, recipe: RankerRecipe) -> tuple[Array, Array]:
    """Return features and targets of one fit: all rows that earn something, and a share of the others."""
    features, targets = [], []
    for query in taught:
        chance = np.random.default_rng(stable_seed("rows of the ranker", fit, *query.name))
        learned = (query.target > _WORTH_LEARNING) | (chance.random(len(query.target)) < recipe.others_kept)
        features.append(query.features[learned])
        targets.append(query.target[learned])
    return np.concatenate(features), np.concatenate(targets)


def earned(query: RankedQuery) -> Array:
    """The target of each sentence, in [0, 1]; shape (sentences,)."""
    support = query.support
    best = np.zeros(len(support.statements))
    for insight in query.insights:
        said = _said(support, insight)
        in_gold = insight.gold[support.index.owners]
        f1 = set_f1(support.cited, np.broadcast_to(insight.gold, support.cited.shape))
        best = np.maximum(best, said * in_gold * f1)
    return best


def _said(support: SentenceSupport, insight: GoldInsight) -> Array:
    wanted = frozenset(stems(without_marks(insight.text)))
    mass = max(support.mass(wanted), 1e-9)
    recall = np.array([support.mass(wanted & held) for held in support.stems]) / mass
    alike = _WORDS * recall + _MEANING * (support.vectors @ insight.vector)
    return np.asarray(np.clip((alike - _FLOOR) / _SPAN, 0, 1) ** _POWER)


def _boosted(features: Array, target: Array, seed: int, recipe: RankerRecipe) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

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
    return Tree(
        np.where(leaf, -1, nodes["feature_idx"]).astype(np.int64),
        np.array([0.0 if at_leaf else significant(t) for at_leaf, t in zip(leaf, nodes["num_threshold"], strict=True)]),
        np.where(leaf, 0, nodes["left"]).astype(np.int64),
        np.where(leaf, 0, nodes["right"]).astype(np.int64),
        np.array(
            [significant(v / n_fits) if at_leaf else 0.0 for at_leaf, v in zip(leaf, nodes["value"], strict=True)]
        ),
    )
