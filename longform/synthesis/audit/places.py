"""Find planted statements word for word: their documents, and their tenths of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.records import Document
from longform.synthesis.audit.planted import Planted

N_TENTHS = 10


def exact_search(
    documents: Sequence[Document], gold: Mapping[str, frozenset[str]], planted: Sequence[Planted]
) -> dict[str, int]:
    """
    The planted statements of insights, searched word for word, against the gold map.

    Returns:
        Counts: `planted` statements, those `found` once in their document, `missing` there or `repeated`; statements
        that stand in a document which the gold map does not give their insight (`elsewhere`); pairs of document and
        insight of the gold map without a planted statement (`unplanted`), and planted ones that it lacks (`unlisted`).
    """
    text = {document.doc_id: document.text for document in documents}
    statements = [one for one in planted if one.kind == "insight" and one.target_id is not None]
    times = [text[one.doc_id].count(one.text) for one in statements]
    pairs = {(one.doc_id, one.target_id) for one in statements}
    listed = {(doc_id, target_id) for target_id, doc_ids in gold.items() for doc_id in doc_ids}
    elsewhere = sum(
        one.text in content
        for one in statements
        for doc_id, content in text.items()
        if (doc_id, one.target_id) not in listed and (doc_id, one.target_id) not in pairs
    )
    return {
        "planted": len(statements),
        "found": times.count(1),
        "missing": times.count(0),
        "repeated": sum(count > 1 for count in times),
        "elsewhere": elsewhere,
        "unplanted": len(listed - pairs),
        "unlisted": len(pairs - listed),
    }


def tenths(places: Sequence[tuple[int, int]]) -> list[int]:
    """Count the places that lie in each tenth of their document; a place is (offset, length), both in one unit."""
    counts = [0] * N_TENTHS
    for offset, length in places:
        counts[min(N_TENTHS - 1, N_TENTHS * offset // max(1, length))] += 1
    return counts


def planted_places(documents: Sequence[Document], planted: Sequence[Planted]) -> list[tuple[int, int]]:
    """The middle character of each insight's statement that is found, and the length of its document."""
    text = {document.doc_id: document.text for document in documents}
    return [
        (text[one.doc_id].find(one.text) + len(one.text) // 2, len(text[one.doc_id]))
        for one in planted
        if one.kind == "insight" and one.text in text[one.doc_id]
    ]
