"""Train the checker that ships; see `lab.parsers.checker`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.local_models.checkpoints import change_content
from actors.local_models.encoder import Encoder
from actors.local_models.low_rank import write_checkpoint
from actors.local_models.weights import MINILM, model_path
from actors.terminal import say
from jobs.calibration.people_labels import people_reach
from jobs.command.run import Outcome, run_verb
from jobs.runs.cards import card_bytes
from lab.checker_corpus import Corpus, near, read_corpus, stated
from lab.checker_training import MAX_TOKENS, CheckerTrainer, Recipe
from lab.fits.checker_pairs import (
    SUPPORTED,
    UNSUPPORTED,
    CheckerPair,
    Near,
    Stated,
    checker_pairs,
)
from lab.fits.reach import INTERVALS, reach_table
from lab.parsers import checker
from longform.errors import UsageError
from longform.judges.card_columns import Reach, reach_of
from longform.keys import content_key
from longform.metrics.balanced import auroc, best_threshold
from longform.settings.shipped_judges import SHIPPED_CHECKER
from longform.text.sentences import sentences

VERSION = "3"
"""Changes with any change of the pairs, or of what is learned from them."""

HELD_OUT_PAIRS = 3_000
_LEFT_OUT_SHARE = 8
_SEED = 1
_HELD_OUT_SEED = 2

CHANGE, STATEMENT, REACH, CARD, CHECKPOINT = (
    "checker.safetensors",
    "checker.json",
    "reach_checker.json",
    "support-checker.json",
    "checkpoint",
)


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
        """The same of a training without errors of *kind*, on an eighth of the pairs."""
        return self._probabilities(f"without {kind}", self._n_pairs // _LEFT_OUT_SHARE, without=(kind,))

    @cached_property
    def threshold(self) -> float:
        """Return the threshold of the shipped judge: the one that tells held-out pairs apart best."""
        supported = np.array([pair.supported for pair in self.held_out])
        return round(best_threshold(_judged(self.trained(), self.cosine), supported), 2)

    @cached_property
    def cosine(self) -> NDArray[np.float64]:
        """Return the cosines of the held-out pairs."""
        return pair_cosines(self.held_out, threads=self._threads)

    @cached_property
    def _stated(self) -> list[Stated]:
        return stated(self._corpus, threads=self._threads)

    @cached_property
    def _near(self) -> list[Near]:
        """Kept beside the trainings: it takes as long as one of them."""
        file = self._out / "measured" / f"near-{content_key(VERSION, self._corpus.hash)}.json"
        if not file.is_file():
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(
                file.with_suffix(".part"), [list(one) for one in near(self._corpus, seed=_SEED, threads=self._threads)]
            )
            file.with_suffix(".part").rename(file)
        return [Near(*one) for one in json.loads(file.read_text(encoding="utf-8"))]

    def _probabilities(self, name: str, n_pairs: int, *, without: Sequence[str]) -> NDArray[np.float64]:
        folder = self._out / "measured" / content_key(self.recipe, name)
        file = folder / "probabilities.npy"
        if not file.is_file():
            trained, groups = self._corpus.trained, self._corpus.groups
            pairs = checker_pairs(
                trained, n_pairs, seed=_SEED, groups=groups, stated=self._stated, near=self._near, without=without
            )
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
    say(f"{name}: {words}", file=sys.stderr)


# ---------------------------------------------------------------- what it reaches


def pair_cosines(pairs: Sequence[CheckerPair], *, threads: int) -> NDArray[np.float64]:
    """
    Return the cosine of each sentence with the nearest of its passage's sentences or the whole passage, by the packaged
    encoder.
    """
    encoder = Encoder(MINILM, threads=threads)
    found = []
    for pair in pairs:
        sights = [pair.passage, *(sentence.text for sentence in sentences(pair.passage))]
        found.append(float((encoder.embed([pair.sentence]) @ encoder.embed(sights).T).max()))
    return np.array(found)


def pair_reach(run: CheckerRun, *, left_out: bool) -> list[Reach]:
    """AUROC on held-out pairs: all, and each kind of error against all supported; checker and cosine."""
    numbers = {"checker": _judged(run.trained(), run.cosine), "cosine": run.cosine}
    rows = []
    for name, probability in numbers.items():
        fitted = "pairs of other documents" if name == "checker" else "nothing"
        rows += [_auroc(run.held_out, probability, name, kind, fitted) for kind in ("all", *UNSUPPORTED)]
    if left_out:
        for kind in UNSUPPORTED:
            fitted = f"pairs of other documents without {kind}, an eighth as many"
            rows.append(_auroc(run.held_out, _judged(run.without(kind), run.cosine), "checker", kind, fitted))
    return [row for row in rows if row is not None]


def _judged(probability: NDArray[np.float64], cosine: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number that the shipped judge makes of a pair's two numbers."""
    share = SHIPPED_CHECKER.cosine_share
    return (1 - share) * probability + share * cosine


def _auroc(
    pairs: Sequence[CheckerPair], numbers: NDArray[np.float64], name: str, kind: str, fitted: str
) -> Reach | None:
    """None: there is no such pair."""
    chosen = [at for at, pair in enumerate(pairs) if pair.kind in (*SUPPORTED, kind) or kind == "all"]
    supported = np.array([pairs[at].supported for at in chosen], dtype=bool)
    found = auroc(numbers[chosen], supported, [pairs[at].document for at in chosen], **INTERVALS)
    if found.value is None:
        return None
    measure = f"{name}, pairs: AUROC, {kind} errors"
    return reach_of(measure, found, fitted_on=fitted, scored_on="pairs of documents kept from training")


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
    """Train, measure and write; finished work of an earlier command of the same recipe is kept."""
    out.mkdir(parents=True, exist_ok=True)
    run = CheckerRun(read_corpus(bench_urls, people_urls), n_pairs, out, threads=threads)
    rows = pair_reach(run, left_out=left_out)
    checkpoint = run.write_checkpoint()
    content = change_content(out / CHANGE)
    if people_urls:
        settings = SHIPPED_CHECKER.model_copy(update={"threshold": run.threshold})
        reached, card = people_reach(people_urls, settings, str(checkpoint), content, threads=threads)
        rows += reached
        (out / CARD).write_bytes(card_bytes(card))
    _write(out / STATEMENT, {"content": content, "threshold": run.threshold, "recipe": run.recipe})
    _write(out / REACH, {"content": content, "rows": [row._asdict() for row in rows]})
    return rows


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(checker(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
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


if __name__ == "__main__":
    raise SystemExit(main())
