"""Judges that need no definition: their models and cards ship with the project."""

from __future__ import annotations

from collections.abc import Mapping

from longform.settings.judges import CheckpointJudgeSettings, JudgeSettings, OfflineJudgeSettings

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
    "checker": SHIPPED_CHECKER,
    "key-point-checker": SHIPPED_KEY_POINT_CHECKER,
}
"""Judges by their names on the command line; none of them downloads anything."""
