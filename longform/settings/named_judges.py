"""Judges that need no definition: those that ship, and published ones by the names of their papers."""

from __future__ import annotations

from collections.abc import Mapping

from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings, CheckpointJudgeSettings, JudgeSettings, judges_of
from longform.settings.shipped_judges import SHIPPED_JUDGES

_MINICHECK_TOKENS = 400
"""Tokens of a chunk that MiniCheck's RoBERTa and DeBERTa read (its released code)."""

_FLAN_T5_TOKENS = 650
"""MiniCheck's Flan-T5 reads chunks of 500 words; at 1.3 tokens a word. Windows here end with a sentence, by tokens."""

PUBLISHED_JUDGES: Mapping[str, JudgeSettings] = {
    "minicheck-roberta": CheckpointJudgeSettings(
        kind="checkpoint",
        task="support",
        model="lytang/MiniCheck-RoBERTa-Large",
        joined="eos",
        supported_label=1,
        chunk_tokens=_MINICHECK_TOKENS,
    ),
    "minicheck-deberta": CheckpointJudgeSettings(
        kind="checkpoint",
        task="support",
        model="lytang/MiniCheck-DeBERTa-v3-Large",
        joined="eos",
        supported_label=1,
        chunk_tokens=_MINICHECK_TOKENS,
    ),
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

KNOWN_CHECKERS: Mapping[str, JudgeSettings] = {
    name: judge for name, judge in judges_of("support", KNOWN_JUDGES).items() if judge.asked_model is None
}
"""Judges of support that ask no chat model: any other name behind `--set support_judge=` is that of a chat model."""
