"""Perturbed copies of labelled summaries, which judges that link bullets are asked about besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from actors.storage.benchmark import Benchmark
from longform.judges.adversarial import LabelledLines, Others, Perturbed, perturbed_summaries
from longform.rows import LabelRow, SummaryRow
from longform.text.citations import bullets, cited_numbers

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

    *summaries* are those with *labels* of people, by id; *names* are perturbations, and *full* is the answer that means
    fully covered. Summaries of a haystack that is not *measured* are not perturbed: they lend their bullets to others.
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
