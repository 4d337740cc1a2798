"""Summaries that cite: made of documents for a query, or given and cited here, offline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.surface.given import languages_told, number_of, summary_text, text_of, texts_of
from longform.errors import UsageError
from longform.records import Query, retrieval_text
from longform.repair.by_matrix import BestPlace, best_evidence, repaired_texts
from longform.summaries.extractive import Extractor, bullet_lines, shipped_ranker
from longform.summaries.methods import OWN_BULLETS
from longform.summaries.query_relevance import VectorQuery
from longform.support.index import SupportIndex
from longform.support.model import shipped_support_model
from longform.text.answers import statements
from longform.text.citations import Bullet
from longform.text.units import lined


@dataclass(frozen=True)
class CitedSummary:
    """
    A summary that cites documents by their numbers, from 1 in the order given.

    Attributes:
        text: A statement a line, citations as `[3]` behind it.
        documents: Texts of the documents.
    """

    text: str
    documents: tuple[str, ...]

    @cached_property
    def bullets(self) -> tuple[Bullet, ...]:
        """Statements of the summary, each with the numbers that it cites."""
        return tuple(statements(self.text))

    @cached_property
    def evidence(self) -> tuple[BestPlace | None, ...]:
        """The passage of the cited documents that shares most with each bullet; None for one that cites nothing."""
        index, numbers = SupportIndex(self.documents), range(1, len(self.documents) + 1)
        return tuple(best_evidence(bullet.text, bullet.citations, index, numbers) for bullet in self.bullets)

    def __str__(self) -> str:
        return self.text


def cite(summary: str | Sequence[str], documents: Sequence[str]) -> CitedSummary:
    """
    Return a summary, a statement a line, that cite the documents whose words support them in place of those they cited.

    These are the citations of `longform evaluate --citations matrix`. A statement that no
    document supports cites none. Documents are read against each other, so give all of the collection.

    Args:
        summary: A text in Markdown or plain, or its bullets.
        documents: Texts; the first is number 1.

    Raises:
        UsageError: An argument is not what it should be; the message names it.
    """
    texts = texts_of("documents", documents)
    (text,) = repaired_texts(
        [lined(summary_text(summary), "statements")], SupportIndex(texts), range(1, len(texts) + 1)
    )
    return CitedSummary(text, tuple(texts))


USUAL_WORDS = 300
"""The words of a summary if no number is told, as in a configuration."""


def summarize(
    query: str,
    documents: Sequence[str],
    *,
    subtopic: str | None = None,
    bullets: int = OWN_BULLETS,
    max_words: int = USUAL_WORDS,
) -> CitedSummary:
    """
    Quote sentences that several documents repeat and the query asks for, each citing the documents that support it.

    The text is that of `longform evaluate` with a summariser `{kind: offline}`, and empty if no sentence of the
    documents can be quoted: its model and the judge `offline` were measured on English only, and other languages are
    logged. The documents of the latest call are kept: further queries to the same ones are fast.

    Args:
        query: A question or a topic.
        documents: Texts; the first is number 1.
        subtopic: The part of the topic that is asked for, if a benchmark's query has one; None: the query is all.
        bullets: The most sentences.
        max_words: The most words of all sentences together.

    Raises:
        UsageError: An argument is not what it should be; the message names it.
    """
    asked, texts = text_of("query", query), texts_of("documents", documents)
    if not asked.strip():
        raise UsageError("query: expected a question or a topic, found an empty text")
    part = None if subtopic is None else text_of("subtopic", subtopic)
    n, words = number_of("bullets", bullets), number_of("max_words", max_words)
    languages_told({"queries": [asked], "documents": texts}, "offline")
    extractor = _extractor(tuple(texts))
    whole = retrieval_text(Query("", "", asked, subtopic=part), query_text="query_subtopic")
    vectors = _encoder().embed([whole, part or asked])
    extracted = extractor.extract(VectorQuery(whole, vectors[0], vectors[1]), n, words)
    return CitedSummary(bullet_lines(extracted), tuple(texts))


@lru_cache(maxsize=1)
def _extractor(documents: tuple[str, ...]) -> Extractor:
    """Read documents, so that further queries to the same ones take no time; one of 100 documents is about 60 MB."""
    encoder = _encoder()
    encoder.forget()
    return Extractor(
        list(enumerate(documents, start=1)),
        encoder.embed,
        model=shipped_support_model("vectors"),
        ranker=shipped_ranker(),
    )


@cache
def _encoder() -> Encoder:
    return Encoder(MINILM, threads=os.cpu_count() or 1)
