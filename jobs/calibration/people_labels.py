"""Reach of a trained checker and of cosine on sentences and summaries that people labelled, and the checker's card."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from actors.judges.checkpoint import CHECKPOINT_VERSION, CheckpointJudge
from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from jobs.calibration.label_texts import LabelledText, labelled_texts, labels_of_people, with_text
from jobs.calibration.place import LabelledPlace
from longform.formats.longformfact import PEOPLE
from longform.judges.card_columns import Card, Reach, reach_of
from longform.judges.card_figures import shown_row, support_figures
from longform.judges.cards import SUPPORT_CHECKER, Version, card_of
from longform.judges.kind import Group
from longform.judges.kinds.support import SUPPORT
from longform.judges.merges import DOCUMENT, Json, Scoring, graded, label_set
from longform.metrics.statistics import Estimate
from longform.settings.judges import CheckpointJudgeSettings
from longform.support.index import SupportIndex

Matrix = NDArray[np.float64]
ReadMatrix = Callable[[Sequence[str], Sequence[str]], Matrix]
"""Documents, sentences -> numbers, shape (documents, sentences); NaN: unjudged."""


def people_reach(
    label_urls: Sequence[str], judge: CheckpointJudgeSettings, checkpoint: str, content: str, *, threads: int
) -> tuple[list[Reach], Card]:
    """
    Return figures of checker and cosine by data set, each document apart (maximum over documents), and the checker's
    card.

    The labels are people's, of benchmarks. *judge* says how the *checkpoint*, a folder, is read; the hash *content*
    stands for it in the card. Each model runs on *threads*.

    Raises:
        UsageError: A benchmark has no labels of people.
    """
    places = [LabelledPlace(url) for url in label_urls]
    texts = [(place, text) for place in places for text in labelled_texts(place, labels_of_people(place))]
    settings = judge.model_copy(update={"model": checkpoint})
    scoring = Scoring(threshold=judge.threshold, seed=1)
    ways = {
        "checker": _by_checker(CheckpointJudge(SUPPORT_CHECKER, settings, threads=threads)),
        "cosine": _by_cosine(Encoder(MINILM, threads=threads)),
    }
    found = {name: _found(texts, read, scoring) for name, read in ways.items()}
    rows = [row for name, one in found.items() for row in _rows(name, one)]
    made = f"checkpoint_support@{CHECKPOINT_VERSION}+{content}"
    frame = card_of(
        SUPPORT_CHECKER, {SUPPORT_CHECKER: judge}, {SUPPORT_CHECKER: Version(made, made)}, task=SUPPORT.task
    )
    summaries = [text.summary for _, text in texts]
    figures = support_figures(found["checker"], label_set(summaries, [PEOPLE]))
    card: Card = {**frame, **figures, "cost": {"usd": 0.0, "why": "no model service is called"}, "note": None}
    return rows, card


def _found(texts: Sequence[tuple[LabelledPlace, LabelledText]], read: ReadMatrix, scoring: Scoring) -> Json:
    cells = {}
    for place, text in texts:
        documents = [document.text for document in with_text(place.documents(text.row))]
        cells[DOCUMENT, text.summary.summary_id] = read(documents, text.sentences)
    return graded([text.summary for _, text in texts], cells, [DOCUMENT], scoring)


def _rows(name: str, found: Json) -> list[Reach]:
    shown = shown_row(found)
    assert shown is not None  # mode document was asked for
    # a cosine has no threshold
    measures = {"auroc": "AUROC"} | ({"balanced_accuracy": "balanced accuracy"} if name == "checker" else {})
    return [
        reach_of(
            f"{name}, people: {title}, {data_set}",
            Estimate(**one[measure]),
            fitted_on="pairs of other documents" if name == "checker" else "nothing",
            scored_on=f"labels of people, {data_set}",
        )
        for data_set, one in shown["data_sets"].items()
        for measure, title in measures.items()
    ]


def _by_checker(judge: CheckpointJudge) -> ReadMatrix:
    def read(documents: Sequence[str], sentences: Sequence[str]) -> Matrix:
        groups = [Group(str(place), (text,), tuple(sentences)) for place, text in enumerate(documents)]
        values = [[SUPPORT.number(v.answer, v.probability) for v in row] for row in judge.judge(groups)]
        return np.array(values, dtype=np.float64)

    return read


def _by_cosine(encoder: Encoder) -> ReadMatrix:
    def read(documents: Sequence[str], sentences: Sequence[str]) -> Matrix:
        vectors = encoder.embed(sentences)
        indices = [SupportIndex([text]) for text in documents]
        read = [index.with_vectors(encoder.embed(index.sentences)) for index in indices]
        found = [index.signals(sentences, vectors)["cosine"][:, 0] for index in read]
        return np.maximum(np.array(found, dtype=np.float64), 0.0)

    return read
