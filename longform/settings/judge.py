"""The task of a judge, and what is asked of the settings of every judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, SerializerFunctionWrapHandler, model_serializer, model_validator

from longform.settings.chat import MayAskSettings
from longform.settings.python_class import CodeSettings

LISTED: Mapping[str, str] = {
    "coverage": "longform.judges.kinds.coverage:COVERAGE",
    "support": "longform.judges.kinds.support:SUPPORT",
    "key_point": "longform.judges.kinds.key_point:KEY_POINT",
    "reference": "longform.judges.kinds.reference:REFERENCE",
    "errors": "longform.judges.kinds.errors:ERRORS",
    "misses": "longform.judges.kinds.misses:MISSES",
}
"""Task of a judge -> import path of the kind of judgement that it is of."""

if TYPE_CHECKING:
    Task = str
else:
    Task = Literal[*LISTED]
"""A task, as pydantic holds it."""

_UNNAMED: Collection[str] = ("coverage", "support")
"""Tasks whose name is no part of a judge's identity: stored verdicts are older than the key `task`."""


def _is_own(task: str) -> bool:
    return ":" in task


class AnyJudgeSettings(CodeSettings, MayAskSettings):
    """
    Settings that judges of all kinds share.

    Attributes:
        tasks: Kinds of judgement that judges of this kind give.
        judges_own: True if they can judge what a user has defined; settings are then as for key points.
        only_for: Field -> the tasks that have a use for it; a field that is not named serves all of them.
        same_each_time: Why such a judge has no repeats; None: it may answer otherwise when it is asked again.
        costs: Why a question to it may cost something; None: it computes its answers here.
    """

    tasks: ClassVar[Collection[str]]
    judges_own: ClassVar[bool] = False
    only_for: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    newer = frozenset({"folder", "samples", "references", "repeats"})
    how_it_is_asked = CodeSettings.how_it_is_asked | {"repeats"}
    same_each_time: ClassVar[str | None] = "it answers the same every time"
    costs: ClassVar[str | None] = None

    task: str = "coverage"  # a Task, or the import path of a Kind, MODULE:NAME
    repeats: int | None = Field(None, ge=1, le=1000)  # answers to each question, in calls of their own; null: one

    @classmethod
    def names_code(cls, content: dict[str, JsonValue]) -> bool:
        return _is_own(str(content.get("task"))) or content.get("kind") == "python"

    @model_validator(mode="after")
    def _fits_its_task(self) -> Self:
        if self.task not in self.tasks and not (self.judges_own and _is_own(self.task)):
            expected = " or ".join([*self.tasks, *(["MODULE:KIND"] if self.judges_own else [])])
            raise ValueError(f"a judge of kind {self._kind} does not judge {self.task}: expected task {expected}")
        for name in sorted(self._unused & self.model_fields_set):
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"`{name}` is not for task {self.task}: expected {' or '.join(self.only_for[name])}")
        return self

    @model_validator(mode="after")
    def _repeats_can_differ(self) -> Self:
        if self.times > 1 and self.same_each_time is not None:
            raise ValueError(
                f"a judge of kind {self._kind} has no repeats ({self.same_each_time}): expected repeats 1, "
                f"found {self.times}"
            )
        return self

    @property
    def own_code(self) -> Mapping[str, str | None]:
        return {**super().own_code, **({self.task: self.folder} if _is_own(self.task) else {})}

    @property
    def measured_in(self) -> tuple[str, ...]:
        """The languages of the labels that an offline judge was fitted and measured on; none: it is no such judge."""
        return ()

    @property
    def times(self) -> int:
        """The number of times it is asked about each pair."""
        return self.repeats or 1

    @model_serializer(mode="wrap")
    def _without_what_is_unused(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:  # read by pydantic
        unused = self._unused | {name for name in self.newer if getattr(self, name, None) is None}
        return {name: value for name, value in handler(self).items() if name not in unused}

    @property
    def _unused(self) -> frozenset[str]:
        task = "key_point" if _is_own(self.task) else self.task
        return frozenset(name for name, tasks in self.only_for.items() if task not in tasks)

    @property
    def _kind(self) -> str:
        return str(getattr(self, "kind", ""))

    @property
    def identity(self) -> dict[str, JsonValue]:
        return self._with_its_task_if_new(super().identity)

    @property
    def stated(self) -> dict[str, JsonValue]:
        """Everything that the definition states, as JSON values; the task only if the definition does not imply it."""
        return self._with_its_task_if_new(self.model_dump(mode="json", exclude={"folder", "resources"}))

    def _with_its_task_if_new(self, found: dict[str, JsonValue]) -> dict[str, JsonValue]:
        return {name: value for name, value in found.items() if name != "task" or self.task not in _UNNAMED}

    def asks_about(self, target_index: int) -> bool:
        """Tell whether it judges by the target of this place among those of its query, from 0."""
        return target_index == 0 or getattr(self, "references", None) != "first"

    @property
    def members(self) -> tuple[str, ...]:
        """The judges that it is the mean of; none: it judges itself."""
        return getattr(self, "of", ())

    @property
    def needs_logprobs(self) -> bool:
        """True if its model must give the log probabilities of tokens."""
        return False

    @property
    def scale(self) -> str | None:
        """The marks that its numbers are like, in words; None if its name and card say it."""
        return None

    @property
    def fitted_model(self) -> str | None:
        """The shipped model of coverage that it judges by; None: none."""
        return None

    @property
    def own_threshold(self) -> float | None:
        """The number above which it says yes; None: the configuration states none."""
        return getattr(self, "threshold", None)

    @property
    def is_lexical(self) -> bool:
        """True if it judges by shared words and meaning: its numbers are graded, and cost nothing."""
        return False

    @property
    def model_name(self) -> str:
        """The model behind it, as its card names it."""
        return self._kind

    @property
    def server_url(self) -> str | None:
        """The URL of the server that judges; None: no server does."""
        return getattr(self, "url", None)

    def of_version(self, _version: str | None, /) -> Self:
        """Return the settings with the version that its server states, unless they have one."""
        return self

    @property
    def bounds(self) -> tuple[float, ...]:
        """The numbers from which its answer is another."""
        return () if self.own_threshold is None else (self.own_threshold,)
