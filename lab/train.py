"""Re-make the offline models that ship, and measure their reach."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.local_models.tokenizer import TokenCounter
from actors.storage.benchmark import Benchmark
from jobs.command.run import Outcome, run_verb
from jobs.train import parser
from lab import parsers
from lab.fits import reach_table, write_json
from lab.fits.haystacks import GoldHaystack, fit_support
from lab.fits.judge import (
    PEOPLE_VECTORS,
    TEXTS_HELD,
    Damage,
    Topics,
    bullets_outside,
    fit_shipped_judges,
    judge_reach,
    models_without,
)
from lab.fits.judge_examples import LabelledSet, judge_examples, labelled_set
from lab.fits.ranker import fit_ranker, ranked_queries
from lab.fits.reach import (
    KINDS,
    SummaryJudge,
    document_reach,
    held_out,
    judge_by_words,
    retrieval_reach,
    summary_reach,
)
from lab.fits.support_judge import fitted, labelled_claims
from longform.errors import UsageError
from longform.judges.card_columns import Reach
from longform.judges.offline_coverage import SHIPPED
from longform.records import gold_documents
from longform.results.in_sample import FILES, insight_keys
from longform.summaries.extractive import VERSION as RANKER_VERSION
from longform.support.model import VERSION as SUPPORT_VERSION
from longform.text.vectors import RecentTexts

HUMAN, GPT_4O = "human", "released:gpt-4o"
_THREADS = 2

Files = dict[str, dict[str, Any]]


class Training:
    """
    A training on one benchmark with gold maps and one with people's labels, each read on first use.

    Raises:
        UsageError: A benchmark lacks a table that the training needs.
    """

    def __init__(self, bench_url: str, human_url: str | None, kept_out_url: str | None = None) -> None:
        self._bench = Benchmark(bench_url)
        self._human_url = human_url
        self._kept_out = None if kept_out_url is None else Benchmark(kept_out_url)

    @cached_property
    def haystacks(self) -> list[GoldHaystack]:
        gold = gold_documents(self._bench.qrels)
        encoder = Encoder(MINILM, threads=_THREADS)
        found = [
            GoldHaystack(
                haystack_id,
                self._bench.documents(haystack_id),
                [
                    (query, self._bench.targets[query.query_id])
                    for query in self._bench.queries.values()
                    if query.haystack_id == haystack_id
                ],
                gold,
                encoder.embed,
            )
            for haystack_id in self._bench.haystack_ids
        ]
        if len(found) < 2 or not gold:
            raise UsageError(
                f"{self._bench.folder.url}: expected two or more haystacks with gold documents, found {len(found)}; "
                "each is measured with models fitted on the others"
            )
        return found

    @cached_property
    def people(self) -> LabelledSet:
        return _labels(self._human, HUMAN)

    @cached_property
    def gpt4o(self) -> LabelledSet:
        return _labels(self._bench, GPT_4O)

    @cached_property
    def kept_out(self) -> LabelledSet | None:
        return None if self._kept_out is None else _labels(self._kept_out, HUMAN)

    @cached_property
    def topics(self) -> Topics | None:
        """Return people's labels of both topics, for the judge by vectors; None if there is one topic."""
        if self._kept_out is None or self.kept_out is None:
            return None
        encoder = RecentTexts(Encoder(MINILM, threads=_THREADS), held=TEXTS_HELD)
        both = ((self._human, self.people), (self._kept_out, self.kept_out))
        return Topics(*(labels._replace(name=_topic_name(where, labels), encoder=encoder) for where, labels in both))

    @cached_property
    def _human(self) -> Benchmark:
        if self._human_url is None:
            raise UsageError("the judge is fitted on people's labels: name their benchmark with --human")
        return Benchmark(self._human_url)

    def support_models(self) -> Files:
        claims = [haystack.claims for haystack in self.haystacks]
        return {
            f"support_{kind}.json": {
                "model": fit_support(claims, kind, left_out=()).as_json(),
                "version": SUPPORT_VERSION,
                "fitted_on": self._fitted_on,
            }
            for kind in KINDS
        } | {f"{FILES['support']}.json": {"support": self._insights}}

    def ranker_models(self) -> Files:
        support = fit_support([haystack.claims for haystack in self.haystacks], "vectors", left_out=())
        model = fit_ranker(ranked_queries(self.haystacks, support), left_out=())
        return {
            "ranker.json": {"model": model.as_json(), "version": RANKER_VERSION, "fitted_on": self._fitted_on},
            f"{FILES['ranker']}.json": {"ranker": self._insights},
        }

    def ranker_reach(self) -> list[Reach]:
        systems = held_out(self.haystacks)
        counter = TokenCounter(threads=_THREADS)
        tokens = {h.haystack_id: counter.counts([d.text for d in h.documents]) for h in self.haystacks}
        as_gpt4o = models_without(judge_examples(self.gpt4o), self.gpt4o.name, calibration="gpt-4o")
        as_people = models_without(judge_examples(self.people), self.people.name)
        judges = [
            SummaryJudge(
                "as GPT-4o",
                f"{self.gpt4o.name}, without the haystack",
                lambda haystack, query: judge_by_words(haystack, query, as_gpt4o(haystack.haystack_id)),
            ),
            SummaryJudge(
                "as people",
                f"{self.people.name}, without the query",
                lambda haystack, query: judge_by_words(haystack, query, as_people(query.query_id)),
            ),
        ]
        return [*summary_reach(systems, judges), *retrieval_reach(systems, tokens)]

    def judge_models(self) -> Files:
        models = {name: model.as_json() for name, model in fit_shipped_judges(self.people, self.gpt4o).items()}
        seen = {"people": _labelled_insights(self._human, HUMAN), "gpt-4o": _labelled_insights(self._bench, GPT_4O)}
        if self.topics is not None:
            assert self._kept_out is not None
            models[f"{SHIPPED[PEOPLE_VECTORS]}.json"] = self.topics.fit().as_json()
            seen[PEOPLE_VECTORS] = sorted({*seen["people"], *_labelled_insights(self._kept_out, HUMAN)})
        return models | {f"{FILES['people']}.json": seen}

    def judge_reach(self) -> list[Reach]:
        labelled = [self._human] if self._kept_out is None else [self._human, self._kept_out]
        texts = {query.query_id: query.text for benchmark in labelled for query in benchmark.queries.values()}
        foreign = bullets_outside(self.gpt4o, {summary.haystack_id for summary in self.people.summaries})
        damage = Damage(foreign, texts)
        rows = judge_reach(self.people, self.gpt4o, kept_out=self.kept_out, damage=damage)
        return rows if self.topics is None else [*rows, *self.topics.reach(damage)]

    @property
    def _insights(self) -> list[str]:
        """Keys of the insights whose documents the models were fitted on."""
        return insight_keys(target.text for targets in self._bench.targets.values() for target in targets)

    @property
    def _fitted_on(self) -> str:
        sources = [source["name"] for source in self._bench.manifest.get("sources", [])]
        return f"gold maps of {', '.join(sources) or self._bench.folder.url}"


def _labelled_insights(benchmark: Benchmark, annotator: str) -> list[str]:
    rows = benchmark.folder.read("labels", columns=["annotator", "target_id"]).to_pylist()
    labelled = {row["target_id"] for row in rows if row["annotator"] == annotator}
    return insight_keys(benchmark.target(target_id).text for target_id in labelled)


def _topic_name(benchmark: Benchmark, labels: LabelledSet) -> str:
    """Name a topic by its kind of text and its size."""
    kinds = sorted({benchmark.queries[summary.query_id].domain or "unknown text" for summary in labels.summaries})
    return f"labels of {len(labels.summaries):,} summaries of {' and '.join(kinds)} by people"


def _labels(benchmark: Benchmark, annotator: str) -> LabelledSet:
    labels = labelled_set("", benchmark, annotator)
    if not labels.summaries:
        raise UsageError(f"{benchmark.folder.url}: expected labels of {annotator!r}, found none")
    by = "people" if annotator == HUMAN else "GPT-4o"
    return labels._replace(name=f"labels of {len(labels.summaries):,} summaries by {by}")


MODELS: dict[str, tuple[Callable[[Training], Files], Callable[[Training], list[Reach]]]] = {
    "support": (Training.support_models, lambda training: document_reach(training.haystacks)),
    "ranker": (Training.ranker_models, Training.ranker_reach),
    "judge": (Training.judge_models, Training.judge_reach),
}
"""Name -> what it writes, and what it reaches."""


def train(
    names: Sequence[str], bench_url: str, human_url: str | None, out: Path, *, kept_out_url: str | None = None
) -> list[Reach]:
    """Measure and fit each of *names*; files appear in *out* when all of it is done."""
    training = Training(bench_url, human_url, kept_out_url)
    reached: list[Reach] = []
    files: Files = {}
    for name in names:
        fitted, measured = MODELS[name]
        rows = measured(training)
        files |= fitted(training) | {f"reach_{name}.json": {"rows": rows}}
        reached += rows
    for file, content in files.items():
        one_line = file == "ranker.json" or file.startswith("seen_")  # thousands of numbers
        write_json(out / file, content, indent=None if one_line else 1)
    return reached


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == ["checker"]:
        return run_verb(parsers.checker(), _checker, words[1:])
    if words[:1] == ["support-judge"]:
        return run_verb(parsers.support_judge(), _support_judge, words[1:])
    return run_verb(parser(), _models, words)


def _models(told: argparse.Namespace) -> Outcome:
    names = list(MODELS) if told.name == "all" else [told.name]
    return _reached(train(names, told.benchmark, told.human, told.out, kept_out_url=told.kept_out))


def _checker(told: argparse.Namespace) -> Outcome:
    from lab.checker import train_checker  # it brings torch, which takes two seconds

    return _reached(train_checker(told.benchmarks, told.people, told.out, n_pairs=told.pairs, threads=told.threads))


def _reached(rows: Sequence[Reach]) -> Outcome:
    return Outcome({"reach": [*rows]}, reach_table(rows))


def _support_judge(told: argparse.Namespace) -> Outcome:
    content = fitted(labelled_claims(told.folder, threads=told.threads))
    write_json(told.out / "support_judge.json", content)
    lines = [f"{name}: {json.dumps(row)}" for name, row in content["reach"]["domains"].items()]
    return Outcome({"reach": content["reach"]}, "\n".join(lines))


if __name__ == "__main__":
    raise SystemExit(main())
