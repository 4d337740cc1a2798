"""
Faithfulness and coverage by the place of documents in the prompt.

Wan et al., On Positional Bias of Faithfulness for Long-form Summarization (2025), section 4.2 and appendix C. A
sentence is attributed to the document that supports it best; the mean number of the sentences attributed to a place is
that place's faithfulness. The mean number of all sentences against the document at a place is its coverage: what the
summary says of it at all, which confounds the first.

Contexts of different lengths share an axis of bins: place p of n documents falls into bin floor(bins * (p + 1/2) / n),
which is place p itself if there are as many bins as documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.keys import in_groups
from longform.metrics.faithfulness import best_documents, merge_documents
from longform.metrics.statistics import Array, Estimate, pooled_mean

MOST_BINS = 10
FOUND = 0.001
"""The level of a verdict on a curve: about 1 in 1,000 flat curves is called anything else (decision 73)."""
_AT_ONCE = 2000  # permutations
_CLEAR = 20  # permutations that reach the spread after which no verdict is left to be found


class SummaryPlaces(NamedTuple):
    """One summary's numbers by the sentence, and by the place of documents in its prompt."""

    numbers: Array  # merged over documents, shape (sentences,); NaN: undecided
    best: Sequence[Sequence[int]]  # for each sentence the places of the documents that support it best
    covered: Array  # sum of the numbers of all sentences against the document at each place, shape (documents,)
    n_covered: Array  # judged ones among these cells, of the same shape

    @property
    def unplaced(self) -> NDArray[np.bool_]:
        """Shape (sentences,): whether it has no place; no document has anything for it, or it is undecided."""
        return np.isnan(self.numbers) | np.array([not places for places in self.best], dtype=np.bool_)

    @property
    def attributed(self) -> tuple[Array, Array]:
        """
        Sums and counts of the numbers of the sentences whose best document stands at each place.

        A sentence that is called unsupported counts at its place like any other; one with several best documents counts
        in equal parts.
        """
        totals, counts = np.zeros(len(self.covered)), np.zeros(len(self.covered))
        for places, number in zip(self.best, self.numbers, strict=True):
            for place in [] if np.isnan(number) else places:
                totals[place] += number / len(places)
                counts[place] += 1 / len(places)
        return totals, counts


class PlaceSums(NamedTuple):
    """Totals and counts of each summary by place, each of shape (documents,)."""

    totals: Sequence[Array]
    counts: Sequence[Array]


def summary_places(cells: Array) -> SummaryPlaces:
    """
    Make it from the cells of a summary, shape (documents in prompt order, sentences); NaN: unjudged.

    Each sentence is attributed to the places that support it best here. A judge that only says yes or no needs `best`
    of another: it has no best document for what it calls unsupported, so that all it places is supported.
    """
    numbers = merge_documents(cells, "max") if cells.size else np.zeros(cells.shape[1])
    judged = ~np.isnan(cells)
    covered = np.where(judged, cells, 0.0).sum(axis=1)
    return SummaryPlaces(numbers, best_documents(cells), covered, judged.sum(axis=1).astype(np.float64))


def attributed_sums(summaries: Sequence[SummaryPlaces]) -> PlaceSums:
    """Faithfulness by place: the best document of each sentence."""
    sums = [summary.attributed for summary in summaries]
    return PlaceSums([totals for totals, _ in sums], [counts for _, counts in sums])


def covered_sums(summaries: Sequence[SummaryPlaces]) -> PlaceSums:
    """Coverage by place: each document against the whole summary."""
    return PlaceSums([s.covered for s in summaries], [s.n_covered for s in summaries])


def averaged(sums: PlaceSums, names: Sequence[str]) -> PlaceSums:
    """Average the summaries of one name, which were given the same documents; those without a count have no weight."""
    groups = in_groups(zip(names, zip(sums.totals, sums.counts, strict=True), strict=True))
    n_known = [max(1, sum(bool(counts.any()) for _, counts in rows)) for rows in groups.values()]
    means = [np.sum(rows, axis=0) / n for rows, n in zip(groups.values(), n_known, strict=True)]
    return PlaceSums([totals for totals, _ in means], [counts for _, counts in means])


def n_bins(summaries: Sequence[SummaryPlaces]) -> int:
    """Return as many bins as the usual context has documents, at most ten."""
    lengths = Counter(len(summary.covered) for summary in summaries)
    return min(MOST_BINS, max(lengths, key=lambda n: (lengths[n], n), default=0))


def bin_of(n_documents: int, bins: int) -> NDArray[np.int64]:
    """The bin of each place, shape (documents,)."""
    return (bins * (np.arange(n_documents) + 0.5) / n_documents).astype(np.int64)


def curve(sums: PlaceSums, clusters: Sequence[Hashable], bins: int, *, seed: int, resamples: int) -> list[Estimate]:
    """The mean of each bin with its interval over clusters; no value if nothing falls into it."""
    totals, counts = binned(sums, bins)
    return [
        pooled_mean(totals[:, place], counts[:, place], clusters, seed=seed, resamples=resamples)
        for place in range(bins)
    ]


FLAT = "not distinguishable from flat"
U_SHAPED = "U-shaped"


class BiasIndex(NamedTuple):
    """Distance of a curve from flat, in the measure's own unit."""

    spread: float  # root of the weighted mean square distance of the bins from the mean of all; 0 is flat
    lead: float  # mean of the first third less that of the last; positive: the start is favoured
    ends: float  # mean of the first and last third less that of the middle one; positive: U-shaped
    p: float  # for `spread`; this and the next two permute the places of each summary's documents
    p_lead: float
    p_ends: float

    @property
    def shape(self) -> str:
        """Name the shape: nothing but FLAT unless `p` is at most FOUND, then what each contrast shows."""
        if self.p > FOUND:
            return FLAT
        words = [
            *(["lead bias"] if self.p_lead <= FOUND and self.lead > 0 else []),
            *(["recency bias"] if self.p_lead <= FOUND and self.lead < 0 else []),
            *([U_SHAPED] if self.p_ends <= FOUND and self.ends > 0 else []),
            *(["middle favoured"] if self.p_ends <= FOUND and self.ends < 0 else []),
        ]
        return ", ".join(words) or "uneven"


def bias_index(sums: PlaceSums, bins: int, *, seed: int, permutations: int = 2000) -> BiasIndex | None:
    """
    The index of a curve and its permutation test against flat; None with fewer than three bins, or nothing in them.

    Under the null a document's place does not matter, so that a summary's documents may change places; sentences of one
    document move together. The observed arrangement counts as one. Fewer than *permutations* are drawn if the first
    ones reach the spread so often that it is not distinguishable from flat.
    """
    if bins < 3:
        return None
    observed = _contrasts(*(part.sum(axis=0, keepdims=True) for part in binned(sums, bins)))
    if np.isnan(observed).any():
        return None
    reached, n_drawn = np.zeros(3, dtype=np.int64), 0
    for drawn in _permuted(sums, bins, seed=seed, permutations=permutations):
        reached += (np.abs(drawn) >= np.abs(observed) - 1e-12).sum(axis=0)
        n_drawn += len(drawn)
        if reached[0] >= _CLEAR:
            break
    p = (1 + reached) / (1 + n_drawn)
    spread, lead, ends = observed[0].tolist()
    return BiasIndex(spread, lead, ends, *p.tolist())


def degenerate(summaries: Sequence[SummaryPlaces], bins: int) -> dict[str, int]:
    """Count cases without a place on a curve, and summaries, sentences and bins in all."""
    counts = binned(attributed_sums(summaries), bins)[1].sum(axis=0)
    return {
        "n_summaries": len(summaries),
        "n_empty": sum(not len(summary.numbers) for summary in summaries),
        "n_sentences": sum(len(summary.numbers) for summary in summaries),
        "n_unattributed": sum(int(summary.unplaced.sum()) for summary in summaries),
        "n_bins_never_attributed": int((counts == 0).sum()),
    }


# ---------------------------------------------------------------- inside


def binned(sums: PlaceSums, bins: int) -> tuple[Array, Array]:
    """Totals and counts, each (summaries, bins)."""

    def of(rows: Sequence[Array]) -> Array:
        found = [np.bincount(bin_of(len(row), bins), weights=row, minlength=bins) for row in rows]
        return np.array(found, dtype=np.float64).reshape(-1, bins)

    return of(sums.totals), of(sums.counts)


def _permuted(sums: PlaceSums, bins: int, *, seed: int, permutations: int) -> Iterator[Array]:
    """Contrasts (permutations, 3) with each summary's documents in random places, _AT_ONCE at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, permutations, _AT_ONCE):
        m = min(_AT_ONCE, permutations - start)
        totals, counts = np.zeros((m, bins)), np.zeros((m, bins))
        for total, count in zip(sums.totals, sums.counts, strict=True):
            n = len(total)
            order = rng.permuted(np.tile(np.arange(n), (m, 1)), axis=1)
            held = np.zeros((n, bins))
            held[np.arange(n), bin_of(n, bins)] = 1
            totals += total[order] @ held
            counts += count[order] @ held
        yield _contrasts(totals, counts)


def _contrasts(totals: Array, counts: Array) -> Array:
    """Spread, lead and ends, shape (curves, 3), of curves from sums (curves, bins); NaN if a curve has no count."""
    n = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = totals.sum(axis=1, keepdims=True) / n
    means = np.where(counts > 0, totals / np.where(counts > 0, counts, 1.0), mean)
    spread = np.sqrt((counts * (means - mean) ** 2).sum(axis=1) / np.maximum(n[:, 0], 1e-300))
    third = max(1, totals.shape[1] // 3)
    parts = slice(0, third), slice(-third, None), slice(third, -third)
    start, end, centre = (_means(totals[:, part], counts[:, part], mean[:, 0]) for part in parts)
    return np.column_stack([np.where(n[:, 0] > 0, spread, np.nan), start - end, (start + end) / 2 - centre])


def _means(totals: Array, counts: Array, otherwise: Array) -> Array:
    """Means of curves (curves,) over some bins; *otherwise* if nothing falls into them."""
    n = counts.sum(axis=1)
    return np.where(n > 0, totals.sum(axis=1) / np.where(n > 0, n, 1.0), otherwise)
