"""Judgements and queries that make measures of rankings differ from published ones, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from longform.records import Qrel, Query

_SHOWN = 3


def grades_told(qrels: Iterable[Qrel], query_ids: Collection[str]) -> Iterator[str]:
    """Yield a sentence if whole queries are judged by several grades above 0, which measures here do not tell apart."""
    grades = sorted({one.relevance for one in qrels if one.target_id is None and one.query_id in query_ids})
    if len(positive := [grade for grade in grades if grade > 0]) > 1:
        yield (
            f"Judgements have the grades {', '.join(map(str, positive))}, and measures of rankings read them as yes or "
            f"no, yes from {positive[0]} on; trec_eval's nDCG takes grades as gains, and differs."
        )


def own_documents_told(
    queries: Collection[Query], qrels: Iterable[Qrel], documents: Iterable[pa.Table]
) -> Iterator[str]:
    """
    Yield a sentence if queries stand among the documents that they search, by their ids or their words.

    An id of digits alone is likely a number of both, and no sign of it. What is judged relevant is an answer.

    *documents* are tables of doc_id, haystack_id and text, read once.
    """
    asked: dict[tuple[str, str], set[str]] = {}  # haystack, and id or words -> queries
    for query in queries:
        for name in {query.text.strip(), *([] if query.query_id.isdecimal() else [query.query_id])}:
            asked.setdefault((query.haystack_id, name), set()).add(query.query_id)
    relevant = {(one.query_id, one.doc_id) for one in qrels if one.relevance > 0}
    names = pa.array(dict.fromkeys(name for _, name in asked), pa.string())
    own: dict[str, None] = {}
    for table in documents:
        words = pc.utf8_trim_whitespace(table["text"])
        found = table.filter(pc.or_(pc.is_in(words, value_set=names), pc.is_in(table["doc_id"], value_set=names)))
        for row in found.to_pylist():
            for name in (row["doc_id"], row["text"].strip()):
                for query_id in sorted(asked.get((row["haystack_id"], name), ())):
                    if (query_id, row["doc_id"]) not in relevant:
                        own[query_id] = None
    if own:
        shown = ", ".join([*own][:_SHOWN]) + (", ..." if len(own) > _SHOWN else "")
        stand = f"{len(own):,} of {len(queries):,} queries {'stands' if len(own) == 1 else 'stand'}"
        yield (
            f"{stand} among the documents, by the same id or in the same words ({shown}): such a document is ranked, "
            "likely first, and counts as not relevant. Published numbers, as BEIR's on ArguAna, leave it out."
        )
