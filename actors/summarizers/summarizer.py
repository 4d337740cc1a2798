"""The base of every summarizer, the rows it is given and the rows it writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from actors.chat.model import ChatModel
from actors.chat.opening import Asking
from actors.python_class import actor_of
from actors.storage.benchmark import Benchmark
from longform.chat.asking import Asks
from longform.chat.call import ChatReply
from longform.keys import content_key
from longform.records import Document
from longform.rows import ContextRow, SummaryRow
from longform.settings.methods import SHIPPED_METHODS, MethodSettings
from longform.settings.strict import PartSettings
from longform.summaries.methods import FINAL, AskStep, Method

Settings = TypeVar("Settings", bound=PartSettings)

SUMMARY = AskStep(FINAL, "summarize")
"""The step of a summary that is written in one step."""


class AskedContext(ContextRow):
    """A row of `contexts`, whose `work_id` is the summary's, and what is asked for."""

    summarizer: str
    setting: str  # what it is given, in words
    method: str
    n_requested: int | None  # None: the number is withheld
    repeat: int


class Means(NamedTuple):
    """The means of a summarizer."""

    bench_url: str  # the benchmark folder that holds the documents and queries
    name: str  # the summarizer's, for messages
    methods: Mapping[str, MethodSettings] = SHIPPED_METHODS  # by the names that rows give
    threads: int = 1
    asking: Asking | None = None  # the client and its limits; None: it asks no model


def method_of(settings: MethodSettings) -> Method[Any]:
    """Return the method that *settings* name."""
    return actor_of(settings, Method)(settings)


class Summarizer(ABC, Generic[Settings]):
    """Writes summaries of the documents of a benchmark."""

    embeds: ClassVar[bool] = False  # it has an encoder, and nothing else that is dear to load

    def __init__(self, settings: Settings, means: Means) -> None:
        self._settings, self._benchmark = settings, Benchmark(means.bench_url)

    @classmethod
    def check(cls, _settings: Settings, _benchmark: Benchmark, _with_keys: bool, /) -> None:
        """
        Check that it can be used on a benchmark; look for a model's key if *with_keys*.

        Raises:
            UsageError: Its class, its prompt, its model, its key or its texts are missing.
        """

    @classmethod
    def prompts(cls, _settings: Settings, _method: MethodSettings, /) -> list[str]:
        """Return the names of all prompts that it may use under a method."""
        return []

    @classmethod
    @abstractmethod
    def version(cls, settings: Settings, method: MethodSettings, prompts: str | None, /) -> str:
        """Return the version of what makes its summaries: its prompts under *method*, or its code."""

    @classmethod
    def client(cls, _settings: Settings, _benchmark: Benchmark, /) -> ChatModel | None:
        """Return what its calls are carried to; None: to what their settings name."""
        return None

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        """Return a row for each of *rows*, in their order, and before it one for each earlier step of its method."""
        raise NotImplementedError(f"{type(self).__name__} asks a model: carry out its plans")

    def plans(self, rows: Sequence[AskedContext]) -> Iterable[Asks[list[SummaryRow]]]:
        """Return the plans by which its model is asked for *rows*."""
        raise NotImplementedError(f"{type(self).__name__} asks no model")


def summary_row(row: AskedContext, reply: ChatReply, prompt_version: str | None, step: AskStep = SUMMARY) -> SummaryRow:
    """Return what a step wrote for *row*; a summary that failed has its reason."""
    return {
        "work_id": row["work_id"],
        "summary_id": summary_id(row["work_id"], step.name),
        "context_id": row["context_id"],
        "query_id": row["query_id"],
        "haystack_id": row["haystack_id"],
        "summarizer": row["summarizer"],
        "setting": row["setting"],
        "order": row["order"],
        "retriever": row["retriever"],
        "reranker": row["reranker"],
        "budget_tokens": row["budget_tokens"],
        "n_documents": row["n_documents"],
        "length_tokens": row["length_tokens"],
        "document_tokens": row["document_tokens"],
        "permutation": row["permutation"],
        "dataset": row["dataset"],
        "method": row["method"],
        "parents": [summary_id(row["work_id"], parent) for parent in step.parents],
        "step": None if step.name == FINAL else step.name,
        "elapsed_minutes": None,
        "n_requested": row["n_requested"],
        "repeat": row["repeat"],
        "text": reply.text,
        "failure": reply.failure,
        "cause": reply.cause or reply.failure,
        "cited_by": None,
        "cut_share": row["cut_share"],
        "model": reply.model,
        "prompt_version": prompt_version,
        "finish_reason": reply.finish_reason,
        "input_tokens": reply.usage.input_tokens,
        "cached_tokens": reply.usage.cached_tokens,
        "output_tokens": reply.usage.output_tokens,
        "reasoning_tokens": reply.usage.reasoning_tokens,
        "cost_usd": reply.cost_usd,
        "seconds": reply.seconds,
    }


def shown_documents(benchmark: Benchmark, row: ContextRow) -> list[Document]:
    """Return the documents of a context, in the order of its prompt, cut as it says."""
    known = {document.doc_id: document for document in benchmark.documents(row["haystack_id"])}
    kept = zip(row["doc_ids"], row["doc_chars"], strict=True)
    return [known[doc_id]._replace(text=known[doc_id].text[:chars]) for doc_id, chars in kept]


def summary_id(work_id: str, step: str = FINAL) -> str:
    """Return the key of what *step* wrote for the row *work_id*."""
    return content_key(work_id) if step == FINAL else content_key(work_id, step)
