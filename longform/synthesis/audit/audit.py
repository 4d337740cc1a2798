"""
One haystack looked at from outside, and the report over haystacks: the content of `audit.json`.

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

from longform.records import Document, Qrel, Target, gold_documents
from longform.support.index import SupportIndex
from longform.support.model import SupportModel, shipped_support_model
from longform.synthesis.audit.label_noise import Cells, ceiling, joined, label_noise
from longform.synthesis.audit.planted import HaystackFacts, exact_search, planted_places, tenths
from longform.text.words import stems, words

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


def near_duplicates(texts: Sequence[str], *, least: float) -> list[NearDuplicate]:
    """
    Return pairs of documents of at least that Jaccard similarity, the most similar first.

    A pair is compared exactly if its estimate comes within three deviations of *least*.
    """
    held = [shingles(text) for text in texts]
    signatures = np.array([signature(one) for one in held])
    found = []
    for place, row in enumerate(signatures[:-1]):
        estimates = (signatures[place + 1 :] == row).mean(axis=1)
        for other in place + 1 + np.flatnonzero(estimates >= least - _MARGIN):
            exact = similarity(held[place], held[int(other)])
            if exact >= least:
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
    *,
    model: SupportModel | None = None,
) -> HaystackAudit:
    """
    Audit one haystack with at least one document and one target.

    Without *facts* of its maker, statements are not searched word for word, and they are located where a document
    supports the insight best. *model* judges cells; None: the one that ships and reads words does.
    """
    gold = {target.target_id: gold_documents(qrels).get(target.target_id, frozenset()) for target in targets}
    index = SupportIndex([document.text for document in documents])
    claims = [target.text for target in targets]
    judge = model or shipped_support_model("words")
    probability = judge.probability(index.signals(claims))
    listed = np.array([[document.doc_id in gold[target.target_id] for document in documents] for target in targets])
    cells = Cells(probability.ravel(), listed.ravel(), np.repeat(np.arange(len(targets)), len(documents)))
    planted = facts.planted if facts else []
    places = planted_places(documents, planted) if facts else _supported_places(index, claims, listed)
    pairs = near_duplicates([document.text for document in documents], least=NEAR_DUPLICATE)
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
