"""Judges which insights a summary says, offline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from actors.judges.lexical import OfflineCoverageJudge
from actors.surface.given import languages_told, summary_text, text_of, texts_of
from longform.errors import UsageError
from longform.judges.coverage_model import DESIGNS
from longform.judges.kind import Group
from longform.judges.kind import Verdict as JudgeVerdict
from longform.judges.kinds.coverage import COVERAGE
from longform.metrics.coverage import score_summary
from longform.metrics.measure import Score, Verdict
from longform.settings.judges import fitted_name
from longform.text.answers import read_answer
from longform.text.citations import Bullet
from longform.text.refusals import without_refusals


@dataclass(frozen=True)
class Insight:
    """
    A statement that a summary ought to make.

    Attributes:
        text: The statement.
        documents: Numbers, from 1, of the documents that state it; None: not known, so that citations have no score.
    """

    text: str
    documents: Sequence[int] | None = None


@dataclass(frozen=True)
class JudgedInsight:
    """
    An insight with its verdict.

    Attributes:
        text: The statement.
        answer: `full`, `partial` or `none`; None: unjudged, and `failure` says why.
        probability: The judge's number in [0, 1]; None: as above.
        bullet: Place of the bullet that says it, from 0; None: none does.
        failure: Why there is no answer.
    """

    text: str
    answer: str | None
    probability: float | None
    bullet: int | None
    failure: str | None


@dataclass(frozen=True)
class Coverage:
    """
    The verdicts on a summary, and its scores.

    Attributes:
        insights: In the order given.
        bullets: Statements of the summary (sentences of prose, items of lists, rows of tables), each with the document
            numbers that it cites.
        scores: Measure -> score: coverage, citation, joint, precision, recall, unlinked.
        not_understood: Marks that look like citations and cite no number; they are taken out of their statements.
        told: A sentence for each language of the texts that the judge was not measured on.
    """

    insights: tuple[JudgedInsight, ...]
    bullets: tuple[Bullet, ...]
    scores: Mapping[str, Score]
    not_understood: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def coverage(self) -> float | None:
        """The share of the insights that the summary says, in [0, 1]; None if no insight is judged."""
        return self.scores["coverage"].value

    @property
    def citation(self) -> float | None:
        """The F1 of citations over covered insights, in [0, 1]; None if unknown, and `scores` has the reason."""
        return self.scores["citation"].value

    @property
    def joint(self) -> float | None:
        """Coverage times citation, in [0, 1]; None if unknown, and `scores` has the reason."""
        return self.scores["joint"].value


def judge(
    summary: str | Sequence[str],
    insights: Sequence[str | Insight],
    *,
    background: Sequence[str] = (),
    calibration: str = "people",
    features: str | None = None,
    partial_score: float = 0.5,
) -> Coverage:
    """
    Judge which insights a summary says, by words and meanings (SummHay, section 4, without a language model).

    The numbers are those of `longform evaluate` with a judge `{kind: offline, calibration: ..., features: ...}`.

    Args:
        summary: A text in Markdown or plain, or its bullets; citations are numbers, as `[3]`, `[1-4]`, `【1†source】`.
        insights: All insights of the query that the summary answers, since they compete for bullets.
        background: Insights of all queries to the same documents, by which words weigh; none: *insights*.
        calibration: The annotators to whose marks the judge was fitted: `people` or `gpt-4o`.
        features: `words`, or `vectors`, which compares meanings too and was fitted to people's marks alone; None:
            vectors for people's marks, words for those of gpt-4o.
        partial_score: The number that a partly said insight counts, where one that is said counts 1.

    Raises:
        UsageError: An argument is not what it should be; the message names it.
    """
    found = _insights(insights)
    text = summary_text(summary)
    if not 0 <= partial_score <= 1:
        raise UsageError(f"partial_score: expected a number from 0 to 1, found {partial_score!r}")
    read = read_answer(text)
    lines = tuple(without_refusals(read.statements))
    model = _fitted_model(calibration, features)
    (verdicts,) = _judge(model).judge(
        [
            Group(
                key="",
                shared=tuple(COVERAGE.unit(line.text) for line in lines),
                items=tuple(insight.text for insight in found),
                background=tuple(texts_of("background", background, least=0)),
            )
        ]
    )
    return Coverage(
        tuple(_judged(insight, verdict) for insight, verdict in zip(found, verdicts, strict=True)),
        lines,
        _scores(found, verdicts, lines, partial_score),
        tuple(read.not_understood),
        languages_told({"summaries": [text], "insights": [one.text for one in found]}, f"offline-{model}"),
    )


def _insights(given: object) -> list[Insight]:
    """Return insights whose documents are known of all, or of none."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise UsageError(f"insights: expected a list of texts or Insight, found a value of type {type(given).__name__}")
    found = [one if isinstance(one, Insight) else Insight(one) for one in given]
    texts_of("insights", [one.text for one in found])
    known = [place for place, one in enumerate(found) if one.documents is not None]
    if known and len(known) < len(found):
        lacking = next(place for place in range(len(found)) if place not in known)
        raise UsageError(
            f"insights[{lacking}]: expected `documents` as {len(known)} other insights have them, found None; name "
            "those of all insights, [] for one that no document states, or of none"
        )
    for place in known:
        _check_numbers(place, found[place].documents)
    return found


def _check_numbers(place: int, documents: object) -> None:
    numbers = documents if isinstance(documents, Sequence) and not isinstance(documents, str) else None
    if numbers is None or not all(isinstance(one, int) and one >= 1 for one in numbers):
        expected = "a list of document numbers from 1"
        raise UsageError(f"insights[{place}].documents: expected {expected}, found {documents!r}")


def _fitted_model(calibration: object, features: object) -> str:
    named = text_of("calibration", calibration)
    usual = "vectors" if named == "people" else "words"
    read = usual if features is None else text_of("features", features)
    if read not in DESIGNS:
        raise UsageError(f"features: expected one of {list(DESIGNS)}, found {read!r}")
    return fitted_name(named, read)


@cache
def _judge(model: str) -> OfflineCoverageJudge:
    return OfflineCoverageJudge(model=model, threads=os.cpu_count() or 1)


def _judged(insight: Insight, verdict: JudgeVerdict) -> JudgedInsight:
    return JudgedInsight(insight.text, verdict.answer, verdict.probability, verdict.linked_unit, verdict.failure)


def _scores(
    insights: Sequence[Insight], verdicts: Sequence[JudgeVerdict], lines: Sequence[Bullet], partial_score: float
) -> Mapping[str, Score]:
    gold = {str(place): one.documents for place, one in enumerate(insights) if one.documents is not None}
    read = [
        Verdict(str(place), one.answer, COVERAGE.number(one.answer, one.probability), linked_unit=one.linked_unit)
        for place, one in enumerate(verdicts)
    ]
    return {score.measure: score for score in score_summary(read, lines, gold or None, partial_score=partial_score)}
