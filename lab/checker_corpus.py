"""
The corpus on which the checker is trained and measured: documents, known statements, and nearly stated ones.

Reads   documents of benchmarks, and their gold maps if they have one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from actors.storage.benchmark import Benchmark
from lab.fits.checker_pairs import SENTENCE_WORDS, Near, Stated, passages
from longform.errors import UsageError
from longform.keys import content_key, stable_seed
from longform.records import gold_documents
from longform.text.sentences import sentences

_HELD_OUT = 10
"""One document in so many is kept from training, by the hash of its text."""

_NEAR_SENTENCES = 10  # of a document
_NEAR_RANKS = (0, 0, 0, 1, 3, 10, 30)  # of the passage among those of the haystack's other documents, by nearness
_EVEN_COSINE, _COSINE_STEP = 0.6, 0.1
"""A cosine that is learned as 0.5, and the step that multiplies the odds by e; set by hand."""


class Corpus(NamedTuple):
    """
    Documents to train on and documents that are kept, name -> text.

    Attributes:
        groups: Name -> haystack.
        statements: Haystack -> each insight's text, with the names of the documents that state it.
    """

    trained: dict[str, str]
    kept: dict[str, str]
    groups: dict[str, str]
    statements: dict[str, list[tuple[str, frozenset[str]]]]

    @property
    def hash(self) -> str:
        return content_key(sorted(self.trained), sorted(self.kept))


def read_corpus(bench_urls: Sequence[str], people_urls: Sequence[str]) -> Corpus:
    """
    Return the documents of benchmarks, each text once, without those that people labelled.

    Raises:
        UsageError: Too few documents are left.
    """
    labelled = {text for url in people_urls for text, _ in _texts(url)}
    trained: dict[str, str] = {}
    kept: dict[str, str] = {}
    groups: dict[str, str] = {}
    for url in bench_urls:
        for text, haystack_id in _texts(url):
            name = content_key(text)
            if text.strip() and text not in labelled and name not in groups:
                groups[name] = haystack_id
                (kept if stable_seed("kept", name) % _HELD_OUT == 0 else trained)[name] = text
    if min(len({groups[name] for name in side}) for side in (trained, kept)) < 2:
        raise UsageError(
            f"{', '.join(bench_urls)}: expected documents of several haystacks to train on and to measure with, found "
            f"{len(trained)} and {len(kept)} documents; name more benchmarks"
        )
    statements = {key: rows for url in bench_urls for key, rows in _statements(Benchmark(url)).items()}
    return Corpus(trained, kept, groups, statements)


def _statements(benchmark: Benchmark) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """Return the statements of the haystacks with a gold map."""
    gold = gold_documents(benchmark.qrels)
    rows = benchmark.folder.read("documents", columns=["doc_id", "text"]).to_pylist() if gold else []
    names = {row["doc_id"]: content_key(row["text"]) for row in rows}
    return {
        haystack_id: [
            (target.text, frozenset(names[doc_id] for doc_id in gold[target.target_id]))
            for target in benchmark.haystack_targets(haystack_id)
            if target.target_id in gold
        ]
        for haystack_id in benchmark.haystack_ids
        if gold
    }


def stated(corpus: Corpus, *, threads: int) -> list[Stated]:
    """Each insight beside the nearest passage of each document that is trained on, in its haystack."""
    encoder = Encoder(MINILM, threads=threads)
    found = []
    for name, text in corpus.trained.items():
        statements = corpus.statements.get(corpus.groups[name], [])
        parts = passages(text)
        if statements and parts:
            near = encoder.embed([said for said, _ in statements]) @ encoder.embed(parts).T
            best = near.argmax(axis=1)
            found += [
                Stated(name, parts[place], said, name in stating)
                for (said, stating), place in zip(statements, best, strict=True)
            ]
    return found


def near(corpus: Corpus, *, seed: int, threads: int) -> list[Near]:
    """Some sentences of each document that is trained on beside passages of the others of its haystack."""
    encoder = Encoder(MINILM, threads=threads)
    haystacks: dict[str, list[str]] = {}
    for name in corpus.trained:
        haystacks.setdefault(corpus.groups[name], []).append(name)
    rng = np.random.default_rng(seed)
    return [one for names in haystacks.values() for one in _near_in(names, corpus.trained, encoder, rng)]


def _near_in(names: Sequence[str], texts: Mapping[str, str], encoder: Encoder, rng: np.random.Generator) -> list[Near]:
    parts = [(name, passage) for name in names for passage in passages(texts[name])]
    vectors = encoder.embed([passage for _, passage in parts])
    chosen = []
    for name in names:
        others = np.array([place for place, (other, _) in enumerate(parts) if other != name], dtype=int)
        said = _some_sentences(texts[name], rng) if len(others) else []
        for text, cosines in zip(said, encoder.embed(said) @ vectors[others].T if said else (), strict=True):
            ranked = others[np.argsort(-cosines, kind="stable")]
            chosen.append((text, *parts[ranked[min(int(rng.choice(_NEAR_RANKS)), len(ranked) - 1)]]))
    encoder.embed([sight for _, _, passage in chosen for sight in _sights(passage)])  # all at once is faster
    return [Near(other, passage, text, _likeness(encoder, text, passage)) for text, other, passage in chosen]


def _some_sentences(text: str, rng: np.random.Generator) -> list[str]:
    said = [one.text for one in sentences(text) if len(one.text.split()) in SENTENCE_WORDS]
    return [said[place] for place in rng.permutation(len(said))[:_NEAR_SENTENCES]]


def _sights(passage: str) -> list[str]:
    return [passage, *(sentence.text for sentence in sentences(passage))]


def _likeness(encoder: Encoder, text: str, passage: str) -> float:
    cosine = float((encoder.embed([text]) @ encoder.embed(_sights(passage)).T).max())
    return 1 / (1 + exp((_EVEN_COSINE - cosine) / _COSINE_STEP))


def _texts(url: str) -> list[tuple[str, str]]:
    rows = Benchmark(url).folder.read("documents", columns=["text", "haystack_id"]).to_pylist()
    return [(row["text"], row["haystack_id"]) for row in rows]
