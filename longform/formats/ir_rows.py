"""Data sets of the library `ir_datasets` as rows: documents, queries, judgements, and rankings that it ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from math import isfinite
from typing import Any, Protocol

from longform.errors import InputError, UsageError
from longform.formats.jsonl import DEFAULT_HAYSTACK
from longform.formats.rows import HaystackRows, ShippedRow, ranking_rows
from longform.records import Document, Qrel, Query

SCORED = "scoreddocs"
"""The name of the rankings that a data set ships."""


class IrDataset(Protocol):
    """The public interface of a data set of `ir_datasets` that is used here."""

    def has_docs(self) -> bool: ...
    def has_queries(self) -> bool: ...
    def has_qrels(self) -> bool: ...
    def has_scoreddocs(self) -> bool: ...
    def docs_iter(self) -> Iterable[Any]: ...
    def queries_iter(self) -> Iterable[Any]: ...
    def qrels_iter(self) -> Iterable[Any]: ...
    def scoreddocs_iter(self) -> Iterable[Any]: ...


def ir_rows(dataset: IrDataset) -> HaystackRows:
    """
    Return a data set as one haystack.

    Documents are read as they are asked for; judgements and rankings of queries that are not here are left out, and
    those of documents that are not here end the reading.

    Raises:
        UsageError: It has no documents or no queries.
    """
    lacking = [name for name, has in (("documents", dataset.has_docs()), ("queries", dataset.has_queries())) if not has]
    if lacking:
        raise UsageError(
            f"the data set has no {' and no '.join(lacking)}; name one of its parts, such as beir/scifact/test"
        )
    queries = {
        str(one.query_id): Query(str(one.query_id), DEFAULT_HAYSTACK, _text(one)) for one in dataset.queries_iter()
    }
    qrels = list(_qrels(dataset, queries)) if dataset.has_qrels() else []
    rankings = list(_rankings(dataset, queries)) if dataset.has_scoreddocs() else []
    named = {one.doc_id for one in qrels} | {one["doc_id"] for one in rankings}
    return HaystackRows(
        DEFAULT_HAYSTACK, _documents(dataset, named), [*queries.values()], qrels=qrels, rankings=rankings
    )


def _text(item: Any) -> str:
    """Return the words of a query or document: the library's default text, else its field `text`."""
    default = getattr(item, "default_text", None)
    return str(default() if callable(default) else item.text).strip()


def _documents(dataset: IrDataset, named: set[str]) -> Iterator[Document]:
    missing = set(named)
    for index, one in enumerate(dataset.docs_iter()):
        missing.discard(str(one.doc_id))
        title = getattr(one, "title", None) or None
        text = str(getattr(one, "text", "") or "") if title else _text(one)
        yield Document(str(one.doc_id), DEFAULT_HAYSTACK, index, title, text or _text(one))
    if missing:
        raise InputError(
            file="ir_datasets", record="qrels and scoreddocs", field="doc_id", expected="documents of the data set",
            found=f"{len(missing)} others, such as {min(missing)!r}",
        )  # fmt: skip


def _qrels(dataset: IrDataset, queries: dict[str, Query]) -> Iterator[Qrel]:
    """Yield a judgement of each query and document; of several, as of subtopics, the highest."""
    best: dict[tuple[str, str], int] = {}
    for one in dataset.qrels_iter():
        key = (str(one.query_id), str(one.doc_id))
        if key[0] in queries:
            best[key] = max(int(one.relevance), best.get(key, int(one.relevance)))
    return (Qrel(query_id, None, doc_id, relevance) for (query_id, doc_id), relevance in best.items())


def _rankings(dataset: IrDataset, queries: dict[str, Query]) -> Iterator[ShippedRow]:
    scored = [(str(one.query_id), -float(one.score), str(one.doc_id)) for one in dataset.scoreddocs_iter()]
    if wrong := next((one for one in scored if not isfinite(one[1])), None):
        place = f"query {wrong[0]!r}, document {wrong[2]!r}"
        raise InputError(file=SCORED, record=place, field="score", expected="a finite number", found=str(-wrong[1]))
    for query_id, members in groupby(sorted(scored), key=lambda one: one[0]):
        if query_id in queries:
            ranked = ((doc_id, 0.0 - negated) for _, negated, doc_id in members)
            yield from ranking_rows(query_id, DEFAULT_HAYSTACK, SCORED, ranked)
