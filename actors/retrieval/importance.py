"""Weigh each document of a haystack for a query: by relevance, a shipped ranking, or likeness."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from actors.local_models.encoder import TextEncoder
from actors.retrieval.encoders import open_encoder
from actors.storage.benchmark import Benchmark
from longform.errors import UsageError
from longform.records import relevance_by_query
from longform.retrieval.packing import ImportanceOf
from longform.settings.endpoints import EncoderSettings
from longform.settings.importance import (
    ImportanceSettings,
    RankedImportanceSettings,
    RelevanceImportanceSettings,
    SimilarityImportanceSettings,
)

Weigh = Callable[[str], ImportanceOf]
"""Query id -> the importance of its haystack's documents."""

Ranks = dict[str, dict[str, int]]


def document_importance(benchmark: Benchmark, settings: ImportanceSettings) -> Weigh:
    """
    Return the weight by which the orders top, middle and bottom sort.

    Raises:
        UsageError: From the function returned: the benchmark lacks the ranking or the reference.
    """
    match settings:
        case RelevanceImportanceSettings():
            relevance = relevance_by_query(benchmark.qrels)
            return lambda query_id: _by_relevance(benchmark, query_id, relevance.get(query_id, {}))
        case RankedImportanceSettings(name=name):
            rankings = _released_ranks(benchmark, name)
            return lambda query_id: _by_ranking(benchmark, query_id, name, rankings)
        case SimilarityImportanceSettings():
            return _Likeness(benchmark, settings)


def _by_relevance(benchmark: Benchmark, query_id: str, relevant: dict[str, int]) -> ImportanceOf:
    documents = benchmark.documents(benchmark.queries[query_id].haystack_id)
    return ImportanceOf([relevant.get(document.doc_id, 0) for document in documents], by_relevance=True)


def _released_ranks(benchmark: Benchmark, name: str) -> Ranks:
    found: Ranks = {}
    for row in benchmark.folder.read("rankings", columns=["query_id", "system", "doc_id", "rank"]).to_pylist():
        if row["system"] == name:
            found.setdefault(row["query_id"], {})[row["doc_id"]] = -row["rank"]
    return found


def _by_ranking(benchmark: Benchmark, query_id: str, name: str, rankings: Ranks) -> ImportanceOf:
    haystack_id = benchmark.queries[query_id].haystack_id
    ranked = rankings.get(query_id, {})
    documents = benchmark.documents(haystack_id)
    if missing := [document.doc_id for document in documents if document.doc_id not in ranked]:
        raise UsageError(
            f"importance: expected a ranking {name!r} of all documents of query {query_id!r}, "
            f"found none of {missing[:3]}"
        )
    return ImportanceOf([ranked[document.doc_id] for document in documents], by_relevance=False)


class _Likeness:
    """Cosine of each document with the query's reference summary."""

    def __init__(self, benchmark: Benchmark, encoder: EncoderSettings) -> None:
        self._benchmark, self._settings = benchmark, encoder

    def __call__(self, query_id: str) -> ImportanceOf:
        references = [t.text for t in self._benchmark.targets.get(query_id, []) if t.kind == "reference"]
        if not references:
            raise UsageError(f"importance: expected a reference summary of query {query_id!r}, found none")
        documents = self._benchmark.documents(self._benchmark.queries[query_id].haystack_id)
        vectors = self._encoder.embed([references[0], *(document.text for document in documents)])
        return ImportanceOf((vectors[1:] @ vectors[0]).tolist(), by_relevance=False)

    @cached_property
    def _encoder(self) -> TextEncoder:
        return open_encoder(self._settings)
