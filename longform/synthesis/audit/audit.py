"""
One haystack looked at from outside, and the report over haystacks: the content of `audit.json`.

The report estimates how many cells of a gold map are wrong, by a judge that had no part in making it; and the ceiling
they set.

A cell is a pair of document and insight. The judge gives each a strength, and half of the cells that the gold map
leaves out lie at or below their median. If a share e of the cells that it lists were of that kind, e / 2 of the listed
cells would lie there too; so the share that does, over the half, estimates e, the *false positives*. The other way
round, the share of the cells left out that lie above the listed ones' median estimates the *missed* cells among them.
This is the estimate of a mixture's weight from a region that only one of its parts reaches (Scott, Blanchard and Handy,
2013); it needs no threshold and no knowledge of how good the judge is. Where the judge confuses the two kinds, both
estimates are too high, and the ceiling made of them too low.

A perfect system covers each insight that some document states and cites exactly those documents. Of the n documents
that the gold map lists for an insight, n - x state it, and m others do; with x and m binomial by the shares of wrong
cells, its citation F1 is 2 (n - x) / ((n - x + m) + n). An insight that nothing states cannot be covered: it scores 0.

Near-duplicate documents are found by MinHash (Broder, 1997). A document is the set of its runs of `SHINGLE` words. The
share of equal minima under many hash functions estimates the Jaccard similarity of two sets; pairs that may be alike
are then compared exactly.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from longform.metrics.statistics import LEVEL, Estimate, bootstrap
from longform.records import Document, Qrel, Target, gold_documents
from longform.support.index import SupportIndex
from longform.support.model import shipped_support_model
from longform.synthesis.audit.planted import HaystackFacts, exact_search, planted_places, tenths
from longform.text.words import stems, words

Array = NDArray[np.float64]


class Cells(NamedTuple):
    """The cells of one or more haystacks; each column has shape (cells,)."""

    strength: Array  # higher for more support, by the judge
    listed: NDArray[np.bool_]  # by the gold map
    insight: NDArray[np.int64]  # a label


class LabelNoise(NamedTuple):
    """Shares in [0, 1], with intervals."""

    false_positives: Estimate  # of the cells that the gold map lists, those whose document does not state the insight
    missed: Estimate  # of the cells that it leaves out, those whose document does


def label_noise(cells: Cells, *, seed: int, resamples: int = 1000) -> LabelNoise:
    """
    Return the shares of wrong cells; all None if one of the two kinds has no cell.

    Intervals are the wider of two: a bootstrap over insights, and Clopper and Pearson's of the count, which does not
    shrink to nothing if no cell looks wrong.
    """
    listed, left_out = cells.strength[cells.listed], cells.strength[~cells.listed]
    if not len(listed) or not len(left_out):
        nothing = Estimate(None, None, None, 0)
        return LabelNoise(nothing, nothing)
    low, high = np.median(left_out), np.median(listed)
    settings = {"seed": seed, "resamples": resamples}
    # over the share of the other kind that lies there: a half, or more where many cells are equal
    return LabelNoise(
        event_share(listed <= low, cells.insight[cells.listed], over=float((left_out <= low).mean()), **settings),
        event_share(left_out >= high, cells.insight[~cells.listed], over=float((listed >= high).mean()), **settings),
    )


def event_share(
    events: NDArray[np.bool_], clusters: NDArray[np.int64], *, over: float = 1.0, seed: int = 0, resamples: int = 1000
) -> Estimate:
    """
    The share of *events* over *over*, at most 1; its interval is the wider of the two that `label_noise` names.

    Events, at least one, and the clusters that are drawn together have shape (cells,).
    """
    columns = np.stack([events.astype(np.float64), np.ones(len(events))], axis=1)
    drawn = bootstrap(
        columns,
        clusters.tolist(),
        lambda sums: np.asarray(sums[:, 0] / sums[:, 1]),
        n=len(events),
        seed=seed,
        resamples=resamples,
    )
    from scipy.stats import binomtest  # slow to import

    exact = binomtest(int(events.sum()), len(events)).proportion_ci(LEVEL)  # Clopper and Pearson's
    least, most = float(exact.low), float(exact.high)
    low = min(least, least if drawn.low is None else drawn.low)
    high = max(most, most if drawn.high is None else drawn.high)
    value, low, high = (min(1.0, share / over) for share in (float(events.mean()), low, high))
    return Estimate(value, low, high, len(events))


def joined(parts: Sequence[Cells]) -> Cells:
    """The cells of several haystacks; insights of different ones stay different."""
    shifts = np.cumsum([0, *(int(part.insight.max(initial=-1)) + 1 for part in parts)])
    return Cells(
        np.concatenate([part.strength for part in parts]),
        np.concatenate([part.listed for part in parts]),
        np.concatenate([part.insight + shift for part, shift in zip(parts, shifts, strict=False)]),
    )


# ---------------------------------------------------------------- the ceiling


_NEGLIGIBLE = 1e-9  # a share of missed cells, and the probability of more of them than are summed over


def expected_joint(sizes: Sequence[tuple[int, int]], *, false_positives: float, missed: float) -> float:
    """
    Return the mean score that a perfect system is expected to reach, in [0, 1].

    *sizes* has for each insight the documents that its gold map lists, at least one, and all documents; of the listed
    cells the share *false_positives* is wrong, of the others the share *missed*.
    """
    known = {size: _expected_f1(*size, false_positives=false_positives, missed=missed) for size in set(sizes)}
    return float(np.mean([known[size] for size in sizes]))


def ceiling(sizes: Sequence[tuple[int, int]], noise: LabelNoise) -> dict[str, float | str | None]:
    """
    The ceiling on the joint score, 0 to 100: its value, and its interval from the ends of both shares' intervals.

    The ends are taken together, both shares high or both low, so the interval is wider than 95 %.
    """
    positives, missed = noise
    if not sizes or None in (*positives[:3], *missed[:3]):
        return {"value": None, "low": None, "high": None, "reason": "label noise is not known"}
    pairs = {
        "value": (positives.value, missed.value),
        "low": (positives.high, missed.high),
        "high": (positives.low, missed.low),
    }
    return {
        name: round(100 * expected_joint(sizes, false_positives=float(wrong or 0), missed=float(lost or 0)), 3)
        for name, (wrong, lost) in pairs.items()
    }


def _expected_f1(n_listed: int, n_documents: int, *, false_positives: float, missed: float) -> float:
    from scipy.stats import binom  # slow to import

    others = n_documents - n_listed if missed > _NEGLIGIBLE else 0
    most = int(binom.ppf(1 - _NEGLIGIBLE, others, missed)) if others else 0
    right = np.arange(n_listed + 1)[:, None]
    more = np.arange(most + 1)[None, :]
    # (documents rightly listed, documents missed)
    chance = binom.pmf(right, n_listed, 1 - false_positives) * binom.pmf(more, others, missed)
    return float((chance * 2 * right / (right + more + n_listed)).sum())


# ---------------------------------------------------------------- near-duplicates


SHINGLE = 5
N_HASHES = 128
_MARGIN = 0.15  # three deviations of an estimate from 128 hashes are 0.13 at most


class NearDuplicate(NamedTuple):
    """Two documents by their places, and the Jaccard similarity of their shingles."""

    one: int
    other: int
    similarity: float


def shingles(text: str) -> frozenset[int]:
    """Hashes, of 31 bits, of the runs of `SHINGLE` words; of a shorter text the whole."""
    said = words(text)
    runs = {" ".join(said[at : at + SHINGLE]) for at in range(max(1, len(said) - SHINGLE + 1))}
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=4).digest()) >> 1 for run in runs)


def signature(held: frozenset[int]) -> NDArray[np.uint64]:
    """The smallest value of each hash function over the shingles, shape (N_HASHES,)."""
    rng = np.random.default_rng(0)  # the functions are part of the definition
    factors, shifts = rng.integers(1, 1 << 31, size=(2, N_HASHES), dtype=np.uint64)
    values = np.array(sorted(held), dtype=np.uint64)[:, None]
    # (shingles, hashes); products of two 31-bit numbers stay within 64 bits, and the prime is 2**31 - 1
    return np.asarray(((values * factors + shifts) % np.uint64((1 << 31) - 1)).min(axis=0))


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """Jaccard similarity of two sets that are not both empty."""
    return len(one & other) / len(one | other)


def near_duplicates(texts: Sequence[str]) -> list[NearDuplicate]:
    """
    Return pairs of documents whose Jaccard similarity is at least `NEAR_DUPLICATE`, the most similar first.

    A pair is compared exactly if its estimate comes within three deviations of that.
    """
    held = [shingles(text) for text in texts]
    signatures = np.array([signature(one) for one in held])
    found = []
    for place, row in enumerate(signatures[:-1]):
        estimates = (signatures[place + 1 :] == row).mean(axis=1)
        for other in place + 1 + np.flatnonzero(estimates >= NEAR_DUPLICATE - _MARGIN):
            exact = similarity(held[place], held[int(other)])
            if exact >= NEAR_DUPLICATE:
                found.append(NearDuplicate(place, int(other), exact))
    return sorted(found, key=lambda pair: -pair.similarity)


# ---------------------------------------------------------------- the audit


VERSION = "2"
"""Changes with any change of a number."""

JUDGE = "support-words"
NEAR_DUPLICATE = 0.5  # Jaccard similarity of runs of five words
_SUPPORTED = 0.5  # probability
NOT_STATED = "who made this haystack left no list of planted statements, as chat models leave none"


class HaystackAudit(NamedTuple):
    """One haystack's part of the report."""

    facts: Mapping[str, JsonValue]  # its own lines
    cells: Cells  # every pair of document and insight, judged
    sizes: Sequence[tuple[int, int]]  # for each insight the documents that its gold map lists, and all documents

    def as_json(self) -> dict[str, JsonValue]:
        """A JSON object that `from_json` takes, every number exact."""
        cells = {name: column.tolist() for name, column in self.cells._asdict().items()}
        return {"facts": dict(self.facts), "cells": cells, "sizes": [list(size) for size in self.sizes]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> HaystackAudit:
        """Return the audit that `as_json` wrote."""
        cells = value["cells"]
        strength, insight = np.array(cells["strength"], np.float64), np.array(cells["insight"], np.int64)
        sizes = [(listed, documents) for listed, documents in value["sizes"]]
        return cls(value["facts"], Cells(strength, np.array(cells["listed"], np.bool_), insight), sizes)


def audit_haystack(
    documents: Sequence[Document],
    targets: Sequence[Target],
    qrels: Sequence[Qrel],
    facts: HaystackFacts | None = None,
) -> HaystackAudit:
    """
    Audit one haystack with at least one document and one target.

    Without *facts* of its maker, statements are not searched word for word, and they are located where a document
    supports the insight best.
    """
    known = gold_documents(qrels)
    gold = {target.target_id: known.get(target.target_id, frozenset()) for target in targets}
    index = SupportIndex([document.text for document in documents])
    claims = [target.text for target in targets]
    probability = shipped_support_model("words").probability(index.signals(claims))
    listed = np.array([[document.doc_id in gold[target.target_id] for document in documents] for target in targets])
    cells = Cells(probability.ravel(), listed.ravel(), np.repeat(np.arange(len(targets)), len(documents)))
    planted = facts.planted if facts else []
    places = planted_places(documents, planted) if facts else _supported_places(index, claims, listed)
    pairs = near_duplicates([document.text for document in documents])
    counts = listed.sum(axis=1)
    told: dict[str, JsonValue] = {
        "haystack_id": documents[0].haystack_id,
        "settings": dict(facts.settings) if facts else None,
        "documents": len(documents),
        "insights": len(targets),
        "planted": {**dict(sorted(Counter(str(one.kind) for one in planted).items()))} if facts else None,
        "exact_search": {**exact_search(documents, gold, planted)} if facts else None,
        "reasons": {} if facts else {"settings": NOT_STATED, "planted": NOT_STATED, "exact_search": NOT_STATED},
        "near_duplicates": [
            {"doc_ids": [documents[at].doc_id for at in pair[:2]], "similarity": round(pair.similarity, 4)}
            for pair in pairs
        ],
        "located_by": "planted statement" if facts else "best support",
        "prose": dict(facts.prose) if facts and facts.prose else None,
        "tenths": [*tenths(places)],
        "documents_per_insight": {"least": int(counts.min()), "mean": float(counts.mean()), "most": int(counts.max())},
    }
    sizes = [(int(count), len(documents)) for count in counts if count]
    return HaystackAudit(told, cells, sizes)


def audit_report(parts: Sequence[HaystackAudit], *, seed: int) -> dict[str, JsonValue]:
    """
    The content of `audit.json`: each haystack's facts, the label noise over all cells, and the ceiling it sets.

    There is at least one part; *seed* draws the bootstrap.
    """
    cells = joined([part.cells for part in parts])
    noise = label_noise(cells, seed=seed)
    sizes = [size for part in parts for size in part.sizes]
    listed = int(cells.listed.sum())
    left_out = len(cells.listed) - listed
    missed = noise.missed.value
    stated = None if missed is None else missed * left_out + (1 - float(noise.false_positives.value or 0)) * listed
    return {
        "version": VERSION,
        "judge": JUDGE,
        "cells": {"listed": listed, "left_out": left_out},
        "judged": {
            "listed_rejected": int((cells.listed & (cells.strength < _SUPPORTED)).sum()),
            "left_out_accepted": int((~cells.listed & (cells.strength >= _SUPPORTED)).sum()),
        },
        "false_positives": {**noise.false_positives._asdict()},
        "missed": {**noise.missed._asdict()},
        "false_negatives": round(missed * left_out / stated, 6) if missed is not None and stated else None,
        "joint_ceiling": dict(ceiling(sizes, noise)),
        "haystacks": [dict(part.facts) for part in parts],
    }


def _supported_places(index: SupportIndex, claims: Sequence[str], listed: NDArray[np.bool_]) -> list[tuple[int, int]]:
    # the one sentence that says most of it; of wider windows that hold it the first would be taken
    starts = index.best_windows([stems(claim) for claim in claims], window=1).start
    lengths = np.diff(index.bounds)
    return [
        (2 * (int(starts[row, column]) - int(index.bounds[column])) + 1, 2 * int(lengths[column]))
        for row, column in zip(*np.nonzero(listed), strict=True)
        if lengths[column]
    ]
