"""Weigh each document of a haystack for a query: by relevance, a shipped ranking, or likeness."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from pydantic import JsonValue

from actors.local_models.encoder import TextEncoder
from actors.retrieval.encoders import check_encoder, open_encoder
from actors.storage.benchmark import Benchmark
from longform.errors import UsageError
from longform.records import Document, relevance_by_query
from longform.retrieval.packing import ImportanceOf
from longform.settings.strict import PartSettings
from longform.settings.systems import (
    RankedImportanceSettings,
    RelevanceImportanceSettings,
    SimilarityImportanceSettings,
)

Settings = TypeVar("Settings", bound=PartSettings)


class Importance(ABC, Generic[Settings]):
    """Weighs documents, for the orders top, middle and bottom to sort by."""

    embeds: ClassVar[bool] = False  # true: it has an encoder

    def __init__(self, settings: Settings, benchmark: Benchmark) -> None:
        self._settings, self._benchmark = settings, benchmark

    @classmethod
    def check(cls, settings: Settings, /) -> None:
        """Look for its model."""

    @classmethod
    def version(cls, settings: Settings, /) -> list[JsonValue]:
        """Return all that its orders depend on beside the benchmark."""
        return [settings.identity]

    @abstractmethod
    def of(self, query_id: str) -> ImportanceOf:
        """
        Return the importance of the documents of a query's haystack.

        Raises:
            UsageError: The benchmark lacks the ranking or the reference.
        """

    def _documents(self, query_id: str) -> list[Document]:
        return self._benchmark.documents(self._benchmark.queries[query_id].haystack_id)


class ByRelevance(Importance[RelevanceImportanceSettings]):
    """Weighs by the relevance that people gave."""

    @classmethod
    def version(cls, _settings: RelevanceImportanceSettings, /) -> list[JsonValue]:
        return []

    def of(self, query_id: str) -> ImportanceOf:
        relevant = self._relevance.get(query_id, {})
        return ImportanceOf([relevant.get(one.doc_id, 0) for one in self._documents(query_id)], by_relevance=True)

    @cached_property
    def _relevance(self) -> dict[str, dict[str, int]]:
        return relevance_by_query(self._benchmark.qrels)


class ByRanking(Importance[RankedImportanceSettings]):
    """Weighs by a ranking that the benchmark ships."""

    def of(self, query_id: str) -> ImportanceOf:
        ranked = self._ranks.get(query_id, {})
        documents = self._documents(query_id)
        if missing := [document.doc_id for document in documents if document.doc_id not in ranked]:
            raise UsageError(
                f"importance: expected a ranking {self._settings.name!r} of all documents of query {query_id!r}, "
                f"found none of {missing[:3]}"
            )
        return ImportanceOf([ranked[document.doc_id] for document in documents], by_relevance=False)

    @cached_property
    def _ranks(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        columns = ["query_id", "system", "doc_id", "rank"]
        for row in self._benchmark.folder.read("rankings", columns=columns).to_pylist():
            if row["system"] == self._settings.name:
                found.setdefault(row["query_id"], {})[row["doc_id"]] = -row["rank"]
        return found


class ByLikeness(Importance[SimilarityImportanceSettings]):
    """Weighs by the cosine of each document with the query's reference summary."""

    embeds = True

    @classmethod
    def check(cls, settings: SimilarityImportanceSettings) -> None:
        check_encoder(settings)  # a plan packs, and so asks an endpoint

    def of(self, query_id: str) -> ImportanceOf:
        references = [t.text for t in self._benchmark.targets.get(query_id, []) if t.kind == "reference"]
        if not references:
            raise UsageError(f"importance: expected a reference summary of query {query_id!r}, found none")
        vectors = self._encoder.embed([references[0], *(document.text for document in self._documents(query_id))])
        return ImportanceOf((vectors[1:] @ vectors[0]).tolist(), by_relevance=False)

    @cached_property
    def _encoder(self) -> TextEncoder:
        return open_encoder(self._settings)
