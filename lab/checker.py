"""
Train the checker that ships; see `lab.parsers.checker`.

The corpus is documents of benchmarks, with known statements if a benchmark has a gold map, and sentences that another
document nearly states.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from actors.judges.opening import card_bytes
from actors.local_models.checkpoints import MINILM, change_content, model_path
from actors.local_models.encoder import Encoder
from actors.local_models.low_rank import write_checkpoint
from actors.storage.benchmark import Benchmark
from actors.terminal import say
from jobs.calibration.people_labels import people_reach
from lab.checker_training import MAX_TOKENS, CheckerTrainer, Recipe
from lab.fits import INTERVALS, best_threshold, write_json
from lab.fits.checker_pairs import (
    SENTENCE_WORDS,
    SUPPORTED,
    UNSUPPORTED,
    CheckerPair,
    Stated,
    checker_pairs,
    passages,
)
from longform.errors import UsageError
from longform.judges.card_columns import Reach, reach_of
from longform.keys import content_key, stable_seed
from longform.metrics.balanced import auroc
from longform.records import gold_documents
from longform.settings.named_judges import SHIPPED_CHECKER
from longform.text.sentences import sentences

VERSION = "3"
"""Changes with any change of the pairs, or of what is learned from them."""
HELD_OUT_PAIRS = 3_000
CHANGE, CHECKPOINT = "checker.safetensors", "checkpoint"
_SEED = 1
_HELD_OUT_SEED = 2
_HELD_OUT = 10
"""One document in so many is kept from training, by the hash of its text."""

_NEAR_SENTENCES = 10  # of a document
_NEAR_RANKS = (0, 0, 0, 1, 3, 10, 30)  # of the passage among those of the haystack's other documents, by nearness
_EVEN_COSINE, _COSINE_STEP = 0.6, 0.1
"""A cosine that is learned as 0.5, and the step that multiplies the odds by e; set by hand."""


class Corpus(NamedTuple):
    """Documents to train on and documents that are kept, name -> text."""

    trained: dict[str, str]
    kept: dict[str, str]
    groups: dict[str, str]  # name -> haystack
    statements: dict[str, list[tuple[str, frozenset[str]]]]  # haystack -> insights, and the documents that state them


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
                Stated(name, parts[place], said, float(name in stating))
                for (said, stating), place in zip(statements, best, strict=True)
            ]
    return found


def near(corpus: Corpus, *, threads: int) -> list[Stated]:
    """Some sentences of each document that is trained on beside passages of the others of its haystack."""
    encoder = Encoder(MINILM, threads=threads)
    rng = np.random.default_rng(_SEED)
    haystacks = dict.fromkeys(corpus.groups[name] for name in corpus.trained)
    return [one for haystack in haystacks for one in _near_in(haystack, corpus, encoder, rng)]


def _near_in(haystack: str, corpus: Corpus, encoder: Encoder, rng: np.random.Generator) -> list[Stated]:
    texts = {name: text for name, text in corpus.trained.items() if corpus.groups[name] == haystack}
    parts = [(name, passage) for name, text in texts.items() for passage in passages(text)]
    vectors = encoder.embed([passage for _, passage in parts])
    chosen = []
    for name, own in texts.items():
        others = np.array([place for place, (other, _) in enumerate(parts) if other != name], dtype=int)
        said = _some_sentences(own, rng) if len(others) else []
        for text, cosines in zip(said, encoder.embed(said) @ vectors[others].T if said else (), strict=True):
            ranked = others[np.argsort(-cosines, kind="stable")]
            chosen.append((text, *parts[ranked[min(int(rng.choice(_NEAR_RANKS)), len(ranked) - 1)]]))
    encoder.embed([sight for _, _, passage in chosen for sight in sights(passage)])  # all at once is faster
    return [
        Stated(other, passage, text, 1 / (1 + exp((_EVEN_COSINE - _cosine(encoder, text, passage)) / _COSINE_STEP)))
        for text, other, passage in chosen
    ]


def _some_sentences(text: str, rng: np.random.Generator) -> list[str]:
    said = [one.text for one in sentences(text) if len(one.text.split()) in SENTENCE_WORDS]
    return [said[place] for place in rng.permutation(len(said))[:_NEAR_SENTENCES]]


def sights(passage: str) -> list[str]:
    """Return the whole passage and each of its sentences."""
    return [passage, *(sentence.text for sentence in sentences(passage))]


def _cosine(encoder: Encoder, text: str, passage: str) -> float:
    """Return the cosine of a sentence with the nearest of its passage's sights."""
    return float((encoder.embed([text]) @ encoder.embed(sights(passage)).T).max())


def _texts(url: str) -> list[tuple[str, str]]:
    rows = Benchmark(url).folder.read("documents", columns=["text", "haystack_id"]).to_pylist()
    return [(row["text"], row["haystack_id"]) for row in rows]


# ---------------------------------------------------------------- training


def train_checker(
    bench_urls: Sequence[str], people_urls: Sequence[str], out: Path, *, n_pairs: int, threads: int
) -> list[Reach]:
    """Train, measure and write; a stopped training goes on from its state in *out*, a local folder."""
    if n_pairs < 1 or threads < 1:
        raise UsageError(f"expected --pairs and --threads above 0, found {n_pairs}, {threads}")
    out.mkdir(parents=True, exist_ok=True)
    corpus = read_corpus(bench_urls, people_urls)
    stating, nearly = stated(corpus, threads=threads), near(corpus, threads=threads)
    pairs = checker_pairs(corpus.trained, n_pairs, seed=_SEED, groups=corpus.groups, stated=stating, near=nearly)
    recipe = Recipe(seed=_SEED)
    trainer = CheckerTrainer(recipe, threads=threads)
    checkpoint = _write_checkpoint(trainer.fit(pairs, out, said=_say), out)
    held_out = checker_pairs(corpus.kept, min(HELD_OUT_PAIRS, n_pairs), seed=_HELD_OUT_SEED, groups=corpus.groups)
    encoder = Encoder(MINILM, threads=threads)
    cosine = np.array([_cosine(encoder, pair.sentence, pair.passage) for pair in held_out])
    share = SHIPPED_CHECKER.cosine_share
    judged = (1 - share) * trainer.probabilities(held_out) + share * cosine  # as the shipped judge makes its number
    threshold = round(best_threshold(judged, np.array([pair.supported for pair in held_out])), 2)
    content = change_content(out / CHANGE)
    rows = pair_reach(held_out, {"checker": judged, "cosine": cosine})
    if people_urls:
        settings = SHIPPED_CHECKER.model_copy(update={"threshold": threshold})
        reached, card = people_reach(people_urls, settings, str(checkpoint), content, threads=threads)
        rows += reached
        (out / "support-checker.json").write_bytes(card_bytes(card))
    made_from = asdict(recipe) | {
        "version": VERSION,
        "base": MINILM,
        "pairs": n_pairs,
        "tokens": MAX_TOKENS,
        "documents": len(corpus.trained),
        "corpus": content_key(sorted(corpus.trained), sorted(corpus.kept)),
    }
    write_json(out / "checker.json", {"content": content, "threshold": threshold, "recipe": made_from})
    write_json(out / "reach_checker.json", {"content": content, "rows": rows})
    return rows


def _write_checkpoint(change: Mapping[str, Any], out: Path) -> Path:
    """Write the trained change, and return the folder of the checkpoint that is made of it anew."""
    save_file({key: value.contiguous() for key, value in change.items()}, out / CHANGE)
    folder = out / CHECKPOINT
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_checkpoint(Path(model_path(MINILM)), load_file(out / CHANGE), folder)
    return folder


def _say(words: str) -> None:
    say(words, file=sys.stderr)


def pair_reach(pairs: Sequence[CheckerPair], numbers: Mapping[str, NDArray[np.float64]]) -> list[Reach]:
    """Return the AUROC of each judge's *numbers* of held-out *pairs*: all, and each kind of error against supported."""
    rows = []
    for name, own in numbers.items():
        for kind in ("all", *UNSUPPORTED):
            chosen = [at for at, pair in enumerate(pairs) if pair.kind in (*SUPPORTED, kind) or kind == "all"]
            supported = np.array([pairs[at].supported for at in chosen], dtype=bool)
            found = auroc(own[chosen], supported, [pairs[at].document for at in chosen], **INTERVALS)
            if found.value is not None:
                fitted = "pairs of other documents" if name == "checker" else "nothing"
                measure, scored = f"{name}, pairs: AUROC, {kind} errors", "pairs of documents kept from training"
                rows.append(reach_of(measure, found, fitted_on=fitted, scored_on=scored))
    return rows
