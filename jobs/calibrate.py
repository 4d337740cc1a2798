"""
A judge against human labels: its agreement, its bias, and the card that states both.

    longform calibrate HUMAN --judge released:gpt-4o --json
    longform calibrate HUMAN --judge offline --out card.json
    longform calibrate HUMAN --judge NAME --config CONFIG

Reads   summaries, targets and labels of a benchmark that has labels of annotator `human`
Writes  the card, where `--out` names a file
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from actors.benchmark import Benchmark
from actors.judges import make_judge
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.configs import read_experiment
from longform.citations import bullets, words_per_bullet
from longform.configuration import Judge, OfflineJudge
from longform.errors import UsageError
from longform.judge_cards import describe
from longform.keys import content_key
from longform.metrics import agreement
from longform.metrics.agreement import JudgedPair
from longform.statistics import Estimate

HUMAN = "human"
_RELEASED = "released:"
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
    bench_url: str, judge: str, *, definition: Judge | None, seed: int = 1, resamples: int = 2000
) -> dict[str, Any]:
    """
    The card of *judge*.

    Args:
        bench_url: A benchmark with human labels.
        judge: `released:NAME` reads the predictions that the benchmark ships; any other name is the judge's own.
        definition: How to make the judge; None for a released one.
        seed: Of the intervals.
        resamples: Of each interval.
    """
    benchmark = Benchmark(bench_url)
    summaries = {row["summary_id"]: row for row in benchmark.folder.read("summaries").to_pylist()}
    labels = benchmark.folder.read("labels").to_pylist()
    human = {(row["summary_id"], row["target_id"]): row for row in labels if row["annotator"] == HUMAN}
    if not human:
        raise UsageError(f"{bench_url}: expected labels of annotator {HUMAN!r}, found {_annotators(labels)}")
    given: Answers
    if definition is None:
        given = {(row["summary_id"], row["target_id"]): row for row in labels if row["annotator"] == judge}
        if not given:
            raise UsageError(f"{bench_url}: no predictions of {judge!r}; it ships those of {_annotators(labels)}")
    else:
        given = asyncio.run(_ask(benchmark, judge, definition, [summaries[sid] for sid, _ in dict.fromkeys(human)]))
    pairs = _pairs(human, given)
    settings = {"seed": seed, "resamples": resamples}
    return {
        "judge": judge,
        "n": len(pairs),
        "n_unjudged": len(human) - len(pairs),
        **_agreement(pairs, settings),
        "bias": _bias(pairs, summaries, settings),
        "cost": _cost(judge, definition),
        "labels": {
            "hash": content_key([[*key, row["answer"], row["linked_unit"]] for key, row in sorted(human.items())]),
            "n_summaries": len({summary_id for summary_id, _ in human}),
            "n_topics": len({summaries[summary_id]["haystack_id"] for summary_id, _ in human}),
        },
        "prompt_version": next((row["prompt_version"] for row in given.values()), None),
    }


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


async def _ask(benchmark: Benchmark, name: str, definition: Judge, summaries: Sequence[Mapping[str, Any]]) -> Answers:
    rows = [
        {
            "work_id": summary["summary_id"],
            "summary_id": summary["summary_id"],
            "query_id": summary["query_id"],
            "haystack_id": summary["haystack_id"],
            "bullets": [bullet.text for bullet in bullets(summary["text"])],
        }
        for summary in {summary["summary_id"]: summary for summary in summaries}.values()
    ]
    verdicts = await make_judge(benchmark.folder.url, name, definition, prompts=None)(rows)
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


def _cost(judge: str, definition: Judge | None) -> dict[str, Any]:
    if isinstance(definition, OfflineJudge):
        return {"usd": 0.0, "why": "no model service is called"}
    if judge in _RELEASED_COST_USD:
        return {"usd": _RELEASED_COST_USD[judge], "why": "200 summaries, SummHay, table 1"}
    return {"usd": None, "why": "no price is known"}


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("calibrate", __doc__)
    parser.add_argument("benchmark", metavar="BENCH")
    parser.add_argument("--judge", required=True, help="released:NAME, offline, or a judge of --config")
    parser.add_argument("--config", help="a configuration whose judges may be named")
    parser.add_argument("--out", metavar="CARD", help="write the card to this file")
    parser.add_argument("--note", help="what a reader of the card must know besides, in one sentence")
    parser.add_argument("--resamples", type=int, default=2000, help="of each interval")
    parser.add_argument("--seed", type=int, default=1, help="of the intervals")

    def work(arguments: argparse.Namespace) -> Outcome:
        definition = _definition(arguments.judge, arguments.config)
        card = calibrate(
            arguments.benchmark,
            arguments.judge,
            definition=definition,
            seed=arguments.seed,
            resamples=arguments.resamples,
        )
        card["note"] = arguments.note
        if arguments.out:
            Path(arguments.out).write_bytes(card_bytes(card))
        return Outcome(card, f"{arguments.judge} {describe(card)}")

    return run_verb(parser, work, argv)


def _definition(judge: str, config: str | None) -> Judge | None:
    if judge.startswith(_RELEASED):
        return None
    judges: Mapping[str, Judge] = (
        read_experiment(config).judges if config else {"offline": OfflineJudge(kind="offline")}
    )
    if judge not in judges:
        raise UsageError(f"no judge {judge!r}: expected released:NAME or one of {sorted(judges)}")
    return judges[judge]


def card_bytes(card: Mapping[str, Any]) -> bytes:
    """A card as a file."""
    return (json.dumps(card, indent=1, allow_nan=False) + "\n").encode()


if __name__ == "__main__":
    raise SystemExit(main())
