"""
Train the checker that ships: whether a passage supports a sentence, learned from pairs made by rule.

    longform train checker BENCH... --out DIR
    longform train checker BENCH... --people LABELS... --kinds-left-out --out DIR

Pairs come from the documents of all BENCH. One document in ten is kept from training; pairs of these measure what was
learned, beside the cosine of the packaged MiniLM. `--people` measures it on people's labels too, and makes the judge's
card; the documents of LABELS are never trained on. `--kinds-left-out` trains once more for each kind of error, on a
fifth of the pairs and without that kind. A stopped command goes on where it was.

Reads   documents of benchmarks; of LABELS the labels and summaries
Writes  checker.safetensors (a low-rank change of the packaged MiniLM), checker.json (its hash and recipe),
        reach_checker.json (what it reaches), support-checker.json (its card), checkpoint/ (as Transformers loads it)
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.benchmark import Benchmark
from actors.checker_training import MAX_TOKENS, CheckerTrainer, Recipe
from actors.checkpoints import change_content
from actors.encoder import MINILM, Encoder, model_path
from actors.low_rank import write_checkpoint
from jobs.cards import card_bytes
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.people_labels import people_reach
from longform.errors import UsageError
from longform.keys import content_key, stable_seed
from longform.metrics.balanced import Labelled, separation
from longform.records import gold_documents
from longform.sentences import sentences
from longform.training.checker_pairs import (
    SUPPORTED,
    UNSUPPORTED,
    CheckerPair,
    Stated,
    checker_pairs,
    passages,
)
from longform.training.reach import INTERVALS, Reach, reach_of, reach_table

VERSION = "1"
"""Changes with any change of the pairs, or of what is learned from them."""

PAIRS = 20_000
HELD_OUT_PAIRS = 3_000
_HELD_OUT = 10
"""One document in so many is kept from training, by the hash of its text."""

_LEFT_OUT_SHARE = 5
_SEED = 1
_HELD_OUT_SEED = 2

CHANGE, STATEMENT, REACH, CARD, CHECKPOINT = (
    "checker.safetensors",
    "checker.json",
    "reach_checker.json",
    "support-checker.json",
    "checkpoint",
)


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
    The documents of benchmarks, each text once, without those that people's labels are of.

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
    """Of the haystacks with a gold map."""
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


def _texts(url: str) -> list[tuple[str, str]]:
    rows = Benchmark(url).folder.read("documents", columns=["text", "haystack_id"]).to_pylist()
    return [(row["text"], row["haystack_id"]) for row in rows]


class CheckerRun:
    """
    Trainings on one corpus, each kept under *out* as soon as it is done.

    Args:
        corpus: What pairs are made from.
        n_pairs: Of the main training.
        out: A local folder.
        threads: Of the processor.
    """

    def __init__(self, corpus: Corpus, n_pairs: int, out: Path, *, threads: int) -> None:
        self._corpus, self._n_pairs, self._out, self._threads = corpus, n_pairs, out, threads
        self._recipe = Recipe(seed=_SEED)

    @property
    def recipe(self) -> dict[str, Any]:
        """All that the weights were made from, as JSON values."""
        return asdict(self._recipe) | {
            "version": VERSION,
            "base": MINILM,
            "pairs": self._n_pairs,
            "tokens": MAX_TOKENS,
            "documents": len(self._corpus.trained),
            "corpus": self._corpus.hash,
        }

    @cached_property
    def held_out(self) -> list[CheckerPair]:
        """Pairs of documents that were kept from training."""
        kept, groups = self._corpus.kept, self._corpus.groups
        return checker_pairs(kept, min(HELD_OUT_PAIRS, self._n_pairs), seed=_HELD_OUT_SEED, groups=groups)

    def trained(self) -> NDArray[np.float64]:
        """The main training's probabilities of the held-out pairs; its change is written."""
        return self._probabilities("all", self._n_pairs, without=())

    def without(self, kind: str) -> NDArray[np.float64]:
        """The same of a training without errors of *kind*, on a fifth of the pairs."""
        return self._probabilities(f"without {kind}", self._n_pairs // _LEFT_OUT_SHARE, without=(kind,))

    @cached_property
    def _stated(self) -> list[Stated]:
        return stated(self._corpus, threads=self._threads)

    def _probabilities(self, name: str, n_pairs: int, *, without: Sequence[str]) -> NDArray[np.float64]:
        folder = self._out / "measured" / content_key(self.recipe, name)
        file = folder / "probabilities.npy"
        if not file.is_file():
            trained, groups = self._corpus.trained, self._corpus.groups
            pairs = checker_pairs(trained, n_pairs, seed=_SEED, groups=groups, stated=self._stated, without=without)
            trainer = CheckerTrainer(self._recipe, threads=self._threads)
            change = trainer.fit(pairs, folder, said=partial(_say, name))
            from safetensors.torch import save_file

            folder.mkdir(parents=True, exist_ok=True)
            save_file({key: value.contiguous() for key, value in change.items()}, folder / CHANGE)
            np.save(folder / "unfinished.npy", trainer.probabilities(self.held_out))
            (folder / "unfinished.npy").rename(file)
        if not without:
            shutil.copyfile(folder / CHANGE, self._out / CHANGE)
        return np.asarray(np.load(file), dtype=np.float64)

    def write_checkpoint(self) -> Path:
        """The folder of the trained checkpoint, made of its change anew."""
        from safetensors.torch import load_file

        folder = self._out / CHECKPOINT
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write_checkpoint(Path(model_path(MINILM)), load_file(self._out / CHANGE), folder)
        return folder


def _say(name: str, words: str) -> None:
    print(f"{name}: {words}", file=sys.stderr)


# ---------------------------------------------------------------- what it reaches


def pair_cosines(pairs: Sequence[CheckerPair], *, threads: int) -> NDArray[np.float64]:
    """Of each sentence with the nearest of its passage's sentences or the whole passage, by the packaged encoder."""
    encoder = Encoder(MINILM, threads=threads)
    found = []
    for pair in pairs:
        sights = [pair.passage, *(sentence.text for sentence in sentences(pair.passage))]
        found.append(float((encoder.embed([pair.sentence]) @ encoder.embed(sights).T).max()))
    return np.array(found)


def pair_reach(run: CheckerRun, *, left_out: bool, threads: int) -> list[Reach]:
    """AUROC on held-out pairs: all, and each kind of error against all supported; checker and cosine."""
    numbers = {"checker": run.trained(), "cosine": pair_cosines(run.held_out, threads=threads)}
    rows = []
    for name, probability in numbers.items():
        fitted = "pairs of other documents" if name == "checker" else "nothing"
        rows += [_auroc(run.held_out, probability, name, kind, fitted) for kind in ("all", *UNSUPPORTED)]
    if left_out:
        for kind in UNSUPPORTED:
            fitted = f"pairs of other documents without {kind}, a fifth as many"
            rows.append(_auroc(run.held_out, run.without(kind), "checker", kind, fitted))
    return [row for row in rows if row is not None]


def _auroc(
    pairs: Sequence[CheckerPair], numbers: NDArray[np.float64], name: str, kind: str, fitted: str
) -> Reach | None:
    """None: there is no such pair."""
    chosen = [at for at, pair in enumerate(pairs) if pair.kind in (*SUPPORTED, kind) or kind == "all"]
    items = [Labelled(pairs[at].document, pairs[at].supported, float(numbers[at])) for at in chosen]
    found = separation(items, **INTERVALS)
    if found.reason:
        return None
    measure = f"{name}, pairs: AUROC, {kind} errors"
    return reach_of(measure, found.auroc, fitted_on=fitted, scored_on="pairs of documents kept from training")


# ---------------------------------------------------------------- command line


def train_checker(
    bench_urls: Sequence[str],
    people_urls: Sequence[str],
    out: Path,
    *,
    n_pairs: int,
    left_out: bool,
    threads: int,
) -> list[Reach]:
    """Train, measure and write; what an earlier command of the same recipe finished is taken as it is."""
    out.mkdir(parents=True, exist_ok=True)
    run = CheckerRun(read_corpus(bench_urls, people_urls), n_pairs, out, threads=threads)
    rows = pair_reach(run, left_out=left_out, threads=threads)
    checkpoint = run.write_checkpoint()
    content = change_content(out / CHANGE)
    if people_urls:
        reached, card = people_reach(people_urls, str(checkpoint), content, threads=threads)
        rows += reached
        (out / CARD).write_bytes(card_bytes(card))
    _write(out / STATEMENT, {"content": content, "recipe": run.recipe})
    _write(out / REACH, {"content": content, "rows": [row._asdict() for row in rows]})
    return rows


def _write(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("train checker", __doc__)
    parser.add_argument("benchmarks", nargs="+", metavar="BENCH", help="documents to make pairs from")
    parser.add_argument("--people", nargs="+", default=[], metavar="LABELS", help="benchmarks with people's labels")
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help=f"to train on; {PAIRS:,} where not said")
    parser.add_argument("--kinds-left-out", action="store_true", help="train without each kind of error, too")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a local folder")

    def work(arguments: argparse.Namespace) -> Outcome:
        if arguments.pairs < 1 or arguments.threads < 1:
            raise UsageError(f"expected --pairs and --threads above 0, found {arguments.pairs}, {arguments.threads}")
        rows = train_checker(
            arguments.benchmarks,
            arguments.people,
            arguments.out,
            n_pairs=arguments.pairs,
            left_out=arguments.kinds_left_out,
            threads=arguments.threads,
        )
        return Outcome({"reach": [row._asdict() for row in rows]}, reach_table(rows))

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
