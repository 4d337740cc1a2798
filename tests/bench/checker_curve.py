"""
The checker that ships, faster: fewer windows of each document, fewer bits. Speed against agreement with all windows.

On demand: it scores every window of some documents, which takes minutes.
"""

from __future__ import annotations

import numpy as np

from actors.checkpoint_support_judge import CheckpointSupportJudge
from longform.judge_settings import SHIPPED_CHECKER
from longform.sentences import sentences
from longform.support_judging import SupportGroup
from tests.bench.inputs import passages
from tests.bench.measure import Figure, paired

_DOCUMENTS = 4
_PASSAGES = 6  # a document
_SENTENCES = 6  # asked of each document: half of them its own
_ROUNDS = 3
_WAYS: tuple[dict[str, object], ...] = (
    {"best_windows": 1},
    {"best_windows": 2},
    {"best_windows": 4},
    {"best_windows": None, "precision": "bfloat16"},
    {"best_windows": 4, "precision": "bfloat16"},
)


def figures() -> list[Figure]:
    groups = _groups()
    full = _judge(best_windows=None, precision="float32")
    expected = _probabilities(full, groups)
    return [_of_way(way, groups, full, expected) for way in _WAYS]


def _groups() -> list[SupportGroup]:
    found = passages().spread(_DOCUMENTS * _PASSAGES)
    texts = [" ".join(found[start : start + _PASSAGES]) for start in range(0, len(found), _PASSAGES)]
    own = [[sentence.text for sentence in sentences(text)][-_SENTENCES // 2 :] for text in texts]
    return [
        SupportGroup(str(place), text, (*own[place], *own[(place + 1) % len(texts)]))
        for place, text in enumerate(texts)
    ]


def _judge(**settings: object) -> CheckpointSupportJudge:
    return CheckpointSupportJudge("bench", SHIPPED_CHECKER.model_copy(update=settings), threads=1)


def _probabilities(judge: CheckpointSupportJudge, groups: list[SupportGroup]) -> np.ndarray:
    return np.array([verdict.value for row in judge.judge(groups) for verdict in row])


def _of_way(
    way: dict[str, object], groups: list[SupportGroup], full: CheckpointSupportJudge, expected: np.ndarray
) -> Figure:
    judge = _judge(**way)
    found = _probabilities(judge, groups)
    same = np.mean((found > SHIPPED_CHECKER.threshold) == (expected > SHIPPED_CHECKER.threshold))
    note = f"same answer {100 * same:.1f} % of {len(found)}, largest difference {np.abs(found - expected).max():.3f}"
    timed = paired(lambda: judge.judge(groups), lambda: full.judge(groups), rounds=_ROUNDS)
    name = ", ".join(f"{key} {value}" for key, value in way.items())
    return timed.rates(f"Checker, {name}", items=len(found), unit="cells/s", target=None, note=note)
