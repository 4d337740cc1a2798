"""
The checker that ships, faster: fewer windows of each document, fewer bits. Speed against agreement with all windows.

On demand: it scores every window of some documents, which takes two to three minutes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from actors.judges.checkpoint import CheckpointJudge
from lab.fits.sentence_changes import ALTERING, Stock
from longform.judges.kind import Group
from longform.keys import stable_seed
from longform.metrics.balanced import auroc
from longform.metrics.statistics import Array
from longform.settings.named_judges import SHIPPED_CHECKER
from longform.text.sentences import sentences
from tests.bench.inputs import passages
from tests.bench.measure import Figure, Pairs, seconds

_DOCUMENTS = 6
_PASSAGES = 4  # a document
_SENTENCES = 4  # of each document, as they are; as many that were changed
_WORDS = range(8, 40)
_ROUNDS = 2
_SEED = 1

_WAYS: dict[str, dict[str, object]] = {
    "best_windows 2": {"best_windows": 2},
    "best_windows 4": {"best_windows": 4},
    "best_windows 8": {"best_windows": 8},
    "all windows, bfloat16": {"best_windows": None, "precision": "bfloat16"},
    "all windows, int8": {"best_windows": None},
}
_FULL = "all windows, float32"
_INT8 = "all windows, int8"


class _Cells(NamedTuple):
    """Long texts, and of each the labels of its sentences: those it says, and those that were changed."""

    groups: list[Group]
    supported: list[bool]  # one a cell, group by group
    articles: list[str]


def figures() -> list[Figure]:
    cells = _cells()
    judges = {_FULL: _judge({"best_windows": None}), **{name: _judge(way) for name, way in _WAYS.items()}}
    _in_int8(judges[_INT8])
    found: dict[str, Array] = {}
    times: dict[str, list[float]] = {name: [] for name in judges}
    for judge in judges.values():
        judge.judge([cells.groups[0]._replace(items=cells.groups[0].items[:1])])
    for _ in range(_ROUNDS):
        for name, judge in judges.items():
            times[name].append(seconds(partial(_judged, found, name, judge, cells), clock=time.process_time))
    return [_figure(name, cells, found, times) for name in judges]


def _figure(name: str, cells: _Cells, found: dict[str, Array], times: dict[str, list[float]]) -> Figure:
    full, ours = found[_FULL], found[name]
    differences = np.abs(ours - full)
    same = np.mean((ours > SHIPPED_CHECKER.threshold) == (full > SHIPPED_CHECKER.threshold))
    note = (
        f"same answer {100 * same:.1f} % of {len(ours)}, difference of probability at most {differences.max():.3f}, "
        f"mean {differences.mean():.3f}; AUROC {_auroc(cells, ours):.3f}"
    )
    timed = Pairs(times[name], times[_FULL])
    return timed.rates(f"Checker, {name}", items=len(ours), unit="cells/s", target=None, note=note)


def _auroc(cells: _Cells, values: Array) -> float:
    found = auroc(values, np.array(cells.supported), cells.articles, seed=_SEED, resamples=100)
    assert found.value is not None, "both labels are there"
    return found.value


def _judge(settings: dict[str, object]) -> CheckpointJudge:
    return CheckpointJudge("bench", SHIPPED_CHECKER.model_copy(update=settings), threads=1)


def _in_int8(judge: CheckpointJudge) -> None:
    """Its linear layers multiply 8-bit integers; PyTorch's own way, which it calls deprecated and has no other of."""
    import torch
    from torch.ao.quantization import quantize_dynamic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge._scorer._model = quantize_dynamic(judge._scorer._model, {torch.nn.Linear}, dtype=torch.qint8)


def _judged(found: dict[str, Array], name: str, judge: CheckpointJudge, cells: _Cells) -> None:
    found[name] = np.array([verdict.probability for row in judge.judge(cells.groups) for verdict in row])


def _cells() -> _Cells:
    found = passages().spread(_DOCUMENTS * _PASSAGES)
    texts = [" ".join(found[start : start + _PASSAGES]) for start in range(0, len(found), _PASSAGES)]
    stock = Stock.of([sentence.text for text in texts for sentence in sentences(text)])
    cells = _Cells([], [], [])
    for place, text in enumerate(texts):
        own, changed = _sentences(text, stock)
        cells.groups.append(Group(str(place), (text,), (*own, *changed)))
        cells.supported.extend([True] * len(own) + [False] * len(changed))
        cells.articles.extend([str(place)] * (len(own) + len(changed)))
    return cells


def _sentences(text: str, stock: Stock) -> tuple[list[str], list[str]]:
    """Some of *text* as they are, and as many others with one change each, kinds in turn."""
    rng = np.random.default_rng(stable_seed("checker curve", text))
    usable = [sentence.text for sentence in sentences(text) if len(sentence.text.split()) in _WORDS]
    mixed = [usable[at] for at in rng.permutation(len(usable)).tolist()]
    changed = _changed(mixed[_SENTENCES:], text, stock, rng)
    return mixed[:_SENTENCES], [next(changed) for _ in range(_SENTENCES)]


def _changed(said: list[str], text: str, stock: Stock, rng: np.random.Generator) -> Iterator[str]:
    for place, sentence in enumerate(said):
        change = list(ALTERING.values())[place % len(ALTERING)]
        if (other := change(sentence, rng, stock)) is not None and other not in text:
            yield other
