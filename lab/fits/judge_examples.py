"""
Examples for the offline judge of coverage: labelled pairs of released summaries, and damaged copies of them.

People never marked a negated or a shuffled bullet. What such a bullet should score is set here, as a part of the label
that it had before (`longform.judges.perturbations` does the damage). Copies are padded with 800 sentences that a
grammar wrote, about a ferry line and a lido that do not exist: they belong to no haystack that could be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from longform.judges.coverage_model import WORDS, Evidence, Fit
from longform.judges.offline_coverage import QueryInsights, embedded_text, stem_weights
from longform.judges.perturbations import perturb
from longform.keys import stable_seed
from longform.metrics.agreement import WEIGHTS
from longform.records import Target
from longform.rows import LabelRow, SummaryRow
from longform.text.citations import Bullet, bullets
from longform.text.vectors import TextReader, WeighedPieces

DAMAGE: Mapping[str, float] = {"number": 0.5, "negate": 0.0, "shuffle": 0.5, "pad": 0.75}
"""Perturbation -> the part of the label that is left. By judgement: a denied statement is not stated; with another
number it is partly so; out of order it can be guessed; padded it is there, but the reader has to find it."""

ANSWERS: Mapping[str, str] = {
    "numbers_contradicted": "number",
    "denial_mismatch": "negate",
    "order_lost": "shuffle",
    "dilution": "pad",
    "crowding": "pad",
}
"""Guard -> the perturbation that it must answer."""

_DAMAGED_SUMMARIES = 200
"""Damaged summaries of each set: four strengths need no more."""

_SEED = 11


class LabelledSummary(NamedTuple):
    """A summary and what one annotator said of each insight of its query."""

    summary_id: str
    query_id: str
    haystack_id: str
    bullets: tuple[Bullet, ...]
    answers: tuple[str | None, ...]  # one an insight; null: not labelled
    links: tuple[int | None, ...]

    @property
    def lines(self) -> list[str]:
        return [bullet.text for bullet in self.bullets]


class LabelledSet(NamedTuple):
    """Summaries with the labels of one annotator, and the insights they were labelled for."""

    name: str
    targets: Mapping[str, Sequence[Target]]  # query id -> its insights, in order
    summaries: Sequence[LabelledSummary]
    encoder: TextReader | None = None  # for judges that read vectors; null: no judge of these labels reads any

    def query_insights(self) -> dict[str, QueryInsights]:
        """Query id -> its insights, weighed by those of their haystack."""
        texts: dict[str, list[str]] = {}
        for target in (target for targets in self.targets.values() for target in targets):
            texts.setdefault(target.haystack_id, []).append(target.text)
        weights = {haystack_id: stem_weights(insights) for haystack_id, insights in texts.items()}
        pieces = {haystack_id: self._weighed_pieces(insights) for haystack_id, insights in texts.items()}
        return {
            query_id: QueryInsights(
                [target.text for target in targets],
                weights[targets[0].haystack_id],
                vectors=pieces[targets[0].haystack_id],
            )
            for query_id, targets in self.targets.items()
        }

    def _weighed_pieces(self, insights: Sequence[str]) -> WeighedPieces | None:
        if self.encoder is None:
            return None
        return WeighedPieces.of(self.encoder, [embedded_text(text) for text in insights])


class JudgeExample(NamedTuple):
    """One labelled (summary, insight), or a damaged copy of it."""

    haystack_id: str
    query_id: str
    summary_id: str
    damage: str | None  # null: as it was released
    evidence: Evidence
    label: float  # full 1, partial 0.5, none 0; of a damaged copy what it should score


def labelled_set(
    name: str,
    *,
    annotator: str,
    targets: Mapping[str, Sequence[Target]],
    summary_rows: Iterable[SummaryRow],
    label_rows: Iterable[LabelRow],
) -> LabelledSet:
    """The labels of *annotator*, from rows of `summaries` and `labels`; summaries it did not label are left out."""
    given: dict[str, dict[str, LabelRow]] = {}
    for row in label_rows:
        if row["annotator"] == annotator:
            given.setdefault(row["summary_id"], {})[row["target_id"]] = row
    found = [
        _labelled(row, given[row["summary_id"]], targets[row["query_id"]])
        for row in summary_rows
        if row["summary_id"] in given
    ]
    return LabelledSet(name, targets, found)


def _labelled(row: SummaryRow, labels: Mapping[str, LabelRow], targets: Sequence[Target]) -> LabelledSummary:
    of_targets = [labels.get(target.target_id) for target in targets]
    return LabelledSummary(
        summary_id=row["summary_id"],
        query_id=row["query_id"],
        haystack_id=row["haystack_id"],
        bullets=tuple(bullets(row["text"] or "")),
        answers=tuple(None if label is None else label["answer"] for label in of_targets),
        links=tuple(None if label is None else label["linked_unit"] for label in of_targets),
    )


def judge_examples(labelled: LabelledSet, rule: Fit = WORDS.fit) -> list[JudgeExample]:
    """
    Each labelled pair, and damaged copies of the pairs of up to 200 summaries (chosen by key, not by label).

    Args:
        labelled: The labels.
        rule: The rule by which insights and bullets are held against each other.
    """
    insights = labelled.query_insights()
    chosen = sorted(labelled.summaries, key=lambda summary: stable_seed(_SEED, summary.summary_id))
    damaged = {summary.summary_id for summary in chosen[:_DAMAGED_SUMMARIES]}
    foreign = foreign_sentences()
    return [
        example
        for summary in labelled.summaries
        for damage in (None, *(DAMAGE if summary.summary_id in damaged else ()))
        for example in _examples(summary, insights[summary.query_id], damage, foreign, rule)
    ]


def _examples(
    summary: LabelledSummary, insights: QueryInsights, damage: str | None, foreign: Sequence[str], rule: Fit
) -> list[JudgeExample]:
    lines = summary.lines if damage is None else perturb(damage, summary.lines, seed=_SEED, foreign=foreign)
    left = 1.0 if damage is None else DAMAGE[damage]
    return [
        JudgeExample(
            summary.haystack_id, summary.query_id, summary.summary_id, damage, evidence, left * WEIGHTS[answer]
        )
        for evidence, answer in zip(insights.evidence(lines, rule), summary.answers, strict=True)
        if answer is not None and evidence.has_words
    ]


def foreign_sentences() -> list[str]:
    """The lines of `foreign_sentences.txt`: some come more than once, and which one is drawn depends on their order."""
    return files("lab.fits").joinpath("foreign_sentences.txt").read_text(encoding="utf-8").splitlines()
