"""Labels that a judge is held against, whatever they are about: whose they are, and the work that they mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from actors.judges.kinds import kind_of
from actors.judges.opening import Judge, make_judge
from jobs.calibration.place import LabelledPlace
from longform.errors import LongformError, UsageError
from longform.judges.card_columns import Card, CardFrame, SupportFound
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.judges.matrix import JudgedText
from longform.judges.meta_evaluation import Mode
from longform.keys import in_groups
from longform.results.answer import VerbAnswer
from longform.rows import JudgementRow, LabelRow
from longform.settings.chat import ChatSettings
from longform.settings.judges import JudgeSettings

RELEASED = "released:"
"""Begins the name of an annotator that is a model, whose labels a benchmark ships as predictions."""


class Piece(NamedTuple):
    """
    A labelled summary as a judge is asked about it.

    Attributes:
        together: Pieces of one value are one task.
        mode: The texts that its sentences are checked against; None: it is judged by targets of its query.
        repeat: Of the question, from 0.
        perturbation: The change of the summary that is judged; None: it is judged as it was written.
    """

    work_id: str
    summary_id: str
    together: str
    mode: Mode | None = None
    repeat: int = 0
    perturbation: str | None = None


def nth(repeat: int) -> list[str]:
    """Return what keys of repeats have besides; nothing for the first, whose verdicts are those of a judge without."""
    return [f"repeat {repeat}"] if repeat else []


Verdicts = Mapping[tuple[str, str], Sequence[JudgementRow]]
"""(mode, summary id) -> verdicts; labels of a release are some."""


class Measured(NamedTuple):
    """
    The findings on a judge that was held against labels.

    Attributes:
        card: None if the labels allow none.
        told: All that was found, if the card is a part of it.
        n: Answers that were wanted.
        beside: The judge with its answers, to be held beside others of its task.
    """

    card: Card | None
    told: SupportFound | None
    n: int
    n_unjudged: int
    beside: Any


@dataclass(frozen=True, kw_only=True)
class Labelled(ABC):
    """
    The labels of one kind of judgement. It pickles small.

    Attributes:
        url: Of a benchmark with summaries, or of a run.
        task: Of the judges that are held against them.
        target_kind: What they are about.
        answers: Those that judges of the task give.
        annotators: Whose labels; none: those of all annotators but `released:NAME`.
        why_unperturbed: Why no perturbed summaries are asked about; None: some are, or no card tells of them.
    """

    step: ClassVar[str]  # as `evaluate` calls such a stage, whose calls foretell the tokens of these
    in_cluster: ClassVar[bool]  # judges without a chat model have work enough for processes of their own

    url: str
    task: str
    target_kind: str
    answers: tuple[str, ...]
    annotators: tuple[str, ...] = ()
    seed: int = 1
    resamples: int = 2000
    why_unperturbed: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # not what it has read

    @property
    def unit(self) -> str:
        """The plural of what is judged, as progress counts it."""
        return "summaries"

    @cached_property
    def place(self) -> LabelledPlace:
        return LabelledPlace(self.url)

    @cached_property
    def all_labels(self) -> list[LabelRow]:
        """Everybody's labels of this kind, in their order."""
        known = {None, *self.answers}
        return [row for row in self.place.labels() if row["target_kind"] == self.target_kind and row["answer"] in known]

    @cached_property
    def chosen(self) -> tuple[str, ...]:
        """
        The annotators whose labels count.

        Raises:
            UsageError: One of those named has labelled nothing, or nobody has.
        """
        there = sorted({row["annotator"] for row in self.all_labels})
        wanted = self.annotators or tuple(name for name in there if not name.startswith(RELEASED))
        if missing := [name for name in wanted if name not in there]:
            raise UsageError(f"{self.url}: expected labels of {self.task} of annotator {missing[0]!r}, {_of(there)}")
        if not wanted:
            raise UsageError(f"{self.url}: expected people's labels of {self.task}, {_of(there)}")
        return wanted

    @cached_property
    def labels(self) -> list[LabelRow]:
        """The labels that the judge is held against."""
        return [row for row in self.all_labels if row["annotator"] in self.chosen]

    def released(self, name: str) -> Verdicts:
        """
        Return the predictions of `released:NAME`, as verdicts.

        Raises:
            UsageError: The benchmark ships none.
        """
        own = (row for row in self.all_labels if row["annotator"] == name)
        found = in_groups(((row["mode"], row["summary_id"]), row) for row in own)
        if not found:
            shipped = {row["annotator"] for row in self.all_labels if row["annotator"].startswith(RELEASED)}
            raise UsageError(f"{self.url}: no predictions of {name!r}; it ships those of {sorted(shipped)}")
        return found

    def as_written(self, verdicts: Verdicts) -> Verdicts:
        """Return those of *verdicts* that are of summaries as they were written."""
        return verdicts

    @abstractmethod
    def pieces(self, judge: Judge) -> list[Piece]:
        """Return the work that the labels mean for a judge."""

    @abstractmethod
    def reader(self, kind: Kind, threads: int, /) -> Callable[[Piece], JudgedText]:
        """Return what reads the texts of pieces, for a judge of this *kind*."""

    @abstractmethod
    def measured(self, calibration: Calibration, verdicts: Verdicts, frame: CardFrame) -> Measured:
        """Hold the judge's verdicts against the labels; its card begins with *frame*."""

    @abstractmethod
    def compared(self, found: Sequence[Measured], task: str) -> VerbAnswer:
        """Hold several judges of a task beside each other; beside the tables stand the findings of older versions."""


def _of(annotators: Sequence[str]) -> str:
    return f"found {annotators or 'none'}"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """
    A judge, and the labels that it is held against.

    Attributes:
        judge: `released:NAME`, or the name of one of `judges`.
        judges: How judges are made.
        labelled: The labels.
        prompts: A folder whose files replace ours of the same name.
        note: What a reader of the card must know besides.
        fault: Why a served judge behind it did not say who it is; None: none is known.
    """

    judge: str
    judges: Mapping[str, JudgeSettings]
    labelled: Labelled
    prompts: str | None = None
    note: str | None = None
    fault: LongformError | None = None

    @property
    def settings(self) -> JudgeSettings | None:
        """The judge's; None: a release ships its predictions."""
        return self.judges.get(self.judge)

    @property
    def kind(self) -> Kind:
        """Return the kind of the judge."""
        return kind_of_judge(self.settings)

    @cached_property
    def members(self) -> dict[str, JudgeSettings | None]:
        """The judges behind the judge: those that it is the mean of, else itself."""
        names = self.settings.members if self.settings else ()
        return {name: self.judges.get(name) for name in names or (self.judge,)}

    @cached_property
    def made(self) -> dict[str, Judge]:
        """The members that can be asked."""
        judges = self.judges
        return {name: make_judge(name, judges, prompts=self.prompts) for name in self.members if name in judges}

    def check(self) -> None:
        """
        Find the labels.

        Raises:
            UsageError: There are none, or no predictions of a released member.
            LongformError: A served judge did not say who it is.
        """
        if self.fault is not None:
            raise self.fault
        _ = self.labelled.chosen
        for name in self.members:
            if name not in self.judges:
                self.labelled.released(name)

    @property
    def chats(self) -> dict[str, ChatSettings]:
        """The members that ask a model, with that model."""
        found = {name: judge.settings.asked_model for name, judge in self.made.items()}
        return {name: chat for name, chat in found.items() if chat is not None}


def kind_of_judge(settings: JudgeSettings | None) -> Kind:
    """Return the kind of a judge; None, whose predictions a release ships, judges coverage."""
    return KINDS["coverage"] if settings is None else kind_of(settings)
