"""
Citations by matrix: a summary's citations replaced by the documents whose words support each bullet.

Among many documents bullets are read a second time, with the words in which the documents state them. A bullet says in
its own words what documents say in theirs, or says more than one of them does. The first reading finds a few documents
all the same. Words that their best windows share, and that the best windows of the other documents lack, widen the
claim for a second reading: pseudo-relevance feedback. Words are weighed by their part in the Kullback-Leibler
divergence of the two, after Carpineto et al., An Information-Theoretic Approach to Automatic Query Expansion (TOIS
2001).

The first reading must not miss a document that says it as the claim does; the second says how many say it, so its model
reads gaps between documents too. What is read depends on the claim and the documents alone, never on other claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from longform.models import models_version
from longform.repair.twins import citing, is_header, twin
from longform.rows import SummaryRow
from longform.support.index import NUMBERS, WINDOW, SupportIndex
from longform.support.model import FEW_DOCUMENTS, Array, SupportModel, expected_f1_sets, shipped_support_model
from longform.support.model import VERSION as MODEL_VERSION
from longform.text.citations import bullets
from longform.text.words import stems, without_marks

VERSION = f"5+2+{MODEL_VERSION}+{models_version('support_words', 'support_words_and_gap')}"
"""Changes with any change of what is cited; its second number, with any of a probability."""

DOCUMENTS = 5
"""The most probable documents of the first reading, whose windows give words."""

WINDOWS = (1, 2, 3)
"""Sizes of the windows, in sentences; their words are averaged."""

WORDS = 20
"""Stems taken from the windows of one size."""

SHARE = 0.6
"""The found words' share of the widened claim's weight."""

_FLOOR = 0.02
"""Added to both shares of a word's windows, so that one chance window decides nothing."""

_BLOCK_CELLS = 4_000_000


class Readers(NamedTuple):
    """The models of both readings, each fitted on claims that were read once."""

    first: SupportModel  # of kind `words`
    second: SupportModel  # of kind `words_and_gap`


def shipped_readers() -> Readers:
    """Return the models in `longform/models/`."""
    return Readers(shipped_support_model("words"), shipped_support_model("words_and_gap"))


def read_twice(claims: Sequence[str], index: SupportIndex, readers: Readers) -> Array:
    """
    Return the probability that each document supports each claim, read twice; shape (claims, documents).

    Few documents are read once: their model compares a document with the best one alone.

    Citations and list markers of claims are left aside. Features of *readers* are relative, so that neither needs a fit
    on widened claims.
    """
    signals = index.signals(claims)
    first = readers.first.probability(signals)
    if first.shape[1] < FEW_DOCUMENTS:
        return first
    weights = index.weights(stems(without_marks(claim)) for claim in claims)
    widened = widen(weights, first, index)
    return readers.second.probability({**index.weighted_signals(widened), NUMBERS: signals[NUMBERS]})


def widen(weights: sparse.csr_array, probability: Array, index: SupportIndex) -> sparse.csr_array:
    """
    Return claims with the words of the documents that seem to support them, shape (claims, stems).

    *weights* are those of `SupportIndex.weights`, *probability* is that of the first reading, shape (claims,
    documents).
    """
    found = sum(
        (_found_words(weights, probability, index, size) for size in WINDOWS), start=sparse.csr_array(weights.shape)
    )
    return sparse.csr_array((1 - SHARE) * weights + SHARE / len(WINDOWS) * found, dtype=np.float32)


def _found_words(weights: sparse.csr_array, probability: Array, index: SupportIndex, size: int) -> sparse.csr_array:
    # (claims, stems), a row's weights sum to 1, or to 0 if no word tells the likely documents from the others
    best = index.weighted_windows(weights, window=size)
    shares_a_word = best.recall > 0  # a document without sentences has no window
    likely = _windows(best.start, shares_a_word * _most_probable(probability), len(index.sentences))
    others = _windows(best.start, shares_a_word * (1 - probability), len(index.sentences))
    held = index.held_by(size).T.tocsr()  # (windows, stems)
    step = max(1, _BLOCK_CELLS // max(1, held.shape[1]))
    blocks = [
        _strongest(_divergence(likely[top : top + step] @ held, (others[top : top + step] @ held).toarray()))
        for top in range(0, weights.shape[0], step)
    ]
    return sparse.csr_array(sparse.vstack(blocks)) if blocks else sparse.csr_array(weights.shape)


def _most_probable(probability: Array) -> Array:
    place = min(DOCUMENTS, probability.shape[1])
    least = np.partition(probability, -place, axis=1)[:, -place][:, None]
    return np.where(probability >= least, probability, 0.0)


def _windows(start: NDArray[np.int32], share: Array, n_windows: int) -> sparse.csr_array:
    # (claims, windows): each document's share at its best window; a row sums to 1
    shares = share / np.maximum(share.sum(axis=1, keepdims=True), 1e-9)
    ends = np.arange(len(start) + 1) * start.shape[1]
    return sparse.csr_array((shares.ravel(), start.ravel(), ends), shape=(len(start), n_windows))


def _divergence(likely: sparse.csr_array, others: Array) -> sparse.csr_array:
    # of both, shape (claims, stems): the share of windows that hold a stem
    rows = np.repeat(np.arange(likely.shape[0]), np.diff(likely.indptr))
    ratio = (likely.data + _FLOOR) / (others[rows, likely.indices] + _FLOOR)
    part = np.round(likely.data * np.maximum(np.log(ratio), 0), 9)  # equal words stay equal on any machine
    return sparse.csr_array((part, likely.indices, likely.indptr), shape=likely.shape)


def _strongest(parts: sparse.csr_array) -> sparse.csr_array:
    # the WORDS strongest of each row, those as strong as the last too; a row sums to 1
    kept = parts.data.copy()
    for begin, end in zip(parts.indptr, parts.indptr[1:], strict=False):
        row = kept[begin:end]
        if len(row) > WORDS:
            row[row < np.partition(row, -WORDS)[-WORDS]] = 0
        row /= max(row.sum(), 1e-9)
    return sparse.csr_array((kept, parts.indices, parts.indptr), shape=parts.shape)


def repaired_summaries(
    summaries: Sequence[SummaryRow], index: SupportIndex, numbers: Sequence[int], *, by: str = VERSION
) -> list[SummaryRow]:
    """
    Return the repaired twin of each row of the summaries table, in order.

    The summaries are of one haystack, whose documents *index* holds; `work_id` stays as it is. *numbers* are those by
    which documents are cited, in the index's order. *by* changes with any change of the citations.
    """
    written = [summary["text"] for summary in summaries if summary["text"] is not None]
    repaired = iter(repaired_texts(written, index, numbers))
    return [twin(summary, None if summary["text"] is None else next(repaired), by=by) for summary in summaries]


def repaired_texts(texts: Sequence[str], index: SupportIndex, numbers: Sequence[int]) -> list[str]:
    """
    Return *texts* with every bullet citing the documents that support it.

    A header line (no citation, a colon at its end) stays as it is, and so does a line of nothing but citations; a
    bullet that no document supports cites none. No line comes or goes: links to bullets stay true. Among many documents
    a bullet is read twice. The *texts* are summaries of one haystack, and *numbers* those by which its documents are
    cited, in the index's order.
    """
    lines = [bullet for text in texts for bullet in bullets(text)]
    cited = expected_f1_sets(read_twice([line.text for line in lines], index, shipped_readers()))  # (lines, documents)
    repaired = iter(
        line.text
        if is_header(line)
        else citing(line.text, [number for number, cites in zip(numbers, row, strict=True) if cites])
        for line, row in zip(lines, cited.tolist(), strict=True)
    )
    return ["\n".join(next(repaired) for _ in bullets(text)) for text in texts]


class BestPlace(NamedTuple):
    """The sentences of a document that support a bullet best."""

    number: int  # what the document is cited by
    text: str


def best_evidence(bullet: str, cited: Sequence[int], index: SupportIndex, numbers: Sequence[int]) -> BestPlace | None:
    """Return the best place in the *cited* documents for *bullet*; None if it cites none of them."""
    places = [place for place, number in enumerate(numbers) if number in set(cited)]
    if not places:
        return None
    found = index.best_windows([stems(without_marks(bullet))])
    best = max(places, key=lambda place: (float(found.recall[0, place]), -place))
    start = int(found.start[0, best])
    end = min(start + WINDOW, int(index.bounds[best + 1]))
    return BestPlace(numbers[best], " ".join(index.sentences[start:end]))
