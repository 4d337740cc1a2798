"""
Faithfulness of a summary to documents, from one number for each cell of document x sentence.

Wan et al., On Positional Bias of Faithfulness for Long-form Summarization (2025), section 2.3: AGG over sentences of
AGG over documents of M(d, s), each AGG one of min, mean, max. A missing cell is NaN here and is never read as a number:
it leaves a number undecided that it could decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Literal, NamedTuple

import numpy as np

from longform.metrics.counts import why_nothing
from longform.metrics.measure import Facts, Measure, Score, Verdict
from longform.metrics.statistics import Array

Merge = Literal["min", "mean", "max"]
MERGES: tuple[Merge, ...] = ("min", "mean", "max")
JUDGED_BY = "support"
SUPPORTED = 0.5
"""A sentence with a number above this is supported (MiniCheck's rule; the paper states none)."""

SOME_CHECKED = "only some documents were checked: faithfulness.mode document checks all"
"""The reason of a number that reads the verdict on every document."""


class Merging(NamedTuple):
    """Rules by which cells become one number: first over documents, then over sentences."""

    documents: Merge = "max"
    sentences: Merge = "mean"

    @property
    def name(self) -> str:
        """Return the name of the measure in tables."""
        return f"faithfulness {self.documents}-{self.sentences}"


RECOMMENDED = Merging()
"""Each document apart, the best one, the mean over sentences: the order of documents cannot move it (section 3.3)."""

GRID = tuple(Merging(documents, sentences) for documents in MERGES for sentences in MERGES)


def merge_documents(cells: Array, how: Merge) -> Array:
    """
    Each sentence's number; NaN: undecided.

    A maximum over documents with a cell missing stands only where another cell is 1, and a minimum where one is 0: no
    missing verdict could change these. (The release ignores missing cells, so that one unread verdict among noes reads
    as no.) A mean needs all cells.

    *cells* have the shape (documents, sentences), in [0, 1]; NaN: unjudged.

    Raises:
        ValueError: No documents.
    """
    if not len(cells):
        raise ValueError("expected at least one document to merge over, found none")
    missing = np.isnan(cells).any(axis=0)
    if how == "mean":
        return np.where(missing, np.nan, np.where(np.isnan(cells), 0.0, cells).mean(axis=0))
    extreme = 1.0 if how == "max" else 0.0
    filled = np.where(np.isnan(cells), 1.0 - extreme, cells)
    merged: Array = filled.max(axis=0) if how == "max" else filled.min(axis=0)
    return np.where(missing & (merged != extreme), np.nan, merged)


def merge_documents_as_released(cells: Array, how: Merge) -> Array:
    """The same by the release's rule: unjudged cells are left out; NaN if a sentence has no judged cell."""
    judged = ~np.isnan(cells)
    n = judged.sum(axis=0)
    filled = np.where(judged, cells, {"min": np.inf, "mean": 0.0, "max": -np.inf}[how])
    merged = {"min": filled.min(axis=0), "mean": filled.sum(axis=0) / np.maximum(n, 1), "max": filled.max(axis=0)}[how]
    return np.where(n > 0, merged, np.nan)


class SummaryFaithfulness(NamedTuple):
    """
    One summary's number: `total / n`, kept apart so that means can be pooled.

    `n_undecided` sentences have no number and are left out; a summary with none left has no number.
    """

    total: float
    n: int
    n_undecided: int

    @property
    def value(self) -> float | None:
        return self.total / self.n if self.n else None


def summary_faithfulness(sentences: Array, how: Merge) -> SummaryFaithfulness:
    """
    The summary's number from its sentences' (shape (sentences,), NaN: undecided).

    A mean pools decided sentences; a minimum or maximum is one number of the summary, and undecided where a missing
    sentence could change it.
    """
    undecided = int(np.isnan(sentences).sum())
    decided = sentences[~np.isnan(sentences)]
    if how == "mean":
        return SummaryFaithfulness(float(decided.sum()), len(decided), undecided)
    merged = float(merge_documents(sentences[:, None], how)[0]) if len(sentences) else float("nan")
    return SummaryFaithfulness(0.0, 0, undecided) if np.isnan(merged) else SummaryFaithfulness(merged, 1, undecided)


def best_documents(cells: Array) -> list[list[int]]:
    """
    Return the documents with the largest number for each sentence, that is its attribution (section 4.2).

    Ties are all named: taking the first would lend its place in the prompt to the measure of places. A sentence with an
    unjudged cell that could win, or that nothing supports at all (all 0), is attributed to none.
    """
    found: list[list[int]] = []
    for column in cells.T:
        best = np.nanmax(column) if not np.isnan(column).all() else 0.0
        open_ = bool(np.isnan(column).any()) and best < 1.0
        found.append([] if open_ or best <= 0.0 else [int(d) for d in np.flatnonzero(column == best)])
    return found


def sensitivity(scores: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """
    Measure how much the order of documents moves a score (Tables 4 and 5, whose formula is not stated but recovered).

    *scores* have the shape (data sets, orders).

    Returns:
        Of each data set the largest minus the smallest over orders; of each order the mean over data sets of how far it
        stays below that data set's best order.
    """
    table = np.asarray(scores, dtype=np.float64)
    best = table.max(axis=1, keepdims=True)
    rows: list[float] = (best[:, 0] - table.min(axis=1)).tolist()
    columns: list[float] = (best - table).mean(axis=0).tolist()
    return rows, columns


# ---------------------------------------------------------------- measures


def place_of(doc_position: int | None, text_index: int | None) -> int | None:
    """Return the row of a verdict among the texts of its summary, also if the order of the prompt is not known."""
    return text_index if doc_position is None else doc_position


def support_cells(verdicts: Iterable[Verdict], *, unchecked: float = np.nan) -> Array:
    """
    Return the numbers of one summary's verdicts, shape (texts in prompt order, sentences); NaN: unjudged.

    *unchecked* stands where there is no verdict: 0 changes no maximum.
    """
    held = list(verdicts)
    places = [(verdict.doc_position or 0, verdict.unit_index or 0) for verdict in held]
    cells = np.full([1 + max((place[axis] for place in places), default=-1) for axis in (0, 1)], unchecked)
    for place, verdict in zip(places, held, strict=True):
        cells[place] = np.nan if verdict.number is None else verdict.number
    return cells


@lru_cache(maxsize=1)
def _cells(facts: Facts) -> Array:
    return support_cells(facts.verdicts, unchecked=0.0 if facts.checked_some else np.nan)


def _merged_score(facts: Facts, merging: Merging) -> Score:
    if facts.checked_some and merging.documents != "max" and not facts.failure:
        return Score(merging.name, 0.0, 0, 0, SOME_CHECKED)
    cells = _cells(facts)
    sentences = merge_documents(cells, merging.documents) if cells.size else np.zeros(0)
    found = summary_faithfulness(sentences, merging.sentences)
    n_unjudged = int(np.isnan(cells).sum())
    return Score(merging.name, found.total, found.n, n_unjudged, None if found.n else _reason(facts, cells))


def _reason(facts: Facts, cells: Array) -> str:
    if facts.failure:
        return f"summary_failed: {facts.failure}"
    return "undecided" if cells.size else why_nothing(facts, "no_sentences")


MEASURES = tuple(
    Measure(
        merging.name,
        partial(_merged_score, merging=merging),
        judged_by=JUDGED_BY,
        version="faithfulness@1",
        title="mean probability of support" if merging == RECOMMENDED else "",
        told=f"support of each sentence, the {merging.documents} over documents, then the {merging.sentences} over "
        "sentences",
    )
    for merging in GRID
)
