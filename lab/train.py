"""Re-make the offline models that ship, and measure their reach."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from actors.local_models.encoder import Encoder
from actors.local_models.tokenizer import TokenCounter
from actors.local_models.weights import MINILM
from actors.storage.benchmark import Benchmark
from jobs.command.run import Outcome, run_verb
from jobs.parsers.train import parser
from lab.checker import main as train_checker_main
from lab.fits import reach_table
from lab.fits.haystacks import GoldHaystack, fit_support
from lab.fits.judge import (
    PEOPLE_VECTORS,
    TEXTS_HELD,
    Damage,
    Topics,
    bullets_outside,
    fit_judge,
    fit_shipped_judges,
    judge_reach,
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
from lab.fits.support_judge import main as train_support_judge_main
from longform.errors import UsageError
from longform.judges.card_columns import Reach
from longform.judges.coverage_model import Calibration, JudgeModel
from longform.judges.offline_coverage import SHIPPED
from longform.records import Query, gold_documents
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

    # ------------------------------------------------------------ what is read

    @cached_property
    def haystacks(self) -> list[GoldHaystack]:
        """Return the haystacks with a gold map."""
        gold = gold_documents(self._bench.qrels)
        encoder = Encoder(MINILM, threads=_THREADS)
        found = [
            GoldHaystack(
                haystack_id,
                self._bench.documents(haystack_id),
                [(q, self._bench.targets[q.query_id]) for q in self._queries(haystack_id)],
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

    def _queries(self, haystack_id: str) -> list[Query]:
        return [query for query in self._bench.queries.values() if query.haystack_id == haystack_id]

    @cached_property
    def people(self) -> LabelledSet:
        return _labels(self._human, HUMAN)

    @cached_property
    def gpt4o(self) -> LabelledSet:
        return _labels(self._bench, GPT_4O)

    @cached_property
    def kept_out(self) -> LabelledSet | None:
        """Return people's labels of another topic."""
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

    # ------------------------------------------------------------ support

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

    def support_reach(self) -> list[Reach]:
        return document_reach(self.haystacks)

    # ------------------------------------------------------------ ranker

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
        return [
            *summary_reach(systems, self._summary_judges()),
            *retrieval_reach(systems, tokens),
        ]

    def _summary_judges(self) -> list[SummaryJudge]:
        """Return the judges by words, each fitted without the haystack or query that it marks."""
        as_gpt4o, as_people = _fits_without(self.gpt4o, "gpt-4o"), _fits_without(self.people, "people")
        return [
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

    # ------------------------------------------------------------ judge

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
        rows = judge_reach(self.people, self.gpt4o, kept_out=self.kept_out, query_texts=texts)
        if self.topics is None:
            return rows
        foreign = bullets_outside(self.gpt4o, {summary.haystack_id for summary in self.people.summaries})
        return [*rows, *self.topics.reach(Damage(foreign, texts))]

    @property
    def _insights(self) -> list[str]:
        """Keys of the insights whose documents the models were fitted on."""
        return insight_keys(target.text for targets in self._bench.targets.values() for target in targets)

    @property
    def _fitted_on(self) -> str:
        sources = [source["name"] for source in self._bench.manifest.get("sources", [])]
        return f"gold maps of {', '.join(sources) or self._bench.folder.url}"


def _fits_without(labels: LabelledSet, calibration: Calibration) -> Callable[[str], JudgeModel]:
    """Return what makes the judge by words, once for each haystack or query that is left out."""
    fit = partial(fit_judge, judge_examples(labels), calibration=calibration, fitted_on=labels.name)
    return cache(lambda left_out: fit(left_out=[left_out]))


def _labelled_insights(benchmark: Benchmark, annotator: str) -> list[str]:
    rows = benchmark.folder.read("labels", columns=["annotator", "target_id"]).to_pylist()
    labelled = {row["target_id"] for row in rows if row["annotator"] == annotator}
    return insight_keys(benchmark.target(target_id).text for target_id in labelled)


def _topic_name(benchmark: Benchmark, labels: LabelledSet) -> str:
    """Name a topic by its kind of text and its size."""
    kinds = sorted({benchmark.queries[summary.query_id].domain or "unknown text" for summary in labels.summaries})
    return f"labels of {len(labels.summaries):,} summaries of {' and '.join(kinds)} by people"


def _labels(benchmark: Benchmark, annotator: str) -> LabelledSet:
    labels = [row for row in benchmark.folder.read("labels").to_pylist() if row["annotator"] == annotator]
    if not labels:
        raise UsageError(f"{benchmark.folder.url}: expected labels of {annotator!r}, found none")
    n_summaries = len({row["summary_id"] for row in labels})
    return labelled_set(
        f"labels of {n_summaries:,} summaries by {'people' if annotator == HUMAN else 'GPT-4o'}",
        annotator=annotator,
        targets=benchmark.targets,
        summary_rows=benchmark.folder.read("summaries").to_pylist(),
        label_rows=labels,
    )


MODELS: dict[str, tuple[Callable[[Training], Files], Callable[[Training], list[Reach]]]] = {
    "support": (Training.support_models, Training.support_reach),
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
        files |= fitted(training) | {f"reach_{name}.json": {"rows": [row._asdict() for row in rows]}}
        reached += rows
    out.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (out / file).write_text(json.dumps(content, indent=_indent(file)) + "\n", encoding="utf-8")
    return reached


def _indent(file: str) -> int | None:
    return None if file == "ranker.json" or file.startswith("seen_") else 1  # thousands of numbers: one line


def main(argv: Sequence[str] | None = None) -> int:
    told = sys.argv[1:] if argv is None else list(argv)
    if told[:1] == ["checker"]:
        return train_checker_main(told[1:])
    if told[:1] == ["support-judge"]:
        return train_support_judge_main(told[1:])
    return run_verb(parser(), _work, told)


def _work(arguments: argparse.Namespace) -> Outcome:
    names = list(MODELS) if arguments.name == "all" else [arguments.name]
    rows = train(names, arguments.benchmark, arguments.human, arguments.out, kept_out_url=arguments.kept_out)
    return Outcome({"reach": [row._asdict() for row in rows]}, reach_table(rows))


if __name__ == "__main__":
    raise SystemExit(main())
