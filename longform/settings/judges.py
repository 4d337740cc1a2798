"""
Judges, as a configuration names them: a `task` (what is judged) and a `kind` (who judges), one settings type a kind.

Every kind names the tasks that it can do, and the fields that only some of them have a use for; all else is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from longform.settings.chat import ChatSettings
from longform.settings.endpoints import Url, Variable
from longform.settings.judge import LISTED, AnyJudgeSettings
from longform.settings.python_class import PythonClassSettings
from longform.settings.strict import ResourcesSettings, imported

Calibration = Literal["people", "gpt-4o"]
"""The marks that a judge's numbers are like: only scores of one calibration may be held against each other."""

Features = Literal["words", "vectors"]
"""Evidence that the offline judge of coverage reads."""

References = Literal["first", "all"]
"""Reference texts of a query that a judge of task reference rates a summary beside."""


def fitted_name(calibration: str, features: str) -> str:
    """Return the name of the fitted model of coverage that a judge of these marks and features judges by."""
    return calibration if features == "words" else f"{calibration}-{features}"


_SCALES: Mapping[Calibration, str] = {"people": "marks as people do", "gpt-4o": "marks as GPT-4o does"}
SHIPPED_IN = ("en",)
"""The languages of all labels that judges which ship were fitted and measured on (`longform.text.language`)."""


class OfflineJudgeSettings(AnyJudgeSettings):
    """
    No language model: shared words and, but for coverage by words, the meaning of a few sentences.

    For support and key points it lays words beside each other; swapped roles it hardly sees.
    """

    actor = "actors.judges.lexical:ByWords"
    tasks = ("coverage", "support", "key_point")
    newer = AnyJudgeSettings.newer | {"features"}
    only_for: ClassVar[Mapping[str, tuple[str, ...]]] = {"calibration": ("coverage",), "features": ("coverage",)}

    kind: Literal["offline"]
    calibration: Calibration | None = None  # gpt-4o: like SummHay's printed tables; people: like none
    features: Features | None = None  # null: words; vectors: meanings too, with calibration people alone

    @field_validator("features")
    @classmethod
    def _words_are_the_default(cls, features: Features | None) -> Features | None:
        return None if features == "words" else features  # one judge, one identity

    @model_validator(mode="after")
    def _has_a_scale(self) -> Self:
        if self.task == "coverage" and self.calibration is None:
            raise ValueError(f"expected `calibration` {' or '.join(_SCALES)} with task coverage, found none")
        if self.features == "vectors" and self.calibration != "people":
            raise ValueError(f"expected `calibration` people with features vectors, found {self.calibration}")
        return self

    @property
    def scale(self) -> str | None:
        return None if self.calibration is None else _SCALES[self.calibration]

    @property
    def measured_in(self) -> tuple[str, ...]:
        return SHIPPED_IN

    @property
    def fitted_model(self) -> str | None:
        return None if self.calibration is None else fitted_name(self.calibration, self.features or "words")

    @property
    def is_lexical(self) -> bool:
        return self.calibration is None

    @property
    def model_name(self) -> str:
        return "offline" if self.fitted_model is None else f"offline-{self.fitted_model}"


class ChatJudgeSettings(AnyJudgeSettings):
    """A prompted chat model; with the log probabilities of its answer, a number beside the answer."""

    actor = "actors.judges.chat:ByChat"
    tasks = LISTED
    judges_own = True
    same_each_time = None
    costs = "asks a chat model, which costs calls"
    only_for: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "probability": ("support", "key_point", "reference"),
        "fidelity": ("support",),
        "samples": ("reference",),
        "references": ("reference",),
    }

    kind: Literal["chat"]
    chat: ChatSettings  # the model that judges
    prompt: str = ""  # left out: the task's own
    probability: bool | None = None  # from log probabilities; null: if the model is known to give them; true: or refuse
    samples: int | None = Field(None, ge=1, le=1000)  # calls about a pair, for a mean rating; null: 1 or `probability`
    references: References | None = None  # null: all
    fidelity: Literal["ours", "release"] = "ours"  # how replies are read; release: as the authors' code does

    @model_validator(mode="before")
    @classmethod
    def _prompt_of_the_task(cls, content: Any) -> Any:
        if not isinstance(content, Mapping) or content.get("prompt"):
            return content
        kind = LISTED.get(str(content.get("task", "coverage")))
        return {**content, "prompt": "" if kind is None else imported(kind).prompt}

    @model_validator(mode="after")
    def _has_a_prompt(self) -> Self:
        if not self.prompt:
            raise ValueError(f"expected `prompt`, the name of a file in the folder `prompts`, for task {self.task}")
        return self

    @model_validator(mode="after")
    def _samples_differ(self) -> Self:
        if self.samples is not None and self.probability:
            raise ValueError("expected `samples` or `probability: true`, found both: each gives the mean rating")
        if self.samples is not None and self.samples > 1 and self.chat.temperature == 0:
            raise ValueError(f"{self.samples} samples at temperature 0 are one: expected a chat.temperature above 0")
        return self

    @property
    def needs_logprobs(self) -> bool:
        return self.probability is True

    @property
    def model_name(self) -> str:
        script = f" (script {self.chat.script})" if self.chat.script else ""
        return f"{self.chat.model}{script}"


class CheckpointJudgeSettings(AnyJudgeSettings):
    """A checkpoint that was trained to check facts: MiniCheck's families, or any entailment cross-encoder."""

    actor = "actors.judges.checkpoint:ByCheckpoint"
    tasks = ("support", "key_point")
    how_it_is_asked = AnyJudgeSettings.how_it_is_asked | {"resources"}
    newer = AnyJudgeSettings.newer | {"resources"}

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
    threshold: float = Field(0.5, gt=0, lt=1)  # a number above it means yes
    resources: ResourcesSettings | None = None  # of each worker that holds it; null: a processor's

    @property
    def measured_in(self) -> tuple[str, ...]:
        return SHIPPED_IN if self.model.startswith("shipped:") else ()

    @property
    def model_name(self) -> str:
        return self.model


class _NumberJudge(AnyJudgeSettings):
    """Gives a number; the bounds make an answer of it."""

    tasks = ("coverage", "support", "key_point", "reference")
    judges_own = True
    only_for: ClassVar[Mapping[str, tuple[str, ...]]] = {"cuts": ("coverage",), "threshold": ("support", "key_point")}

    cuts: tuple[float, float] = (0.25, 0.75)  # numbers from which the answer is partial, and full
    threshold: float = Field(0.5, gt=0, lt=1)  # a number above it means supported

    @model_validator(mode="after")
    def _cuts_in_order(self) -> Self:
        partial, full = self.cuts
        if not 0 < partial < full <= 1:
            raise ValueError(f"expected cuts 0 < partial < full <= 1, found {list(self.cuts)}")
        return self

    @property
    def bounds(self) -> tuple[float, ...]:
        if self.task == "coverage":
            return self.cuts
        return () if self.task == "reference" else (self.threshold,)


class MeanJudgeSettings(_NumberJudge):
    """The mean of other judges' numbers for the same pairs, by their names; it asks nothing itself."""

    actor = "actors.judges.backend:ByMean"
    same_each_time = "it asks nothing; give repeats to its members"

    kind: Literal["mean"]
    of: tuple[str, ...] = Field(min_length=2)  # names of other judges of the same task

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        if len(set(self.of)) < len(self.of):
            raise ValueError(f"expected different judges, found {list(self.of)}")
        return self


class ServedJudgeSettings(AnyJudgeSettings):
    """
    A judge that a server serves, by its name there.

    Keys of verdicts hold the URL, the name, and the version that the server states; with a server that states none a
    change behind the name is not noticed.
    """

    actor = "actors.judges.served:ByServer"
    newer = AnyJudgeSettings.newer | {"version"}
    tasks = LISTED
    how_it_is_asked = frozenset({"token_env", "concurrency", "repeats"})
    same_each_time = "its server gives one answer to one question"
    costs = "asks a server, behind which a chat model may stand"
    only_for: ClassVar[Mapping[str, tuple[str, ...]]] = {"references": ("reference",)}

    kind: Literal["served"]
    url: Url  # of a server; serve://APPLICATION: of this cluster
    judge: str  # its name there
    token_env: Variable | None = None  # the variable that holds the server's token; null: none is sent
    concurrency: int = Field(4, gt=0)  # requests in flight of a worker
    version: str | None = None  # that it is to have; null: a command asks the server, and writes it here
    references: References | None = None  # null: all

    @property
    def model_name(self) -> str:
        return f"{self.judge} at {self.url}"

    def of_version(self, version: str | None, /) -> Self:
        return self.model_copy(update={"version": self.version or version})


class PythonJudgeSettings(_NumberJudge, PythonClassSettings):
    """A class of one's own."""

    actor = "actors.judges.python:ByClass"
    same_each_time = None
    costs = "runs a class of one's own, which may ask what costs calls"
    only_for: ClassVar[Mapping[str, tuple[str, ...]]] = {**_NumberJudge.only_for, "references": ("reference",)}

    references: References | None = None  # null: all

    @property
    def model_name(self) -> str:
        return self.class_


JudgeSettings = Annotated[
    OfflineJudgeSettings
    | ChatJudgeSettings
    | CheckpointJudgeSettings
    | MeanJudgeSettings
    | ServedJudgeSettings
    | PythonJudgeSettings,
    Field(discriminator="kind"),
]
