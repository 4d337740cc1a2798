"""
Examples for the offline judge of coverage: labelled pairs of released summaries, and damaged copies of them.

People never marked a negated or a shuffled bullet. What such a bullet should score is set here, as a part of the label
that it had before (`longform.judges.perturbations` does the damage). Copies are padded with 800 sentences that a
grammar wrote, about a ferry line and a lido that do not exist: they belong to no haystack that could be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from actors.storage.benchmark import Benchmark
from longform.judges.coverage_model import WORDS, Evidence, Fit
from longform.judges.offline_coverage import QueryInsights, embedded_text, stem_weights
from longform.judges.perturbations import perturb
from longform.keys import stable_seed
from longform.metrics.agreement import WEIGHTS
from longform.records import Target
from longform.text.citations import bullets
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
    lines: Sequence[str]  # its bullets
    answers: tuple[str | None, ...]  # one an insight; null: not labelled
    links: tuple[int | None, ...]


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
        pieces = {
            haystack_id: WeighedPieces.of(self.encoder, [embedded_text(text) for text in insights])
            for haystack_id, insights in texts.items()
            if self.encoder is not None
        }
        return {
            query_id: QueryInsights(
                [target.text for target in targets], weights[haystack_id], vectors=pieces.get(haystack_id)
            )
            for query_id, targets in self.targets.items()
            for haystack_id in [targets[0].haystack_id]
        }


class JudgeExample(NamedTuple):
    """One labelled (summary, insight), or a damaged copy of it."""

    haystack_id: str
    query_id: str
    summary_id: str
    damage: str | None  # null: as it was released
    evidence: Evidence
    label: float  # full 1, partial 0.5, none 0; of a damaged copy what it should score


def labelled_set(name: str, benchmark: Benchmark, annotator: str) -> LabelledSet:
    """Return the labels of *annotator* in a benchmark; summaries it did not label are left out."""
    labels: dict[str, dict[str, tuple[str | None, int | None]]] = {}
    for row in benchmark.folder.read("labels").to_pylist():
        if row["annotator"] == annotator:
            labels.setdefault(row["summary_id"], {})[row["target_id"]] = (row["answer"], row["linked_unit"])
    summaries = []
    for row in benchmark.folder.read("summaries").to_pylist():
        if (given := labels.get(row["summary_id"])) is not None:
            targets = benchmark.targets[row["query_id"]]
            answers, links = zip(*(given.get(target.target_id, (None, None)) for target in targets), strict=True)
            ids = (row["summary_id"], row["query_id"], row["haystack_id"])
            summaries.append(LabelledSummary(*ids, [unit.text for unit in bullets(row["text"] or "")], answers, links))
    return LabelledSet(name, benchmark.targets, summaries)


def judge_examples(labelled: LabelledSet, rule: Fit = WORDS.fit) -> list[JudgeExample]:
    """Each labelled pair, and damaged copies of the pairs of up to 200 summaries (chosen by key, not by label)."""
    insights = labelled.query_insights()
    chosen = sorted(labelled.summaries, key=lambda summary: stable_seed(_SEED, summary.summary_id))
    damaged = {summary.summary_id for summary in chosen[:_DAMAGED_SUMMARIES]}
    foreign = foreign_sentences()
    found = []
    for summary in labelled.summaries:
        ids = (summary.haystack_id, summary.query_id, summary.summary_id)
        parts_left = DAMAGE if summary.summary_id in damaged else {}
        for damage, left in ((None, 1.0), *parts_left.items()):
            lines = summary.lines if damage is None else perturb(damage, summary.lines, seed=_SEED, foreign=foreign)
            found += [
                JudgeExample(*ids, damage, evidence, left * WEIGHTS[answer])
                for evidence, answer in zip(
                    insights[summary.query_id].evidence(lines, rule), summary.answers, strict=True
                )
                if answer is not None and evidence.has_words
            ]
    return found


def foreign_sentences() -> list[str]:
    """The lines of `foreign_sentences.txt`: some come more than once, and which one is drawn depends on their order."""
    return files("lab.fits").joinpath("foreign_sentences.txt").read_text(encoding="utf-8").splitlines()
