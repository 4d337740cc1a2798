"""
A judge against human labels: its agreement, its bias, and the card that states both.

    longform calibrate HUMAN --judge released:gpt-4o --json
    longform calibrate HUMAN --judge offline-people --out card.json
    longform calibrate HUMAN --judge mean:offline-people+released:gpt-4o
    longform calibrate HUMAN --judge NAME --config CONFIG
    longform calibrate LABELS --support offline --modes document,full,chunk-1024 --orders
    longform calibrate LABELS --support mean:offline+checker
    longform calibrate LABELS --support '{kind: checkpoint, model: FOLDER}' --out card.json

Reads   summaries, targets and labels of a benchmark that has labels of annotator `human`; of support, by `people`
Writes  the card, where `--out` names a file
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from actors.benchmark import Benchmark
from actors.judges import make_judge
from jobs.calibrate_support import add_support_arguments, support_outcome
from jobs.calling import Calling, add_calling_arguments, calling_of
from jobs.cards import write_card
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.configs import read_experiment, validated
from longform.citations import bullets, words_per_bullet
from longform.errors import UsageError
from longform.judge_cards import describe, held_out_rows
from longform.judge_settings import SHIPPED_JUDGES, AskedJudge, Judge, MeanJudge, OfflineJudge, judge_scale
from longform.keys import content_key
from longform.mean_judge import mean_verdicts
from longform.metrics import agreement
from longform.metrics.agreement import JudgedPair
from longform.statistics import Estimate

HUMAN = "human"
_RELEASED = "released:"
_MEAN = "mean:"
_RELEASED_COST_USD = {
    "released:gemini-1.5-pro": 15.1,
    "released:gpt-4o-9fs": 26.1,
    "released:gpt-4o": 6.9,
    "released:claude3-opus": 23.8,
    "released:claude3-haiku": 0.4,
    "released:gpt3.5": 1.3,
}
"""For the study's 200 summaries (SummHay, table 1)."""

Answers = Mapping[tuple[str, str], Mapping[str, Any]]
"""(summary id, target id) -> verdict."""


def calibrate(
    bench_url: str,
    judge: str,
    *,
    calling: Calling,
    judges: Mapping[str, Judge] = SHIPPED_JUDGES,
    seed: int = 1,
    resamples: int = 2000,
) -> dict[str, Any]:
    """
    The card of *judge*.

    Args:
        bench_url: A benchmark with human labels.
        judge: `released:NAME` reads the predictions that the benchmark ships, `mean:A+B` is the mean of judges;
            any other name is one of *judges*.
        calling: Where the calls of a judge that asks a model are recorded, and what they may cost.
        judges: How judges are made.
        seed: Of the intervals.
        resamples: Of each interval.

    Raises:
        UsageError: There are no human labels, or no such judge or predictions.
    """
    judges = named_judges(judge, judges)
    benchmark = Benchmark(bench_url)
    summaries = {row["summary_id"]: row for row in benchmark.folder.read("summaries").to_pylist()}
    labels = benchmark.folder.read("labels").to_pylist()
    human = {(row["summary_id"], row["target_id"]): row for row in labels if row["annotator"] == HUMAN}
    if not human:
        raise UsageError(f"{bench_url}: expected labels of annotator {HUMAN!r}, found {_annotators(labels)}")
    labelled = [summaries[summary_id] for summary_id in dict.fromkeys(summary_id for summary_id, _ in human)]
    given = _answers(benchmark, judge, judges, calling, labels=labels, summaries=labelled)
    pairs = _pairs(human, given)
    settings = {"seed": seed, "resamples": resamples}
    return {
        "judge": judge,
        "scale": judge_scale(judge, judges),
        "n": len(pairs),
        "n_unjudged": len(human) - len(pairs),
        **_agreement(pairs, settings),
        "bias": _bias(pairs, summaries, settings),
        "cost": _cost(judge, judges),
        "labels": {
            "hash": content_key([[*key, row["answer"], row["linked_unit"]] for key, row in sorted(human.items())]),
            "n_summaries": len({summary_id for summary_id, _ in human}),
            "n_topics": len({summaries[summary_id]["haystack_id"] for summary_id, _ in human}),
        },
        **_held_out(judge, judges),
        "prompt_version": next((row["prompt_version"] for row in given.values()), None),
    }


def _held_out(judge: str, judges: Mapping[str, Judge]) -> dict[str, Any]:
    # the figures above are in sample for a judge that was fitted on these very labels
    definition = judges.get(judge)
    if not isinstance(definition, OfflineJudge):
        return {}
    return {"held_out": held_out_rows("people" if definition.calibration == "people" else "GPT-4o")}


def _annotators(labels: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({row["annotator"] for row in labels})


def _pairs(human: Answers, judge: Answers) -> list[JudgedPair]:
    """Where both gave an answer, in the human labels' order."""
    return [
        JudgedPair(
            summary_id=key[0],
            human=label["answer"],
            human_link=label["linked_unit"],
            judge=judge[key]["answer"],
            judge_link=judge[key]["linked_unit"],
            probability=judge[key]["probability"],
        )
        for key, label in human.items()
        if key in judge and label["answer"] is not None and judge[key]["answer"] is not None
    ]


def _answers(
    benchmark: Benchmark,
    judge: str,
    judges: Mapping[str, Judge],
    calling: Calling,
    *,
    labels: Sequence[Mapping[str, Any]],
    summaries: Sequence[Mapping[str, Any]],
) -> Answers:
    definition = judges.get(judge)
    if definition is None:
        return _released_answers(benchmark, judge, labels)
    if not isinstance(definition, MeanJudge):
        return asyncio.run(_ask(benchmark, judge, definition, summaries, calling))
    members = {
        member: _answers(benchmark, member, judges, calling, labels=labels, summaries=summaries)
        for member in definition.of
    }
    return {
        (summary["summary_id"], verdict["target_id"]): verdict
        for summary in summaries
        for verdict in mean_verdicts(
            {member: _of_summary(answers, summary["summary_id"]) for member, answers in members.items()},
            judge=judge,
            cuts=definition.cuts,
        )
    }


def _released_answers(benchmark: Benchmark, judge: str, labels: Sequence[Mapping[str, Any]]) -> Answers:
    found = {(row["summary_id"], row["target_id"]): row for row in labels if row["annotator"] == judge}
    if not found:
        shipped = _annotators(labels)
        raise UsageError(f"{benchmark.folder.url}: no predictions of {judge!r}; it ships those of {shipped}")
    return found


def _of_summary(answers: Answers, summary_id: str) -> list[Mapping[str, Any]]:
    return [row for (summary, _), row in answers.items() if summary == summary_id]


async def _ask(
    benchmark: Benchmark,
    name: str,
    definition: AskedJudge,
    summaries: Sequence[Mapping[str, Any]],
    calling: Calling,
) -> Answers:
    rows = [
        {
            **{key: summary[key] for key in ("summary_id", "query_id", "haystack_id")},
            "work_id": summary["summary_id"],
            "bullets": [bullet.text for bullet in bullets(summary["text"])],
        }
        for summary in summaries
    ]
    if definition.kind == "chat":
        calling.check_prices([definition.chat])
        calling.start()
    context = calling.context(f"judge {name}")
    verdicts = await make_judge(benchmark.folder.url, name, definition, prompts=None, context=context)(rows)
    return {(row["summary_id"], row["target_id"]): row for row in verdicts}


def _agreement(pairs: Sequence[JudgedPair], settings: dict[str, int]) -> dict[str, Any]:
    measures = {
        "pearson": agreement.score_agreement,
        "pearson_of_answers": agreement.answer_agreement,
        "kappa": agreement.answer_kappa,
        "linking_accuracy": agreement.linking_accuracy,
        "linking_recall": agreement.linking_recall,
    }
    return {name: measure(pairs, **settings).as_json() for name, measure in measures.items()}


def _bias(
    pairs: Sequence[JudgedPair], summaries: Mapping[str, Mapping[str, Any]], settings: dict[str, int]
) -> dict[str, Any]:
    samples = agreement.sample_biases(pairs)
    by_summarizer: dict[str, list[agreement.SampleBias]] = {}
    for sample in samples:
        by_summarizer.setdefault(summaries[sample.summary_id]["summarizer"], []).append(sample)
    lengths = [words_per_bullet(summaries[sample.summary_id]["text"].split("\n")) or 0.0 for sample in samples]
    ids = [sample.summary_id for sample in samples]
    return {
        "mean": agreement.mean_bias(pairs, **settings).as_json(),
        "by_summarizer": [
            {"summarizer": name, **_mean_of(group, settings).as_json()} for name, group in sorted(by_summarizer.items())
        ],
        "length_to_score": agreement.correlation(lengths, [s.score for s in samples], ids, **settings).as_json(),
        "length_to_bias": agreement.correlation(lengths, [s.bias for s in samples], ids, **settings).as_json(),
    }


def _mean_of(group: Sequence[agreement.SampleBias], settings: dict[str, int]) -> Estimate:
    return agreement.sample_mean([s.bias for s in group], [s.summary_id for s in group], **settings)


def _cost(judge: str, judges: Mapping[str, Judge]) -> dict[str, Any]:
    definition = judges.get(judge)
    if isinstance(definition, MeanJudge):
        parts = [_cost(member, judges)["usd"] for member in definition.of]
        known = [usd for usd in parts if usd is not None]
        return {"usd": sum(known) if len(known) == len(parts) else None, "why": "what its members cost"}
    if isinstance(definition, OfflineJudge):
        return {"usd": 0.0, "why": "no model service is called"}
    if judge in _RELEASED_COST_USD:
        return {"usd": _RELEASED_COST_USD[judge], "why": "200 summaries, SummHay, table 1"}
    return {"usd": None, "why": "no price is known"}


def named_judges(judge: str, judges: Mapping[str, Judge]) -> Mapping[str, Judge]:
    """
    *judges*, with the one that `mean:A+B` defines where *judge* is such a name.

    Raises:
        UsageError: *judge*, or a judge it means over, is neither released nor one of *judges*; or the mean is none.
    """
    if judge not in judges and judge.startswith(_MEAN):
        members = judge.removeprefix(_MEAN).split("+")
        mean = validated(MeanJudge, {"kind": "mean", "of": members}, (), where=judge)
        judges = {**judges, judge: mean}
    definition = judges.get(judge)
    for name in definition.of if isinstance(definition, MeanJudge) else [judge]:
        if name not in judges and not name.startswith(_RELEASED):
            raise UsageError(f"no judge {name!r}: expected released:NAME, mean:A+B or one of {sorted(judges)}")
        if name != judge and isinstance(judges.get(name), MeanJudge):
            raise UsageError(f"{judge}: expected judges that are asked, found the mean {name!r}")
    return judges


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("calibrate", __doc__)
    parser.add_argument("benchmark", metavar="BENCH")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--judge", help="released:NAME, offline-people, offline-gpt-4o, mean:A+B, or a judge of --config"
    )
    which.add_argument("--support", help="offline, checker, mean:A+B, one of --config, or settings as YAML")
    parser.add_argument("--config", help="a configuration whose judges may be named")
    parser.add_argument("--out", metavar="CARD", help="write the card to this file")
    parser.add_argument("--note", help="what a reader of the card must know besides, in one sentence")
    parser.add_argument("--resamples", type=int, default=2000, help="of each interval")
    parser.add_argument("--seed", type=int, default=1, help="of the intervals")
    add_calling_arguments(parser)
    add_support_arguments(parser)

    def work(arguments: argparse.Namespace) -> Outcome:
        if arguments.support:
            return support_outcome(arguments)
        if arguments.plan:
            raise UsageError("--plan: expected a support judge (--support), found --judge")
        configured = read_experiment(arguments.config).judges if arguments.config else {}
        card = calibrate(
            arguments.benchmark,
            arguments.judge,
            calling=calling_of(arguments, "calibrate", arguments.benchmark),
            judges={**SHIPPED_JUDGES, **configured},
            seed=arguments.seed,
            resamples=arguments.resamples,
        )
        write_card(card, note=arguments.note, out=arguments.out)
        return Outcome(card, f"{arguments.judge} {describe(card)}")

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
