"""
Pack ranked documents into a prompt: choose them, cut the last one, and order them.

The budget follows SummHay's released code: documents are added in rank order; the one that would reach the budget is
cut to the tokens that remain and is the last. The orders are those of its position study (the paper's "Random" is the
haystack's own order, which is `given` here) and of Wan et al. (section 3.3), which differ in what `middle` means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import NamedTuple

import numpy as np

from longform.keys import stable_seed
from longform.settings.systems import Order

_FEW = 8  # documents, of which all orders may come to be drawn

BY_IMPORTANCE = ("top", "middle", "bottom")
"""Orders that need to know how important each document is."""


class ImportanceOf(NamedTuple):
    """The importance of each document of a haystack for one query."""

    of: Sequence[float]  # by document index; larger is more important
    by_relevance: bool  # 0 means irrelevant, as for SummHay's qrels; else all documents matter, more or less


@dataclass(frozen=True, kw_only=True)
class Packing:
    """A prompt's documents, by their indices, in prompt order."""

    documents: tuple[int, ...]
    tokens: tuple[int, ...]  # kept of each
    lost: tuple[int, ...]  # tokens that cuts took from each
    cut_document: int | None  # the one that the budget shortened; None: it shortened none
    n_left_out: int  # ranked documents that found no room

    @property
    def n_tokens(self) -> int:
        return sum(self.tokens)

    @property
    def cut_tokens(self) -> int:
        """Return the tokens that cuts took away."""
        return sum(self.lost)

    @property
    def n_cut(self) -> int:
        """Return the number of documents that are not whole."""
        return sum(lost > 0 for lost in self.lost)

    @property
    def cut_share(self) -> float:
        """Return the tokens cut, as a share of the kept documents' tokens when whole; 0 if they hold none."""
        whole = self.n_tokens + self.cut_tokens
        return self.cut_tokens / whole if whole else 0.0


def pack(
    ranking: Sequence[int],
    *,
    document_tokens: Sequence[int],
    budget_tokens: int | None,
    order: Order,
    importance: ImportanceOf | None,
    seed: int,
    permutation: int | None = None,
    most_tokens: int | None = None,
) -> Packing:
    """
    Choose, cut and order the documents of one prompt.

    *ranking* has indices of documents, best first; for full context in the haystack's order. *document_tokens* has the
    tokens of each document by index; each is cut to its first *most_tokens* before *budget_tokens* are spent; None: no
    limit.

    *order* is one of `arranged`. Orders top, middle and bottom read *importance*; middle, random and permuted read
    *seed*, one per query, or all queries share their coin flips; *permutation* is the number of the drawn order, for
    permuted.
    """
    sizes = capped(document_tokens, most_tokens)
    kept = _within_budget(ranking, sizes, budget_tokens)
    prompt = arranged(list(kept), order=order, importance=importance, seed=seed, permutation=permutation)
    cut = next((document for document, tokens in kept.items() if tokens < sizes[document]), None)
    return Packing(
        documents=tuple(prompt),
        tokens=tuple(kept[document] for document in prompt),
        lost=tuple(document_tokens[document] - kept[document] for document in prompt),
        cut_document=cut,
        n_left_out=len(ranking) - len(kept),
    )


def capped(document_tokens: Sequence[int], most_tokens: int | None) -> Sequence[int]:
    """Return the tokens of documents that are cut to *most_tokens* each; None: none is cut."""
    return document_tokens if most_tokens is None else [min(tokens, most_tokens) for tokens in document_tokens]


def whole_within(ranking: Sequence[int], document_tokens: Sequence[int], length_tokens: int) -> list[int]:
    """
    Return the first documents of *ranking* that together fit *length_tokens*, each of them whole.

    The first one that does not fit ends the list, even before smaller ones, so that a longer length begins with a
    shorter one.
    """
    left = length_tokens
    kept = []
    for document in ranking:
        left -= document_tokens[document]
        if left < 0:
            break
        kept.append(document)
    return kept


def arranged(
    documents: Sequence[int],
    *,
    order: Order,
    importance: ImportanceOf | None,
    seed: int,
    permutation: int | None = None,
) -> list[int]:
    """
    Return *documents* in prompt order.

    `given` leaves them; `random` shuffles; `permuted` is the one numbered *permutation* of orders drawn without
    repetition, beginning again once all n! are drawn; `top` and `bottom` sort by importance, descending and ascending,
    ties as given.

    `middle` by relevance sends each document without relevance to the front or the back with equal odds, and sorts the
    others between them by descending relevance (SummHay's released code). `middle` by another importance puts the most
    important document in the centre and the next ones alternately behind and before it, outwards; of an even number,
    the centre is the place before the half. (Wan et al. state no rule.)

    Raises:
        ValueError: An order by importance without importance.
    """
    generator = np.random.default_rng(stable_seed("order", order, seed))
    if order == "given":
        return list(documents)
    if order == "random":
        return [documents[index] for index in generator.permutation(len(documents))]
    if order == "permuted":
        return [documents[index] for index in _drawn(len(documents), permutation or 0, generator)]
    if importance is None:
        raise ValueError(f"order {order!r} needs the importance of documents, found none")
    if order == "bottom":
        return sorted(documents, key=lambda document: importance.of[document])
    falling = sorted(documents, key=lambda document: -importance.of[document])
    return falling if order == "top" else _middle(documents, falling, importance, generator)


def _middle(
    documents: Sequence[int], falling: Sequence[int], importance: ImportanceOf, generator: np.random.Generator
) -> list[int]:
    if not importance.by_relevance:
        return _outwards(falling)
    weights = importance.of
    above_all = max((weights[document] for document in documents), default=0) + 1
    to_front = dict(zip(documents, generator.random(len(documents)) < 0.5, strict=True))
    place = {d: above_all if weights[d] == 0 and to_front[d] else weights[d] for d in documents}
    return sorted(documents, key=lambda document: -place[document])


def _drawn(n: int, number: int, generator: np.random.Generator) -> tuple[int, ...]:
    """Return the order with this *number* among distinct orders drawn one after the other."""
    wanted = number % factorial(n) if n < _FEW else number
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) <= wanted:
        drawn[tuple(generator.permutation(n).tolist())] = None
    return list(drawn)[wanted]


def _outwards(falling: Sequence[int]) -> list[int]:
    """Put the first in the centre, the second behind it, the third before it, and so on."""
    before, behind = falling[2::2], falling[1::2]
    return [*reversed(before), *falling[:1], *behind]


def _within_budget(ranking: Sequence[int], document_tokens: Sequence[int], budget_tokens: int | None) -> dict[int, int]:
    """Map each document index that fits to the tokens kept of it, in rank order."""
    if budget_tokens is None:
        return {document: document_tokens[document] for document in ranking}
    kept: dict[int, int] = {}
    remaining = budget_tokens
    for document in ranking:
        if remaining <= 0:
            break
        kept[document] = min(document_tokens[document], remaining)
        remaining -= kept[document]
    return kept
