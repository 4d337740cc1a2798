"""
People's labels x texts -> `verdicts` of a support judge, for its calibration. N:M.

The summaries of one article are one task, so that each of its texts is read once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from actors.chat.call_context import CallContext
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calibration.label_texts import LabelledText, labelled_texts, texts_of_mode
from jobs.calling import Calling, open_rows
from jobs.stages.items import Row
from jobs.stages.runner import PlainStage, Task
from longform.judges.kind import Group, Verdict
from longform.judges.kind import Verdicts as Judged
from longform.judges.kinds.support import SUPPORT
from longform.judges.meta_evaluation import EACH_DOCUMENT, Cells, Fidelity, Mode, text_index
from longform.keys import content_key
from longform.metrics.faithfulness import Array
from longform.settings.judges import JudgeSettings


class Wanted(NamedTuple):
    """The cells of one summary in one mode."""

    text: LabelledText
    mode: Mode


class Judging(NamedTuple):
    """A support judge on a benchmark's labels, as small values that reach a worker."""

    bench_url: str
    name: str
    settings: JudgeSettings
    version: str  # changes with all that can change its verdicts beside its settings
    fidelity: Fidelity
    seed: int
    prompts: str | None
    fitted: frozenset[str]  # articles that the judge was fitted on: judged by models that have not seen them


def work_ids(judging: Judging, texts: Sequence[LabelledText], modes: Sequence[Mode]) -> dict[str, Wanted]:
    """Work id -> cells. Orders by importance are only of summaries whose documents have a ranking."""
    how = [judging.settings.identity, judging.version, judging.fidelity, judging.seed]
    dataset = Benchmark(judging.bench_url).manifest["dataset_hash"]
    found = {}
    for text in texts:
        fitted = sorted(judging.fitted) if text.summary.article in judging.fitted else []
        for mode in modes:
            if text.ranking or mode.order is None:
                key = content_key("labels", judging.name, *how, dataset, text.summary.summary_id, mode.name, fitted)
                found[key] = Wanted(text, mode)
    return found


def cells_stage(run: Folder, judging: Judging, *, calling: Calling, threads: int) -> PlainStage:
    chat = judging.settings.asked_model
    context = calling.context(f"calibrate {judging.name}")
    settings = judging.settings.model_dump(mode="json")
    depends = judging._asdict() | {"settings": settings, "fitted": sorted(judging.fitted)}
    return PlainStage(
        name=f"judge {judging.name}",
        table="verdicts",
        identity=content_key(run.url, depends, threads),
        make_worker=partial(CellsWorker, judging, context, threads),
        holds_model=True,
        asynchronous=chat is not None,
        slots=open_rows(chat) if chat else 1,
    )


def cells_tasks(run: Folder, judging: Judging, wanted: Mapping[str, Wanted]) -> list[Task]:
    """A task an article; the articles the judge was fitted on are one task, as their models share examples."""
    done = run.locate("verdicts")
    by_article: dict[str, list[Row]] = {}
    for work_id, (text, mode) in wanted.items():
        if work_id not in done:
            article = text.summary.article
            named = {"work_id": work_id, "summary_id": text.summary.summary_id, "article": article}
            item: Row = {**named, "mode": mode._asdict()}
            by_article.setdefault("" if article in judging.fitted else article, []).append(item)
    return [
        Task(work_ids=tuple(item["work_id"] for item in items), payload={"items": items})
        for items in by_article.values()
    ]


class LabelReader:
    """Reads what the items of a task mean: the texts of a mode, with the sentences that are checked against them."""

    def __init__(self, judging: Judging, threads: int) -> None:
        from actors.local_models.tokenizer import TokenCounter

        self._judging = judging
        self.benchmark = Benchmark(judging.bench_url)
        self.texts = {text.summary.summary_id: text for text in labelled_texts(self.benchmark)}
        self._prefix_chars = TokenCounter(threads=threads).prefix_chars

    def groups(self, item: Row) -> list[Group]:
        """Return the groups of questions about one summary in one mode."""
        text = self.texts[item["summary_id"]]
        texts = texts_of_mode(
            self.benchmark.documents(text.haystack_id),
            Mode(**item["mode"]),
            ranking=text.ranking,
            fidelity=self._judging.fidelity,
            seed=self._judging.seed,
            prefix_chars=self._prefix_chars,
        )
        return [Group(content_key(said), (said,), text.sentences) for said in texts]


class CellsWorker:
    """Task payload -> verdict rows; what it loads, it loads once."""

    def __init__(self, judging: Judging, context: CallContext, threads: int) -> None:
        from actors.judges.opening import make_judge

        self._judging, self._threads = judging, threads
        self._reader = LabelReader(judging, threads)
        judge = make_judge(judging.name, {judging.name: judging.settings}, prompts=judging.prompts)
        self._ask = judge.open(context, threads).ask
        self._left_out: Any = None

    async def __call__(self, payload: Mapping[str, Any]) -> list[Row]:
        by_article: dict[str, list[Row]] = {}
        for item in payload["items"]:
            by_article.setdefault(item["article"], []).append(item)
        return [row for article, items in by_article.items() for row in await self._judged(article, items)]

    async def _judged(self, article: str, items: Sequence[Row]) -> list[Row]:
        found = [(item, place, group) for item in items for place, group in enumerate(self._reader.groups(item))]
        verdicts = await self._asker(article)([group for _, _, group in found])
        return [
            row
            for (item, place, group), cells in zip(found, verdicts, strict=True)
            for row in _rows(self._judging.name, item, place, group, cells)
        ]

    def _asker(self, article: str) -> Callable[[Sequence[Group]], Awaitable[Judged]]:
        if article not in self._judging.fitted:
            return self._ask
        if self._left_out is None:
            texts = self._reader.texts.values()
            fitted = [text for text in texts if text.summary.article in self._judging.fitted]
            self._left_out = _left_out_judge(self._reader.benchmark, fitted, self._threads)

        async def ask(groups: Sequence[Group]) -> Judged:
            judged: Judged = self._left_out.judge_without(article, groups)
            return judged

        return ask


def _left_out_judge(benchmark: Benchmark, fitted: Sequence[LabelledText], threads: int) -> Any:
    from actors.judges.article_left_out import ArticleLeftOutJudge, Embed
    from longform.training.support_judge import LabelledSentence, labelled_sentences

    def examples(embed: Embed) -> list[LabelledSentence]:
        return [
            sentence
            for text in fitted
            for sentence in labelled_sentences(
                text.summary.article,
                [document.text for document in benchmark.documents(text.haystack_id)],
                text.sentences,
                [int(label) for label in text.summary.labels],
                embed,
            )
        ]

    return ArticleLeftOutJudge(examples, threads=threads)


def _rows(name: str, item: Row, place: int, group: Group, verdicts: Sequence[Verdict]) -> list[Row]:
    mode = Mode(**item["mode"])
    kind = "document" if mode == EACH_DOCUMENT else "context" if mode.chunk_tokens is None else "chunk"
    return [
        {
            "work_id": item["work_id"],
            "judge": name,
            "summary_id": item["summary_id"],
            "unit_index": index,
            "target_kind": kind,
            "target_id": group.key,
            "mode": mode.name,
            "doc_position": None,  # there is no prompt
            "text_index": place,
            "repeat": 0,
            **_told(verdict),
        }
        for index, verdict in enumerate(verdicts)
    ]


def _told(verdict: Verdict) -> Row:
    return {name: value for name, value in verdict._asdict().items() if name != "link_failure"}


Verdicts = Mapping[tuple[str, str], Sequence[Row]]
"""(mode, summary id) -> rows of `verdicts`."""


def read_verdicts(run: Folder, wanted: Mapping[str, Wanted]) -> Verdicts:
    """The rows of all that is wanted; they are there."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in run.read("verdicts", work_ids=wanted).to_pylist():
        text, mode = wanted[row["work_id"]]
        found.setdefault((mode.name, text.summary.summary_id), []).append(row)
    return found


def cells_of(verdicts: Verdicts) -> tuple[Cells, dict[str, int]]:
    """The cells, and how many were not judged, by reason."""
    missing = (row["failure"] for rows in verdicts.values() for row in rows if row["answer"] is None)
    return {key: _matrix(rows) for key, rows in verdicts.items()}, dict(Counter(missing))


def _matrix(rows: Sequence[Row]) -> Array:
    at = [(text_index(row), row["unit_index"]) for row in rows]
    matrix = np.full((max(p for p, _ in at) + 1, max(s for _, s in at) + 1), np.nan)
    for cell, row in zip(at, rows, strict=True):
        value = SUPPORT.number(row["answer"], row["probability"])
        matrix[cell] = np.nan if value is None else value
    return matrix
