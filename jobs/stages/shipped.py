"""
Shipped: a benchmark's own summaries -> `summaries` of a run, with the `contexts` that they were made from. 1:1.

The documents that a writer saw are those that the benchmark names, in the order of its prompt. If it names none, they
are the documents of the haystack: what a system with the full context saw, and the most that any other can have seen.
These stand in no order that a prompt had, unless the setting is `full` and the order `given`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

from actors.judges.opening import kind_of
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Item, Source, SourceReader
from jobs.stages.released import CopySummaries, Released, released_work_id, shipped_summaries
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.keys import content_key
from longform.records import Document
from longform.rows import ContextRow
from longform.schemas import CONTEXTS, DOCUMENTS, QUERIES
from longform.settings.experiment import Experiment

FULL = "full"
"""The setting of a writer that saw all documents of the haystack."""

VERSION = "shipped@1"


class Shown(NamedTuple):
    """Documents that a shipped summary was made from, or at most can have been."""

    query_id: str
    context_id: str | None  # the benchmark's row that names them; None: all documents of the haystack
    ordered: bool  # they stand in the order of the prompt


def shown_to(summary: Released) -> Shown:
    """Return the documents that a summary is checked against."""
    if summary.context_id is not None:
        return Shown(summary.query_id, summary.context_id, ordered=True)
    return Shown(summary.query_id, None, ordered=(summary.setting, summary.order) == (FULL, "given"))


@dataclass(frozen=True, kw_only=True)
class TakeContexts(Stage[Shown]):
    """Puts the documents that shipped summaries were made from into contexts."""

    step = "summarize"
    name = "shipped contexts"
    reads: ClassVar = {"queries": QUERIES.names, "documents": DOCUMENTS.names}
    table = "contexts"
    unit = "contexts"
    columns = CONTEXTS.names
    per_task = 64

    bench: str  # URL
    writers: Collection[str] | None  # summarizers in the benchmark; None: all
    checked: bool  # summaries are judged against documents, so that those without named documents need a context

    def items(self, plan: Plan) -> list[Item[Shown]]:
        shown = dict.fromkeys(shown_to(one) for one in chosen(plan, self.writers))
        documented = bool(plan.benchmark.manifest["rows"]["documents"])
        return [
            Item(content_key("shipped-context", plan.benchmark.manifest["dataset_hash"], VERSION, *one), one)
            for one in shown
            if documented and (one.context_id is not None or self.checked)
        ]

    def worker(self, _reader: SourceReader) -> Works[Shown]:
        made = _Contexts(self.bench)
        return lambda given: [made.row(one.work_id, one.key) for one in given]


class _Contexts:
    def __init__(self, bench: str) -> None:
        from actors.local_models.tokenizer import TokenCounter

        self._benchmark = Benchmark(bench)
        self._counter = TokenCounter(threads=1)
        self.tokens = lru_cache(maxsize=2)(self._tokens)

    def row(self, work_id: str, shown: Shown) -> ContextRow:
        """Return the row of a context."""
        query = self._benchmark.queries[shown.query_id]
        documents = self._benchmark.documents(query.haystack_id)
        named = self._named.get(shown.context_id) if shown.context_id is not None else None
        kept = _in_order(documents, named["doc_ids"]) if named is not None else documents
        tokens = [self.tokens(query.haystack_id)[document.doc_index] for document in kept]
        return {
            "work_id": work_id,
            "context_id": shown.context_id or work_id,
            "query_id": shown.query_id,
            "haystack_id": query.haystack_id,
            "system": named["system"] if named is not None else FULL,
            "budget_tokens": named["budget_tokens"] if named is not None else None,
            "order": "given" if shown.ordered else None,
            "dataset": query.dataset,
            "doc_ids": [document.doc_id for document in kept],
            "doc_numbers": [document.number for document in kept],
            "doc_tokens": tokens,
            "doc_chars": [len(document.text) for document in kept],
            "n_tokens": sum(tokens),
            "retriever": None, "reranker": None, "n_documents": None, "length_tokens": None, "document_tokens": None,
            "permutation": None, "cut_doc_id": None, "cut_tokens": 0, "cut_share": 0.0, "n_cut": None, "n_left_out": 0,
        }  # fmt: skip

    @cached_property
    def _named(self) -> Mapping[str, ContextRow]:
        rows: list[ContextRow] = self._benchmark.folder.read("contexts").to_pylist()
        return {row["context_id"]: row for row in rows}

    def _tokens(self, haystack_id: str) -> list[int]:
        return self._counter.counts([document.text for document in self._benchmark.documents(haystack_id)])


def _in_order(documents: Sequence[Document], doc_ids: Sequence[str]) -> list[Document]:
    by_id = {document.doc_id: document for document in documents}
    return [by_id[doc_id] for doc_id in doc_ids]


@dataclass(frozen=True, kw_only=True)
class TakeSummaries(CopySummaries):
    """Copies the summaries of some writers, every setting and minute of them."""

    step = "summarize"
    name = "shipped summaries"
    writes_summaries = True
    reads: ClassVar = {"queries": QUERIES.names}

    writers: Collection[str] | None  # summarizers in the benchmark; None: all

    def items(self, plan: Plan) -> list[Item[Released]]:
        contexts = {item.key: (Source("contexts", item.work_id),) for item in plan.of(Shown)}
        return [
            Item(released_work_id(plan.benchmark, one.summary_id), one, contexts.get(shown_to(one), ()))
            for one in chosen(plan, self.writers)
        ]


def chosen(plan: Plan, writers: Collection[str] | None) -> Iterator[Released]:
    """Yield the summaries that a benchmark ships of some *writers*, or of all, on the queries of the plan."""
    queries = frozenset(plan.query_ids)
    for one in shipped_summaries(plan.benchmark):
        if one.query_id in queries and (writers is None or one.summarizer in writers):
            yield one


def stages(experiment: Experiment, site: Site) -> list[TakeContexts | TakeSummaries]:
    """Return the stages that take shipped texts; none if no system is made of them."""
    if not experiment.shipped:
        return []
    names = [settings.writer for settings in experiment.shipped.values()]
    writers = None if None in names else tuple(sorted({name for name in names if name is not None}))
    checked = any(kind_of(judge).of_documents for judge in experiment.judges.values())
    return [
        TakeContexts(run=site.run, bench=site.bench, writers=writers, checked=checked),
        TakeSummaries(run=site.run, bench=site.bench, writers=writers),
    ]
