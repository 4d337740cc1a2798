"""Judges by their names: those that need no definition, shipped or published, and what is asked of several at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings, CheckpointJudgeSettings, JudgeSettings, OfflineJudgeSettings

ALIGNER = "shipped aligner"
"""A judge that a run adds to say where sentences stand; it judges nothing."""

SECOND_ALIGNER = "shared words"
"""An aligner that a run adds to hold attribution against; it judges nothing, and places no sentence of another."""

ALIGNERS = frozenset({ALIGNER, SECOND_ALIGNER})
"""Judges whose numbers stand in no table but those of alignment."""

NEAREST_PLACE = "actors.judges.aligner:Aligner"
SHARED_WORDS = "longform.judges.shared_words:SharedWords"


SHIPPED_CHECKER = CheckpointJudgeSettings(
    kind="checkpoint",
    task="support",
    model="shipped:checker",
    family="word_classifier",
    chunk_tokens=96,
    best_windows=4,
    cosine_share=0.6,
    threshold=0.77,
)
"""The checker that ships, read as its card was measured; `longform train checker` re-makes it."""

SHIPPED_KEY_POINT_CHECKER = SHIPPED_CHECKER.model_copy(update={"task": "key_point", "threshold": 0.7})
"""The same for key points; its threshold was chosen on labels of news, its card is of conversations."""

SHIPPED_JUDGES: Mapping[str, JudgeSettings] = {
    "offline-people": OfflineJudgeSettings(kind="offline", calibration="people"),
    "offline-people-vectors": OfflineJudgeSettings(kind="offline", calibration="people", features="vectors"),
    "offline-gpt-4o": OfflineJudgeSettings(kind="offline", calibration="gpt-4o"),
    "offline": OfflineJudgeSettings(kind="offline", task="support"),
    "offline-key-points": OfflineJudgeSettings(kind="offline", task="key_point"),
    "checker": SHIPPED_CHECKER,
    "key-point-checker": SHIPPED_KEY_POINT_CHECKER,
}
"""Judges by their names on the command line; none of them downloads anything."""

_MINICHECK_TOKENS = 400
"""Tokens of a chunk that MiniCheck's RoBERTa and DeBERTa read (its released code)."""

_FLAN_T5_TOKENS = 650
"""MiniCheck's Flan-T5 reads chunks of 500 words; at 1.3 tokens a word. Windows here end with a sentence, by tokens."""

_MINICHECK = CheckpointJudgeSettings(
    kind="checkpoint",
    task="support",
    model="lytang/MiniCheck-RoBERTa-Large",
    joined="eos",
    supported_label=1,
    chunk_tokens=_MINICHECK_TOKENS,
)

PUBLISHED_JUDGES: Mapping[str, JudgeSettings] = {
    "minicheck-roberta": _MINICHECK,
    "minicheck-deberta": _MINICHECK.model_copy(update={"model": "lytang/MiniCheck-DeBERTa-v3-Large"}),
    "minicheck-flan-t5": CheckpointJudgeSettings(
        kind="checkpoint",
        task="support",
        model="lytang/MiniCheck-Flan-T5-Large",
        family="flan_t5",
        prefix="predict: ",
        chunk_tokens=_FLAN_T5_TOKENS,
    ),
    "gpt-4o": ChatJudgeSettings(
        kind="chat", task="support", chat=ChatSettings(model="gpt-4o", temperature=1, max_tokens=200)
    ),
}
"""Judges of support of Wan et al. (section 2.3), read as their releases read them; their weights come from a hub."""

KNOWN_JUDGES: Mapping[str, JudgeSettings] = {**SHIPPED_JUDGES, **PUBLISHED_JUDGES}
"""Judges by their names on the command line."""


def known_judge(name: object, task: str) -> JudgeSettings | None:
    """Return the judge of *task* that a name behind `--set` means; None: the name is that of a chat model."""
    known = judges_of(task, KNOWN_JUDGES).get(name) if isinstance(name, str) else None
    return known if known is not None and known.asked_model is None else None


def judge_scale(name: str, judges: Mapping[str, JudgeSettings]) -> str | None:
    """Say what a reader must know to compare the scores of judge *name*; None if its name and card say it all."""
    judge = judges.get(name)
    if judge is not None and judge.members:
        return f"mean of {' and '.join(_with_scale(member, judges) for member in judge.members)}"
    return None if judge is None else judge.scale


def _with_scale(name: str, judges: Mapping[str, JudgeSettings]) -> str:
    scale = judge_scale(name, judges)
    return name if scale is None else f"{name} ({scale})"


def whole_identity(judge: JudgeSettings, judges: Mapping[str, JudgeSettings]) -> dict[str, Any]:
    """Return the identity of a judge; of a mean with its members', as *judges* define them."""
    found = judge.identity
    if judge.members:
        found["of"] = {name: judges[name].identity for name in judge.members}
    return found


def judges_of(task: str, judges: Mapping[str, JudgeSettings]) -> dict[str, JudgeSettings]:
    """Select the judges of one task."""
    return {name: judge for name, judge in judges.items() if judge.task == task}
