"""
Fit the support model on gold maps: which documents state each insight of a haystack.

Nothing but insights, documents and the map is read; no language model had a part in the labels of SummHay's map,
which is known by construction and incomplete (a document may state an insight that was not planted in it).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.fits.logistic import fit_logistic
from longform.support.index import Signals
from longform.support.model import Kind, SupportModel, expected_f1_sets, features_of

STRENGTH = 0.3
"""Inverse regularisation, scikit-learn's C, on standardised features."""


class HaystackClaims(NamedTuple):
    """The insights of one haystack as claims on its documents."""

    haystack_id: str
    query_ids: tuple[str, ...]  # of each claim
    signals: Signals
    gold: NDArray[np.bool_]  # (claims, documents)


def fit_support(haystacks: Iterable[HaystackClaims], kind: Kind, *, left_out: Collection[str]) -> SupportModel:
    """
    The model fitted on all haystacks but those whose ids are *left_out*.

    Raises:
        ValueError: None is left.
    """
    fitted_on = [haystack for haystack in haystacks if haystack.haystack_id not in left_out]
    if not fitted_on:
        raise ValueError("no haystack is left to fit the support model on")
    width = len(features_of(kind))
    unfitted = SupportModel(kind, (0.0,) * width, 0.0)
    rows = [unfitted.features(haystack.signals).reshape(-1, width) for haystack in fitted_on]
    labels = [haystack.gold.ravel() for haystack in fitted_on]
    weights, intercept = fit_logistic(np.concatenate(rows), np.concatenate(labels), strength=STRENGTH)
    return SupportModel(kind, weights, intercept)


class SetQuality(NamedTuple):
    """Agreement of the documents found for each claim with its gold documents; each of shape (claims,)."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def found_quality(haystack: HaystackClaims, model: SupportModel) -> SetQuality:
    """Measure how well the model finds the gold documents of each claim of *haystack*."""
    return set_quality(expected_f1_sets(model.probability(haystack.signals)), haystack.gold)


def set_quality(found: NDArray[np.bool_], gold: NDArray[np.bool_]) -> SetQuality:
    """Precision, recall and F1 of each row; an empty set has precision 0."""
    both = (found & gold).sum(axis=1)
    return SetQuality(
        both / np.maximum(found.sum(axis=1), 1),
        both / np.maximum(gold.sum(axis=1), 1),
        2 * both / np.maximum(found.sum(axis=1) + gold.sum(axis=1), 1),
    )
