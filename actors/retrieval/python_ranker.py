"""Ranks documents with a class of a user's own, as a retriever or as a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from actors.python_class import UserCodeError, check_class, open_class, user_code
from actors.retrieval.haystack import Haystack
from actors.retrieval.reranker import Reranked, Reranker, reranked
from actors.retrieval.retriever import Resources, Retriever, Scores
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
        return numbers(self._settings, found, len(documents), query)


def numbers(settings: PythonClassSettings, found: object, n_documents: int, query: Query) -> NDArray[np.float64]:
    """
    Return the scores that a class returned for a query, shape (documents,); NaN: it is not ranked.

    Raises:
        UserCodeError: They are no finite numbers, one a document.
    """

    def wrong(found: str) -> UserCodeError:
        expected = f"{n_documents} numbers, one a document (None: not ranked)"
        return UserCodeError(
            f"{settings.class_}: rank: expected {expected}, found {found}, for query {query.query_id!r}"
        )

    try:
        scores = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong(f"{type(found).__name__} {str(found)[:60]}") from None
    if scores.shape != (n_documents,):
        raise wrong(f"shape {list(scores.shape)}")
    if np.isinf(scores).any():
        raise wrong("an infinite one")
    return scores


class PythonRetriever(Retriever):
    """Ranks all documents of a haystack with the user's class."""

    of_others = True

    def __init__(self, settings: PythonClassSettings, resources: Resources) -> None:
        self._settings = settings
        self._resources = resources

    def check(self) -> None:
        check_class(self._settings, Ranker)

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return self._ranker.scores(self._resources.shown(query), haystack.documents)

    @cached_property
    def _ranker(self) -> PythonRanker:
        return PythonRanker(self._settings)


class PythonReranker(Reranker):
    """Scores the first documents of another's ranking with the user's class."""

    def __init__(self, settings: PythonRerankerSettings) -> None:
        self._ranker = PythonRanker(settings)
        self._depth = settings.depth

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        """
        Return all *documents* in their new order.

        The first of them, down to the depth, stand by descending score. Documents that the class does not rank follow
        those that it does.
        """
        scores = rounded(self._ranker.scores(query, documents[: self._depth]), of_others=True)
        places = ranked(scores, of_others=True)
        return reranked([(place, float(scores[place])) for place in places], len(documents))
