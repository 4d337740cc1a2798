"""Labels of a summary's targets, which are insights, key points or references, and what a judge reaches on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from actors.judges.opening import Judge
from actors.storage.benchmark import Benchmark
from jobs.calibration.labelled import Calibration, Labelled, Measured, Piece, Verdicts, nth
from jobs.stages.judged_texts import SummaryToJudge, judged_summary
from longform.judges.adversarial import (
    LabelledLines,
    Others,
    Perturbed,
    Scored,
    ScoredPair,
    adversarial,
    perturbed_summaries,
)
from longform.judges.card_columns import Adversarial, CardFrame, CostColumns, HeldOutRow, TargetCard, TargetFigures
from longform.judges.card_figures import LabelledTarget, target_card
from longform.judges.cards import describe, held_out_rows
from longform.judges.kind import Kind
from longform.judges.matrix import JudgedText
from longform.judges.offline_coverage import shipped_judge
from longform.judges.several import TargetJudge, target_meta
from longform.keys import content_key
from longform.metrics.coverage import citation_quality
from longform.results.answer import VerbAnswer
from longform.results.judges_compared import targets_answer
from longform.rows import LabelRow, SummaryRow
from longform.settings.judges import JudgeSettings
from longform.text.citations import bullets, cited_numbers


@dataclass(frozen=True, kw_only=True)
class LabelledTargets(Labelled):
    """
    Labels of targets.

    Attributes:
        full: The answer that means fully covered.
        perturbations: Of summaries, that the judge is asked about besides; none: it is not.
        fitted: Haystacks whose summaries the judge was fitted on; they are not perturbed if there are others.
    """

    step = "judge"
    in_cluster = False

    full: str = "full"
    perturbations: tuple[str, ...] = ()
    fitted: frozenset[str] = frozenset()

    @property
    def unit(self) -> str:
        return "summaries and copies" if self.perturbations else super().unit

    @cached_property
    def summaries(self) -> dict[str, SummaryRow]:
        """Summary id -> row, of the summaries with labels, in the labels' order."""
        rows = self.place.summaries
        return {label["summary_id"]: rows[label["summary_id"]] for label in self.labels}

    def pieces(self, judge: Judge) -> list[Piece]:
        how = (self.place.benchmark.manifest["dataset_hash"], judge.name, judge.settings.identity, judge.version.work)
        asked = [
            Piece(content_key("labelled", *how, one, *nth(repeat)), one, together=one, repeat=repeat)
            for one in self.summaries
            for repeat in range(judge.settings.times)
        ]
        return asked + [
            Piece(content_key("perturbed", *how, one, name, copy.lines), one, together=one, perturbation=name)
            for (name, one), copy in self.copies.items()
        ]

    @cached_property
    def copies(self) -> CopyOf:
        """The perturbed summaries."""
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
        return {(mode, one): rows for (mode, one), rows in verdicts.items() if mode not in self.perturbations}

    def reader(self, kind: Kind, _threads: int, /) -> Callable[[Piece], JudgedText]:
        place = self.place

        def text(piece: Piece) -> JudgedText:
            row = place.summaries[piece.summary_id]
            summary: SummaryToJudge = {
                "work_id": piece.work_id,
                "summary_id": row["summary_id"],
                "query_id": row["query_id"],
                "haystack_id": row["haystack_id"],
                "failure": None,
            }
            if piece.perturbation is None:
                units = [bullet.text for bullet in bullets(row["text"] or "")]
                return judged_summary(kind, summary, units, place.benchmark)._replace(repeat=piece.repeat)
            copy = self.copies[piece.perturbation, piece.summary_id]
            judged = judged_summary(kind, summary, copy.lines, place.benchmark)
            return judged._replace(mode=piece.perturbation)

        return text

    def measured(self, calibration: Calibration, verdicts: Verdicts, frame: CardFrame) -> Measured:
        labelled = list(self._labelled(calibration.kind, self.as_written(verdicts)))
        fitted = fitted_haystacks(calibration.members.values())
        settings = {"seed": self.seed, "resamples": self.resamples}
        figures = target_card(labelled, self.summaries, fitted_haystacks=fitted, settings=settings)
        if held_out := _held_out(calibration.settings, figures):
            figures["held_out"] = held_out
        perturbed = self._adversarial(calibration.kind, verdicts)
        if perturbed is not None:
            figures["adversarial"] = perturbed
        card: TargetCard = {**frame, **figures}
        cost = _cost(calibration, frame["cost"])
        beside = TargetJudge(calibration.judge, labelled, fitted, cost, describe(card), perturbed)
        return Measured(card, None, len(labelled), figures["n_unjudged"], beside)

    def _adversarial(self, kind: Kind, verdicts: Verdicts) -> Adversarial | None:
        """Return the section of a card on perturbed summaries; None if a judge of this kind has none."""
        if self.why_unperturbed is not None:
            return {"rows": [], "missing": {}, "reason": self.why_unperturbed}
        if not self.perturbations:
            return None
        scored = scored_by(kind, self.place.benchmark, self.summaries, self.copies, verdicts)
        return adversarial(self.copies, scored, seed=self.seed, resamples=self.resamples)

    def compared(self, found: Sequence[Measured], task: str) -> VerbAnswer:
        settings = {"seed": self.seed, "resamples": self.resamples}
        beside = target_meta([one.beside for one in found], self.summaries, task=task, settings=settings)
        return targets_answer(beside)._replace(beside={"of_targets": beside, "of_support": None})

    def _labelled(self, kind: Kind, verdicts: Verdicts) -> Iterator[LabelledTarget]:
        answers = {(row["summary_id"], row["target_id"]): row for rows in verdicts.values() for row in rows}
        for label in self.labels:
            summary = self.summaries[label["summary_id"]]
            yield LabelledTarget(
                summary_id=label["summary_id"],
                target_id=label["target_id"],
                annotator=label["annotator"],
                haystack_id=summary["haystack_id"],
                text=self.place.benchmark.queries[summary["query_id"]].domain,
                label=label,
                verdict=answers.get((label["summary_id"], label["target_id"])),
                counts=kind.counts,
                as_one=kind.as_one,
            )


def _cost(calibration: Calibration, cost: CostColumns) -> CostColumns:
    """Return the cost of these verdicts; that of predictions is printed for another set of summaries."""
    released = [name for name in calibration.members if name not in calibration.made]
    if not released:
        return cost
    return {"usd": None, "why": f"the release does not say what predictions on these summaries cost ({cost['why']})"}


def fitted_haystacks(judges: Iterable[JudgeSettings | None]) -> frozenset[str]:
    """Return the haystacks whose summaries any of *judges* was fitted on."""
    models = {judge.fitted_model for judge in judges if judge is not None}
    return frozenset(one for model in models if model is not None for one in shipped_judge(model).fitted_haystacks)


def _held_out(judge: JudgeSettings | None, card: TargetFigures) -> list[HeldOutRow]:
    """Return figures of the offline judge on text it was fitted on, with a part left out; only beside such labels."""
    fitted = None if judge is None else judge.fitted_model
    if fitted is None or not any(row["fitted"] for row in card["texts"]):
        return []
    return held_out_rows(fitted)


# ---------------------------------------------------------------- perturbed copies

CopyOf = Mapping[tuple[str, str], Perturbed]
"""(perturbation, summary id) -> the copy."""


def copies_of(
    benchmark: Benchmark,
    summaries: Mapping[str, SummaryRow],
    labels: Sequence[LabelRow],
    names: Sequence[str],
    *,
    full: str,
    measured: Callable[[str], bool],
) -> CopyOf:
    """
    Return the perturbed copies of labelled summaries.

    Args:
        benchmark: Of the summaries.
        summaries: Summary id -> its row, of those with labels.
        labels: People's.
        names: Of perturbations.
        full: The answer that means fully covered.
        measured: Tells of a haystack whether its summaries are perturbed; others lend their bullets only.
    """
    answers = _answers(labels)
    lines = {one: tuple(bullet.text for bullet in bullets(row["text"] or "")) for one, row in summaries.items()}
    last = _last_documents(benchmark, summaries, lines)
    labelled = {
        one: _labelled(benchmark, row, lines[one], answers.get(one, {}), full)._replace(
            n_documents=last[row["haystack_id"]]
        )
        for one, row in summaries.items()
    }
    saying: dict[str, list[str]] = {}
    for summary in labelled.values():
        for target, unit in summary.covered.items():
            if unit is not None and 0 <= unit < len(summary.lines):
                saying.setdefault(target, []).append(summary.lines[unit])

    def others(summary: LabelledLines) -> Others:
        return Others(_foreign(summaries[summary.summary_id], summaries.values(), lines), saying)

    chosen = [one for one in labelled.values() if measured(summaries[one.summary_id]["haystack_id"])]
    return perturbed_summaries(chosen, others, names)


def _answers(labels: Iterable[LabelRow]) -> dict[str, dict[str, list[LabelRow]]]:
    """Return summary id -> target id -> the labels with an answer."""
    found: dict[str, dict[str, list[LabelRow]]] = {}
    for label in labels:
        if label["answer"] is not None:
            found.setdefault(label["summary_id"], {}).setdefault(label["target_id"], []).append(label)
    return found


def _labelled(
    benchmark: Benchmark,
    row: SummaryRow,
    lines: tuple[str, ...],
    answers: Mapping[str, Sequence[LabelRow]],
    full: str,
) -> LabelledLines:
    """Return a summary with its labels; the number of its documents is not known here."""
    targets = {target.target_id: target.text for target in benchmark.targets.get(row["query_id"], [])}
    labelled = [target for target in targets if target in answers]
    covered = [target for target in labelled if all(label["answer"] == full for label in answers[target])]
    return LabelledLines(
        summary_id=row["summary_id"],
        lines=lines,
        query=benchmark.queries[row["query_id"]].text,
        insights={target: targets[target] for target in labelled},
        labelled=labelled,
        covered={target: answers[target][0]["linked_unit"] for target in covered},
    )


def _last_documents(
    benchmark: Benchmark, summaries: Mapping[str, SummaryRow], lines: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Return haystack id -> its number of documents; of documents that are not shipped the last that is cited."""
    found: dict[str, int] = {}
    for one, row in summaries.items():
        cited = [number for line in lines[one] for number in cited_numbers(line)]
        found[row["haystack_id"]] = max([found.get(row["haystack_id"], 1), *cited])
    return {haystack: len(benchmark.documents(haystack)) or last for haystack, last in found.items()}


def _foreign(row: SummaryRow, rows: Iterable[SummaryRow], lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Return bullets with citations of other haystacks; of other queries if there is no other haystack."""
    others = [one for one in rows if one["query_id"] != row["query_id"]]
    far = [one for one in others if one["haystack_id"] != row["haystack_id"]]
    return [line for one in far or others for line in lines[one["summary_id"]] if cited_numbers(line)]


# ---------------------------------------------------------------- the judge's view


def scored_by(
    kind: Kind,
    benchmark: Benchmark,
    summaries: Mapping[str, SummaryRow],
    copies: CopyOf,
    verdicts: Verdicts,
) -> Scored:
    """Return the views of a judge, whose *verdicts* have the name of a perturbation as their mode."""
    found = {
        (mode if mode in {name for name, _ in copies} else None, row["summary_id"], row["target_id"]): row
        for (mode, _), rows in verdicts.items()
        for row in rows
    }

    def scored(perturbation: str | None, summary: str, target: str) -> ScoredPair:
        row = found.get((perturbation, summary, target))
        if row is None or row["answer"] is None:
            return ScoredPair(None)
        score = kind.number(row["answer"], row["probability"])
        gold = benchmark.gold_numbers(summaries[summary]["haystack_id"])
        if gold is None or not kind.counts[row["answer"]] or row["linked_unit"] is None:
            return ScoredPair(score)
        lines = (
            [bullet.text for bullet in bullets(summaries[summary]["text"] or "")]
            if perturbation is None
            else copies[perturbation, summary].lines
        )
        return ScoredPair(score, citation_quality(cited_numbers(lines[row["linked_unit"]]), gold[target]).precision)

    return scored
