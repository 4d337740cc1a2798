"""Ranks documents with a class of a user's own, as a retriever or as a reranker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from actors.python_class import UserCodeError, open_class, user_code
from actors.retrieval.cross_encoder import Reranked
from longform.protocols import Ranker
from longform.records import Document, Query
from longform.retrieval.ranking import ranked, rounded
from longform.settings.python_class import PythonClassSettings
from longform.settings.retrievers import PythonRerankerSettings


class PythonRanker:
    """
    Holds an object of the user's class.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """

    def __init__(self, settings: PythonClassSettings) -> None:
        self._settings = settings
        self._ranker = open_class(settings, Ranker)

    def scores(self, query: Query, documents: Sequence[Document]) -> NDArray[np.float64]:
        """
        Return the score of each document, shape (documents,); NaN: it is not ranked.

        Raises:
            UserCodeError: The class raised, or returned something else.
        """
        with user_code(self._settings, "rank"):
            found = self._ranker.rank(query, documents)
        return self._numbers(found, len(documents), query)

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        """
        Return all *documents* in their new order.

        The first of them, down to the depth, stand by descending score; the rest follow as they came, without a score.
        Documents that the class does not rank follow those that it does.
        """
        assert isinstance(self._settings, PythonRerankerSettings), "only a reranker has a depth"
        scores = rounded(self.scores(query, documents[: self._settings.depth]))
        first = ranked(scores)
        rest = sorted({*range(len(documents))}.difference(first))
        return [
            *(Reranked(place, float(scores[place])) for place in first),
            *(Reranked(place, None) for place in rest),
        ]

    def _numbers(self, found: object, n_documents: int, query: Query) -> NDArray[np.float64]:
        expected = f"{n_documents} numbers, one a document (None: not ranked)"
        try:
            scores = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._wrong(expected, f"{type(found).__name__} {str(found)[:60]}", query) from None
        if scores.shape != (n_documents,):
            raise self._wrong(expected, f"shape {list(scores.shape)}", query)
        if np.isinf(scores).any():
            raise self._wrong(expected, "an infinite one", query)
        return scores

    def _wrong(self, expected: str, found: str, query: Query) -> UserCodeError:
        return UserCodeError(
            f"{self._settings.class_}: rank: expected {expected}, found {found}, for query {query.query_id!r}"
        )
