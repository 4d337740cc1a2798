"""Knowledge of a haystack that its maker has beyond its tables: planted statements, and their search in documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from longform.records import Document
from longform.settings.strict import Strict

Kind = Literal["insight", "contradiction", "distractor"]


class Planted(Strict):
    """
    A sentence that a document was made to state.

    An insight's statements are the gold map. A `contradiction` states another number for the same fact, and a
    `distractor` is a statement of the same kind that belongs to no insight; neither is in the gold map.
    """

    doc_id: str
    target_id: str | None  # the insight that it states or contradicts; None for a distractor
    kind: Kind
    text: str  # the sentence, as it stands in the document


class HaystackFacts(Strict):
    """
    The content of `haystacks/<haystack_id>.json`: how a haystack was made, and the statements planted in each document.

    `prose` counts a chat model's passages around the planted sentences (`longform.synthesis.grammar.passages`); None:
    no model was asked.
    """

    haystack_id: str
    settings: Mapping[str, JsonValue]
    planted: tuple[Planted, ...]
    prose: Mapping[str, JsonValue] | None = None


# ---------------------------------------------------------------- their places


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
