"""
Judges and the labels that they are held against, whatever these are about: whose they are, and the work that they mean.

A label is of a target of a summary's query (an insight, a key point, a reference), or of a sentence or a whole summary
that is checked against documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

from actors.judges.opening import Judge, kind_of, make_judge
from jobs.calibration.label_texts import (
    AS_RELEASED,
    CopyOf,
    ImportanceBy,
    LabelledText,
    PrefixChars,
    copies_of,
    labelled_texts,
    texts_of_mode,
)
from jobs.calibration.place import LabelledPlace
from jobs.stages.judge import SummaryToJudge, judged_summary
from longform.errors import LongformError, UsageError
from longform.formats.longformfact import PEOPLE
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.judges.matrix import JudgedText, TargetText
from longform.judges.merges import BY_ORDER, EACH_DOCUMENT, Mode, Scoring
from longform.keys import content_key, in_groups
from longform.rows import JudgementRow, LabelRow, SummaryRow
from longform.settings.chat import ChatSettings
from longform.settings.judges import JudgeSettings
from longform.text.citations import bullets

RELEASED = "released:"
"""Begins the name of an annotator that is a model, whose labels a benchmark ships as predictions."""


class Piece(NamedTuple):
    """A labelled summary as a judge is asked about it."""

    work_id: str
    summary_id: str
    together: str  # pieces of one value are one task
    # the texts that its sentences are checked against; None: it is judged by targets of its query
    mode: Mode | None = None
    repeat: int = 0  # number of the question, from 0
    perturbation: str | None = None  # the change of the summary; None: it is judged as it was written


def nth(repeat: int) -> list[str]:
    """Return what keys of repeats have besides; nothing for the first, whose verdicts are those of a judge without."""
    return [f"repeat {repeat}"] if repeat else []


Verdicts = Mapping[tuple[str, str], Sequence[JudgementRow]]
"""(mode, summary id) -> verdicts; labels of a release are some."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """The labels that judges of a task are held against, and the work that they mean for a judge. It pickles small."""

    url: str  # a benchmark with summaries, or a run
    task: str
    target_kind: str  # the kind of target of a query, or `document`: sentences are checked against documents
    answers: tuple[str, ...]
    annotators: tuple[str, ...] = ()  # none: all annotators but `released:NAME`

    full: str = "full"  # the answer that means fully covered
    perturbations: tuple[str, ...] = ()  # changes of summaries, with which the judge is asked again; none: it is not
    fitted: frozenset[str] = frozenset()  # haystacks that the judge was fitted on; not perturbed if there are others
    why_unperturbed: str | None = None  # None: some perturbed summaries are asked about, or no card tells of them

    modes: tuple[Mode, ...] = (EACH_DOCUMENT,)  # the texts that sentences are checked against
    orders: bool = False  # joined documents are judged in four orders by importance, too
    scoring: Scoring = field(default_factory=Scoring)
    importance: ImportanceBy = AS_RELEASED  # ranks documents for the orders

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # not what it has read

    @property
    def unit(self) -> str:
        """The plural of what is judged, as progress counts it."""
        return "summaries and copies" if self.perturbations else "summaries"

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
        told = f"found {there or 'none'}"
        wanted = self.annotators or tuple(name for name in there if not name.startswith(RELEASED))
        if missing := [name for name in wanted if name not in there]:
            raise UsageError(f"{self.url}: expected labels of {self.task} of annotator {missing[0]!r}, {told}")
        if not wanted:
            raise UsageError(f"{self.url}: expected people's labels of {self.task}, {told}")
        return wanted

    @cached_property
    def labels(self) -> list[LabelRow]:
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

    @cached_property
    def summaries(self) -> dict[str, SummaryRow]:
        """Summary id -> row, of the summaries with labels, in the labels' order."""
        rows = self.place.summaries
        return {label["summary_id"]: rows[label["summary_id"]] for label in self.labels}

    @cached_property
    def texts(self) -> list[LabelledText]:
        """
        The summaries whose sentences are checked, with their labels.

        Raises:
            UsageError: Labels of a data set are of sentences here and of summaries there; or orders need a ranking.
        """
        # without orders nothing is ranked by a model
        texts = labelled_texts(self.place, self.labels, self.importance if self.orders else AS_RELEASED)
        if self.orders and not any(text.ranking for text in texts):
            url = self.url
            raise UsageError(f"{url}: orders need a ranking of documents by importance, and no summary has one")
        return texts

    @cached_property
    def copies(self) -> CopyOf:
        if not self.perturbations:
            return {}
        haystacks = {row["haystack_id"] for row in self.summaries.values()}
        wanted = haystacks - self.fitted or haystacks
        return copies_of(
            self.place.benchmark,
            self.summaries,
            self.labels,
            self.perturbations,
            full=self.full,
            measured=wanted.__contains__,
        )

    def as_written(self, verdicts: Verdicts) -> Verdicts:
        """Return those of *verdicts* that are of summaries as they were written."""
        return {(mode, one): rows for (mode, one), rows in verdicts.items() if mode not in self.perturbations}

    # ---------------------------------------------------------------- the work that they mean

    def pieces(self, judge: Judge) -> list[Piece]:
        dataset, settings = str(self.place.benchmark.manifest["dataset_hash"]), judge.settings
        repeats = range(settings.times)
        if judge.kind.of_documents:
            how = [judge.name, settings.identity, judge.version.work, self.scoring.fidelity, self.scoring.seed, dataset]
            return [self._checked(how, *of, repeat) for of in self._texts_and_modes() for repeat in repeats]
        how = [dataset, judge.name, settings.identity, judge.version.work]
        asked = [
            Piece(content_key("labelled", *how, one, *nth(repeat)), one, together=one, repeat=repeat)
            for one in self.summaries
            for repeat in repeats
        ]
        return asked + [
            Piece(content_key("perturbed", *how, one, name, copy.lines), one, together=one, perturbation=name)
            for (name, one), copy in self.copies.items()
        ]

    def _texts_and_modes(self) -> list[tuple[LabelledText, Mode]]:
        """Return what is checked: orders by importance are only of summaries whose documents have a ranking."""
        modes = dict.fromkeys([*self.modes, *(BY_ORDER.values() if self.orders else ())])
        return [(text, mode) for text in self.texts for mode in modes if text.ranking or mode.order is None]

    def _checked(self, how: Sequence[Any], text: LabelledText, mode: Mode, repeat: int) -> Piece:
        # other annotators may have labelled other sentences
        asked = [] if self.chosen == (PEOPLE,) else [text.sentences]
        ranked = [] if mode.order is None or self.importance == AS_RELEASED else [[*self.importance]]
        of = (text.summary.summary_id, mode.name)
        key = content_key("labels", *how, *of, [], *asked, *ranked, *nth(repeat))
        return Piece(key, text.summary.summary_id, text.summary.article, mode, repeat)

    def reader(self, kind: Kind, threads: int, /) -> Callable[[Piece], JudgedText]:
        """Return what reads the texts of pieces, for a judge of this *kind*."""
        if not kind.of_documents:
            return lambda piece: self._by_targets(kind, piece)
        from actors.local_models.tokenizer import TokenCounter

        texts = {text.summary.summary_id: text for text in self.texts}
        prefix_chars = TokenCounter(threads=threads).prefix_chars
        return lambda piece: self._by_documents(texts[piece.summary_id], piece, prefix_chars)

    def _by_targets(self, kind: Kind, piece: Piece) -> JudgedText:
        row = self.place.summaries[piece.summary_id]
        summary: SummaryToJudge = {
            "work_id": piece.work_id,
            "summary_id": row["summary_id"],
            "query_id": row["query_id"],
            "haystack_id": row["haystack_id"],
            "failure": None,
        }
        if piece.perturbation is None:
            units = [bullet.text for bullet in bullets(row["text"] or "")]
            return judged_summary(kind, summary, units, self.place.benchmark)._replace(repeat=piece.repeat)
        copy = self.copies[piece.perturbation, piece.summary_id]
        return judged_summary(kind, summary, copy.lines, self.place.benchmark)._replace(mode=piece.perturbation)

    def _by_documents(self, text: LabelledText, piece: Piece, prefix_chars: PrefixChars) -> JudgedText:
        mode = piece.mode
        assert mode is not None, "sentences are checked against texts of a mode"
        shown = texts_of_mode(
            self.place.documents(text.row),
            mode,
            ranking=text.ranking,
            fidelity=self.scoring.fidelity,
            seed=self.scoring.seed,
            prefix_chars=prefix_chars,
        )
        targets = tuple(TargetText(_target_kind(mode), content_key(said), said) for said in shown)
        named = (piece.work_id, piece.summary_id, text.sentences, targets)
        return JudgedText(*named, mode=mode.name, repeat=piece.repeat)


def _target_kind(mode: Mode) -> str:
    if mode == EACH_DOCUMENT:
        return "document"
    return "context" if mode.chunk_tokens is None else "chunk"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A judge, and the labels that it is held against."""

    judge: str  # `released:NAME`, or the name of one of `judges`
    judges: Mapping[str, JudgeSettings]
    labelled: Labelled
    prompts: str | None = None  # a folder whose files replace ours of the same name
    note: str | None = None  # for readers of the card
    fault: LongformError | None = None  # why a served judge behind it did not say who it is; None: none is known

    @property
    def settings(self) -> JudgeSettings | None:
        """The judge's; None: a release ships its predictions."""
        return self.judges.get(self.judge)

    @property
    def kind(self) -> Kind:
        return kind_of_judge(self.settings)

    @cached_property
    def members(self) -> dict[str, JudgeSettings | None]:
        """The judges behind the judge: those that it is the mean of, else itself."""
        names = self.settings.members if self.settings else ()
        return {name: self.judges.get(name) for name in names or (self.judge,)}

    @cached_property
    def made(self) -> dict[str, Judge]:
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
