"""Summaries by a system of one's own: a server that is asked through the ledger, or a class, through it or not."""

from __future__ import annotations

import inspect
from asyncio import gather
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from pydantic import JsonValue

from actors.chat.opening import check_endpoint
from actors.chat.own_system_client import ClassChat
from actors.python_class import check_class, class_version, open_class, returned, user_code, wrong
from actors.storage.benchmark import Benchmark
from actors.summarizers.summarizer import SUMMARY, AskedContext, Means, Summarizer, shown_documents, summary_row
from longform import protocols
from longform.chat.asking import Asks
from longform.chat.call import ChatReply, ChatRequest, Usage, failed
from longform.chat.own_systems import PROTOCOL, body_of, documents_of, summary_request
from longform.protocols import Written
from longform.records import Document
from longform.rows import SummaryRow
from longform.settings.chat import HttpSummarizerSettings, OwnSummarizerSettings, PythonSummarizerSettings
from longform.settings.methods import MethodSettings
from longform.summaries.methods import FINAL, step_replies
from longform.text.visible import is_blank

Own = TypeVar("Own", bound=OwnSummarizerSettings)


class OwnSummarizer(Summarizer[Own]):
    """
    Asks for one summary a row, all rows of a call at once within the limits.

    A row that cannot be summarised stays a row, with the reason in `failure`.
    """

    model: str  # the writer's name, in requests
    prompt_version: str  # version of the class, or of the protocol, in rows

    def plans(self, rows: Sequence[AskedContext]) -> Iterable[Asks[list[SummaryRow]]]:
        return map(self._plan, rows)

    def _plan(self, row: AskedContext) -> Asks[list[SummaryRow]]:
        replies = yield from step_replies((SUMMARY,), lambda *_: self._request(row), lambda _, reply: reply)
        return [summary_row(row, replies[FINAL], self.prompt_version)]

    def _request(self, row: AskedContext) -> ChatRequest | str:
        if not (documents := shown_documents(self._benchmark, row)):
            return "no_documents"
        query, n = self._benchmark.queries[row["query_id"]], row["n_requested"]
        assert n is not None, "settings of such a summarizer withhold nothing"
        about: dict[str, JsonValue] = {"model": self.model, "options": self._settings.options}
        return summary_request(about, query, documents, n, repeat=row["repeat"])


class HttpSummarizer(OwnSummarizer[HttpSummarizerSettings]):
    """Asks a server."""

    def __init__(self, settings: HttpSummarizerSettings, means: Means) -> None:
        super().__init__(settings, means)
        self.model, self.prompt_version = settings.model, f"http@{PROTOCOL}"

    @classmethod
    def check(cls, settings: HttpSummarizerSettings, _benchmark: Benchmark, with_keys: bool, /) -> None:
        check_endpoint(settings.asked_model, with_key=with_keys)

    @classmethod
    def version(cls, _settings: HttpSummarizerSettings, _method: MethodSettings, _prompts: str | None, /) -> str:
        return f"http@{PROTOCOL}"


class PythonSummarizer(OwnSummarizer[PythonSummarizerSettings]):
    """
    Asks a class, whose calls are its own if none go through the ledger.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """

    def __init__(self, settings: PythonSummarizerSettings, means: Means) -> None:
        super().__init__(settings, means)
        self.prompt_version = self.model = f"{settings.class_}@{class_version(settings)}"

    @classmethod
    def check(cls, settings: PythonSummarizerSettings, _benchmark: Benchmark, _with_keys: bool, /) -> None:
        check_class(settings, protocols.Summarizer)

    @classmethod
    def version(cls, settings: PythonSummarizerSettings, _method: MethodSettings, _prompts: str | None, /) -> str:
        return class_version(settings)

    @classmethod
    def client(cls, settings: PythonSummarizerSettings, benchmark: Benchmark) -> ClassChat | None:
        """Return what asks the class about the queries of *benchmark*; raise as the class does."""
        if settings.asked_model is None:
            return None
        summarizer = open_class(settings, protocols.Summarizer)

        def given(request: ChatRequest) -> tuple[object, ...]:
            body = body_of(request)
            query = benchmark.queries[_query_id(body)]
            return query, documents_of(body, query.haystack_id), body["n_requested"]

        def read(request: ChatRequest, found: object) -> ChatReply:
            return written_reply(settings, found, _query_id(body_of(request)))

        return ClassChat(settings.asked_model, settings, summarizer.summarize, given=given, read=read)

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        """Return the summaries of all rows; those of a coroutine function are written at the same time."""
        return list(await gather(*(self._summary(row) for row in rows)))

    @cached_property
    def _summarizer(self) -> protocols.Summarizer:
        return open_class(self._settings, protocols.Summarizer)

    async def _summary(self, row: AskedContext) -> SummaryRow:
        documents = shown_documents(self._benchmark, row)
        reply = await self._reply(row, documents) if documents else failed("no_documents")
        return summary_row(row, reply, self.prompt_version)

    async def _reply(self, row: AskedContext, documents: Sequence[Document]) -> ChatReply:
        query = self._benchmark.queries[row["query_id"]]
        n = row["n_requested"]
        assert n is not None, "settings of such a summarizer withhold nothing"
        with user_code(self._settings, "summarize"):
            found = self._summarizer.summarize(query, documents, n)
            if inspect.isawaitable(found):
                found = await found
        return written_reply(self._settings, found, query.query_id)


def written_reply(settings: PythonSummarizerSettings, found: object, query_id: str) -> ChatReply:
    """
    Return what a class wrote for a query as a reply.

    Raises:
        UserCodeError: It is neither a text nor `Written`, has both text and failure, or a number that no table holds.
    """
    expected = f"a text, or longform.protocols.Written with one, for query {query_id!r}"
    said = Written(found) if isinstance(found, str) else found
    written = returned(settings, "summarize", said, Written, expected=expected)
    text = None if written.text is None or is_blank(written.text) else written.text
    if text is not None and written.failure is not None:
        expected = f"a text, or a failure that says why there is none, for query {query_id!r}"
        raise wrong(settings, "summarize", expected, written)
    return ChatReply(
        text=text,
        failure=(written.failure or "no_text") if text is None else None,
        model=written.model,
        usage=Usage(input_tokens=written.input_tokens, output_tokens=written.output_tokens),
        cost_usd=written.cost_usd,
    )


def _query_id(body: dict[str, JsonValue]) -> str:
    query = body["query"]
    assert isinstance(query, dict), "we have written it"
    return str(query["id"])
