"""Labels of support, of sentences or of whole summaries, and what a judge of documents reaches on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from actors.judges.opening import Judge
from jobs.calibration.label_texts import (
    AS_RELEASED,
    ImportanceBy,
    LabelledText,
    data_set_statistics,
    labelled_texts,
    texts_of_mode,
)
from jobs.calibration.labelled import Calibration, Labelled, Measured, Piece, Verdicts, nth
from longform.errors import UsageError
from longform.formats.longformfact import PEOPLE
from longform.judges.card_columns import CardFrame, SupportCard, SupportFound
from longform.judges.card_figures import shown_row, support_card
from longform.judges.cards import describe
from longform.judges.kind import Kind
from longform.judges.kinds.support import SUPPORT
from longform.judges.matrix import JudgedText, TargetText
from longform.judges.meta_evaluation import (
    BY_ORDER,
    EACH_DOCUMENT,
    JOINED,
    Cells,
    Mode,
    Scoring,
    graded,
    order_study,
    text_index,
)
from longform.judges.several import SupportJudge, support_meta
from longform.keys import content_key
from longform.metrics.agreement import Label
from longform.metrics.statistics import Array
from longform.results.answer import VerbAnswer
from longform.results.judges_compared import support_answer
from longform.rows import JudgementRow


@dataclass(frozen=True, kw_only=True)
class LabelledDocuments(Labelled):
    """
    Attributes:
        modes: The texts that sentences are checked against.
        orders: True if the joined documents are judged in four orders by importance, too.
        scoring: Rules by which verdicts become figures.
        importance: The rule by which the documents of orders are ranked.
    """

    step = "check"
    in_cluster = True

    modes: tuple[Mode, ...] = (EACH_DOCUMENT,)
    orders: bool = False
    scoring: Scoring = field(default_factory=Scoring)
    importance: ImportanceBy = AS_RELEASED

    @cached_property
    def texts(self) -> list[LabelledText]:
        """
        The labelled summaries.

        Raises:
            UsageError: Labels of a data set are of sentences here and of summaries there; or orders need a ranking.
        """
        # without orders nothing is ranked by a model
        texts = labelled_texts(self.place, self.labels, self.importance if self.orders else AS_RELEASED)
        if self.orders and not any(text.ranking for text in texts):
            url = self.url
            raise UsageError(f"{url}: orders need a ranking of documents by importance, and no summary has one")
        return texts

    @property
    def all_modes(self) -> list[Mode]:
        """The modes whose cells are needed."""
        by_order = BY_ORDER.values() if self.orders else []
        return list(dict.fromkeys([*self.modes, *by_order]))

    def pieces(self, judge: Judge) -> list[Piece]:
        """Orders by importance are only of summaries whose documents have a ranking."""
        wanted = [(text, mode) for text in self.texts for mode in self.all_modes if text.ranking or mode.order is None]
        return [
            self._piece(judge, text, mode, repeat) for text, mode in wanted for repeat in range(judge.settings.times)
        ]

    def _piece(self, judge: Judge, text: LabelledText, mode: Mode, repeat: int) -> Piece:
        how = [judge.settings.identity, judge.version.work, self.scoring.fidelity, self.scoring.seed]
        dataset = self.place.benchmark.manifest["dataset_hash"]
        # other annotators may have labelled other sentences
        asked = [] if self.chosen == (PEOPLE,) else [text.sentences]
        ranked = [] if mode.order is None or self.importance == AS_RELEASED else [[*self.importance]]
        of = (text.summary.summary_id, mode.name)
        key = content_key("labels", judge.name, *how, dataset, *of, [], *asked, *ranked, *nth(repeat))
        return Piece(key, text.summary.summary_id, text.summary.article, mode, repeat)

    def reader(self, _kind: Kind, threads: int, /) -> Callable[[Piece], JudgedText]:
        from actors.local_models.tokenizer import TokenCounter

        texts = {text.summary.summary_id: text for text in self.texts}
        prefix_chars = TokenCounter(threads=threads).prefix_chars

        def judged(piece: Piece) -> JudgedText:
            text, mode = texts[piece.summary_id], piece.mode
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

        return judged

    def measured(self, calibration: Calibration, verdicts: Verdicts, frame: CardFrame) -> Measured:
        summaries = [text.summary for text in self.texts]
        cells, failures = cells_of(verdicts)
        n, n_unjudged = sum(matrix.size for matrix in cells.values()), sum(failures.values())
        found: SupportFound = {
            "judge": calibration.judge,
            **graded(summaries, cells, [mode.name for mode in self.modes], self.scoring),
            "n_cells": n,
            "n_cells_unjudged": n_unjudged,
            "failures": failures,
            "orders": order_study(summaries, cells, self.scoring) if self.orders else None,
        }
        card: SupportCard | None = None
        if shown_row(found):
            figures = support_card(found, summaries, annotators=self.chosen)
            card = {**frame, **figures}
        beside = SupportJudge(
            name=calibration.judge,
            cells=cells,
            cuts=_cuts(verdicts),
            orders=found["orders"],
            scoring=self.scoring,
            cost=frame["cost"],
            card=describe(card) if card else None,
            n_unjudged=n_unjudged,
            n_cells=n,
        )
        return Measured(card, found, n, n_unjudged, beside)

    def compared(self, found: Sequence[Measured], task: str) -> VerbAnswer:
        beside = support_meta(
            [one.beside for one in found],
            [text.summary for text in self.texts],
            data_set_statistics(self.place, self.texts),
            [label for text in self.texts for label in _labels(text)],
            [mode.name for mode in self.modes],
            importance=self.importance.words if self.orders else None,
        )
        of_support = {"task": task, **beside}
        return support_answer(of_support)._replace(beside={"of_targets": None, "of_support": of_support})


def _labels(text: LabelledText) -> Iterator[Label]:
    """Yield people's labels of a summary, in their order."""
    for annotator, unit, label in zip(text.annotators, text.units, text.summary.labels, strict=True):
        item = (text.summary.summary_id, unit)
        yield Label(annotator, text.summary.summary_id, item, "supported" if label else "unsupported")


def _cuts(verdicts: Verdicts) -> bool:
    """Return whether the judge read joined documents in windows of its own."""
    joined = (rows for (mode, _), rows in verdicts.items() if mode == JOINED.name)
    return any(row["chunk_index"] is not None for rows in joined for row in rows)


def _target_kind(mode: Mode) -> str:
    if mode == EACH_DOCUMENT:
        return "document"
    return "context" if mode.chunk_tokens is None else "chunk"


def cells_of(verdicts: Verdicts) -> tuple[Cells, dict[str, int]]:
    """Return the cells, and how many were not judged, by reason."""
    missing = (
        row["failure"] or "no reason recorded" for rows in verdicts.values() for row in rows if row["answer"] is None
    )
    return {key: _matrix(rows) for key, rows in verdicts.items()}, dict(Counter(missing))


def _matrix(rows: Sequence[JudgementRow]) -> Array:
    at = [(text_index(row), row["unit_index"] or 0) for row in rows]
    matrix = np.full((max(p for p, _ in at) + 1, max(s for _, s in at) + 1), np.nan)
    for cell, row in zip(at, rows, strict=True):
        value = SUPPORT.number(row["answer"], row["probability"])
        matrix[cell] = np.nan if value is None else value
    return matrix
