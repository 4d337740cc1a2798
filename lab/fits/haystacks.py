"""A haystack with a gold map, read and embedded once, for fitting and for measuring."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lab.fits.ranker import GoldInsight, RankedQuery
from lab.fits.support import HaystackClaims
from longform.records import Document, Query, Target, retrieval_text
from longform.summaries.extractive import Extractor
from longform.summaries.query_relevance import QueryText
from longform.summaries.sentence_support import Embed, SentenceSupport
from longform.summaries.tree_ensemble import TreeEnsemble
from longform.support.index import Signals, SupportIndex
from longform.support.model import SupportModel


class GoldHaystack:
    """
    A haystack whose insights have known documents.

    Args:
        documents: In order.
        queries: Each with its insights.
        gold: Insight id -> ids of the documents that state it.
        embed: Remembers its vectors.
    """

    def __init__(
        self,
        haystack_id: str,
        documents: Sequence[Document],
        queries: Sequence[tuple[Query, Sequence[Target]]],
        gold: Mapping[str, Collection[str]],
        embed: Embed,
    ) -> None:
        self.haystack_id = haystack_id
        self.documents = documents
        self.queries = queries
        self._gold = gold
        self._embed = embed

    @property
    def domain(self) -> str:
        """Return the domain of its queries, as the benchmark names it."""
        return next((query.domain for query, _ in self.queries if query.domain), "unknown domain")

    @property
    def targets(self) -> list[Target]:
        """All insights, query after query."""
        return [target for _, targets in self.queries for target in targets]

    def insights(self, query: Query) -> list[str]:
        """Return the texts of a query's insights, in order."""
        return next([target.text for target in targets] for known, targets in self.queries if known is query)

    def states(self, target_id: str) -> NDArray[np.bool_]:
        """Mark the documents that state an insight, shape (documents,)."""
        return np.array([document.doc_id in self._gold[target_id] for document in self.documents])

    def gold_numbers(self) -> dict[str, frozenset[int]]:
        """Insight id -> what its documents are cited by."""
        return {
            target.target_id: frozenset(d.number for d in self.documents if d.doc_id in self._gold[target.target_id])
            for target in self.targets
        }

    @cached_property
    def index(self) -> SupportIndex:
        """Return the index of its sentences, with vectors."""
        index = SupportIndex([document.text for document in self.documents])
        return index.with_vectors(self._embed(index.sentences))

    @cached_property
    def claims(self) -> HaystackClaims:
        """The insights as claims on the documents."""
        texts = [target.text for target in self.targets]
        signals: Signals = self.index.signals(texts, self._embed(texts))
        gold = np.stack([self.states(target.target_id) for target in self.targets])
        return HaystackClaims(self.haystack_id, tuple(t.query_id for t in self.targets), signals, gold)

    def query_text(self, query: Query) -> QueryText:
        """Return a query's text as the summarizer and the retrievers see it."""
        text = retrieval_text(query, query_text="query_subtopic")
        vectors = self._embed([text, query.subtopic or query.text])
        return QueryText(text, vectors[0], vectors[1])

    def support(self, model: SupportModel) -> SentenceSupport:
        """The sentences as claims on the documents."""
        return SentenceSupport([document.text for document in self.documents], self._embed, model)

    def ranked_queries(self, model: SupportModel) -> list[RankedQuery]:
        """Return the ranker's examples."""
        support = self.support(model)
        return [
            RankedQuery(
                self.haystack_id,
                support,
                self.query_text(query),
                [
                    GoldInsight(target.text, self._embed([target.text])[0], self.states(target.target_id))
                    for target in targets
                ],
            )
            for query, targets in self.queries
        ]

    def extractor(self, model: SupportModel, ranker: TreeEnsemble) -> Extractor:
        """The summarizer of this haystack."""
        numbered = [(document.number, document.text) for document in self.documents]
        return Extractor(numbered, self._embed, model=model, ranker=ranker)


def ranked_queries(haystacks: Iterable[GoldHaystack], model: SupportModel) -> list[RankedQuery]:
    """The queries of all *haystacks*."""
    return [query for haystack in haystacks for query in haystack.ranked_queries(model)]
