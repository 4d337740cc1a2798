"""
Haystacks with a gold map, read and embedded once, and the support model fitted on them.

A support model says which documents state a claim. Nothing but insights, documents and the map is read; no language
model had a part in the labels of SummHay's map, which is known by construction and incomplete (a document may state an
insight that was not planted in it).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.fits import fit_logistic
from longform.records import Document, Query, Target, retrieval_text
from longform.summaries.query_relevance import VectorQuery
from longform.summaries.sentence_support import Embed
from longform.support.index import Signals, SupportIndex
from longform.support.model import Kind, SupportModel, features_of

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


def set_f1(found: NDArray[np.bool_], gold: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the F1 of each row of documents found, shape (claims,); 0 if nothing right is found."""
    return np.asarray(2 * (found & gold).sum(axis=1) / np.maximum(found.sum(axis=1) + gold.sum(axis=1), 1))


@dataclass(eq=False)
class GoldHaystack:
    """A haystack whose insights have known documents."""

    haystack_id: str
    documents: Sequence[Document]
    queries: Sequence[tuple[Query, Sequence[Target]]]
    gold: Mapping[str, Collection[str]]  # insight id -> ids of the documents that state it
    embed: Embed  # remembers its vectors

    @property
    def domain(self) -> str:
        """Return the domain of its queries, as the benchmark names it."""
        return next((query.domain for query, _ in self.queries if query.domain), "unknown domain")

    @property
    def targets(self) -> list[Target]:
        """All insights, query after query."""
        return [target for _, targets in self.queries for target in targets]

    def states(self, target_id: str) -> NDArray[np.bool_]:
        """Mark the documents that state an insight, shape (documents,)."""
        return np.array([document.doc_id in self.gold[target_id] for document in self.documents])

    def gold_numbers(self) -> dict[str, frozenset[int]]:
        """Insight id -> what its documents are cited by."""
        return {
            target.target_id: frozenset(d.number for d in self.documents if d.doc_id in self.gold[target.target_id])
            for target in self.targets
        }

    @cached_property
    def index(self) -> SupportIndex:
        """Return the index of its sentences, with vectors."""
        index = SupportIndex([document.text for document in self.documents])
        return index.with_vectors(self.embed(index.sentences))

    @cached_property
    def claims(self) -> HaystackClaims:
        """The insights as claims on the documents."""
        texts = [target.text for target in self.targets]
        signals: Signals = self.index.signals(texts, self.embed(texts))
        gold = np.stack([self.states(target.target_id) for target in self.targets])
        return HaystackClaims(self.haystack_id, tuple(t.query_id for t in self.targets), signals, gold)

    def query_text(self, query: Query) -> VectorQuery:
        """Return a query's text as the summarizer and the retrievers see it."""
        text = retrieval_text(query, query_text="query_subtopic")
        vectors = self.embed([text, query.subtopic or query.text])
        return VectorQuery(text, vectors[0], vectors[1])
