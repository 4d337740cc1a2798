"""Judges of coverage and of support, as a configuration names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict

Calibration = Literal["people", "gpt-4o"]
"""Whose marks a judge's numbers are like: only scores of one calibration may be held against each other."""

ALIGNER = "shipped aligner"
"""The offline support judge if a run adds it to say where sentences stand; it judges nothing."""

_SCALES: Mapping[Calibration, str] = {"people": "marks as people do", "gpt-4o": "marks as GPT-4o does"}


class OfflineJudgeSettings(Strict):
    kind: Literal["offline"]
    calibration: Calibration  # people: like nothing that is printed; gpt-4o: like SummHay's printed tables

    @property
    def scale(self) -> str:
        """The calibration in words."""
        return _SCALES[self.calibration]


class ChatJudgeSettings(Strict):
    kind: Literal["chat"]
    chat: ChatSettings
    prompt: str = "judge_coverage_3"


class _Mean(Strict):
    """A judge that asks nothing itself: the mean of the numbers of other judges, by their names."""

    kind: Literal["mean"]
    of: tuple[str, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        if len(set(self.of)) < len(self.of):
            msg = f"expected different judges, found {list(self.of)}"
            raise ValueError(msg)
        return self


class MeanJudgeSettings(_Mean):
    """The mean of other judges' numbers for the same summary and target; it asks nothing itself."""

    cuts: tuple[float, float] = (0.25, 0.75)  # means from which the answer is partial, and full

    @model_validator(mode="after")
    def _means_something(self) -> MeanJudgeSettings:
        partial, full = self.cuts
        if not 0 < partial < full <= 1:
            msg = f"expected cuts 0 < partial < full <= 1, found {list(self.cuts)}"
            raise ValueError(msg)
        return self


AskedJudgeSettings = OfflineJudgeSettings | ChatJudgeSettings
JudgeSettings = Annotated[AskedJudgeSettings | MeanJudgeSettings, Field(discriminator="kind")]


def judge_scale(name: str, judges: Mapping[str, JudgeSettings]) -> str | None:
    """Return the scale of judge *name*, in words, for comparing its scores; None if its name and card say it all."""
    judge = judges.get(name)
    if isinstance(judge, OfflineJudgeSettings):
        return judge.scale
    if isinstance(judge, MeanJudgeSettings):
        return f"mean of {' and '.join(_with_scale(member, judges) for member in judge.of)}"
    return None


def _with_scale(name: str, judges: Mapping[str, JudgeSettings]) -> str:
    scale = judge_scale(name, judges)
    return name if scale is None else f"{name} ({scale})"


SHIPPED_JUDGES: Mapping[str, JudgeSettings] = {
    f"offline-{calibration}": OfflineJudgeSettings(kind="offline", calibration=calibration) for calibration in _SCALES
}
"""Judges that need no definition: their models and their cards ship with the project."""


# ---------------------------------------------------------------- support judges


class OfflineSupportJudgeSettings(Strict):
    """Shared words, word pairs and meaning of a few sentences: lexical support, blind to denials and swaps."""

    kind: Literal["offline"]


class ChatSupportJudgeSettings(Strict):
    """A prompted chat model: yes or no with a reason, and P(yes) if it gives the log probabilities of tokens."""

    kind: Literal["chat"]
    chat: ChatSettings
    prompt: str = "judge_support"
    probability: bool | None = None  # from log probabilities; null: if the model is known to give them; true: or refuse
    fidelity: Literal["ours", "release"] = "ours"  # how replies are read; release: as the authors' code does


class CheckpointSupportJudgeSettings(Strict):
    """A checkpoint that was trained to check facts: MiniCheck's families, or any entailment cross-encoder."""

    kind: Literal["checkpoint"]
    model: str  # a hub name, a folder, package:NAME, s3://, or shipped:checker
    family: Literal["classifier", "word_classifier", "flan_t5"] = "classifier"  # what it says, and of what
    supported_label: int | None = Field(None, ge=0)  # classifier: the output that means supported; null: by its label
    prefix: str = ""  # before each document, as the checkpoint was trained
    joined: Literal["pair", "eos"] = "pair"  # of a classifier, as it was trained; MiniCheck's put one eos token between
    chunk_tokens: int | None = Field(None, gt=0)  # of the document; null: what the model's window leaves
    best_windows: int | None = Field(None, gt=0)  # score those nearest in meaning to the sentence; null: all of them
    cosine_share: float = Field(0, ge=0, lt=1)  # of the probability: the nearest sentence's cosine, packaged encoder
    precision: Literal["float32", "bfloat16"] = "float32"  # of the arithmetic; bfloat16 is faster where it is built in
    batch_tokens: int = Field(16384, gt=0)  # padded tokens of one forward pass
    threshold: float = Field(0.5, gt=0, lt=1)


class MeanSupportJudgeSettings(_Mean):
    """The mean of other support judges' numbers for the same document and sentence; it asks nothing itself."""

    threshold: float = Field(0.5, gt=0, lt=1)  # a mean above it means supported


LocalSupportJudgeSettings = OfflineSupportJudgeSettings | CheckpointSupportJudgeSettings
AskedSupportJudgeSettings = LocalSupportJudgeSettings | ChatSupportJudgeSettings
SupportJudgeSettings = Annotated[AskedSupportJudgeSettings | MeanSupportJudgeSettings, Field(discriminator="kind")]


def mean_scale(judge: SupportJudgeSettings) -> str | None:
    """Return the members of a mean of support judges, in words; None if it is none."""
    return f"mean of {' and '.join(judge.of)}" if isinstance(judge, MeanSupportJudgeSettings) else None


SHIPPED_CHECKER = CheckpointSupportJudgeSettings(
    kind="checkpoint",
    model="shipped:checker",
    family="word_classifier",
    chunk_tokens=96,
    best_windows=4,
    cosine_share=0.6,
    threshold=0.77,
)
"""The checker that ships, read as its card was measured; `longform train checker` re-makes it."""

SHIPPED_SUPPORT_JUDGES: Mapping[str, LocalSupportJudgeSettings] = {
    "offline": OfflineSupportJudgeSettings(kind="offline"),
    "checker": SHIPPED_CHECKER,
}
"""Support judges that need no definition and no download."""
