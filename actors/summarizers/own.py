"""Summaries by a system of one's own that is asked through the ledger: a server, or a class with `calls`."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Awaitable, Mapping, Sequence
from functools import cached_property

from pydantic import JsonValue

from actors.chat.live import carry_out
from actors.chat.model import ChatModel
from actors.chat.own_system_client import ClassChat
from actors.python_class import class_version, open_class
from actors.storage.benchmark import Benchmark
from actors.summarizers.python import checked, written_reply
from actors.summarizers.summarizer import AskedContext, Summarizer, shown_documents, summary_row
from longform import protocols
from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest, failed
from longform.chat.own_systems import PROTOCOL, body_of, documents_of, summary_request
from longform.rows import SummaryRow
from longform.settings.chat import ChatSettings, HttpSummarizerSettings, OwnSummarizerSettings, PythonSummarizerSettings


class OwnSummarizer(Summarizer):
    """
    Asks for one summary a row, all rows of a call at once within the limits.

    A row that cannot be summarised stays a row, with the reason in `failure`.

    Args:
        bench_url: The benchmark folder that holds the documents and queries.
        settings: Of the system.
        chat: Carries the calls.
    """

    def __init__(self, bench_url: str, settings: OwnSummarizerSettings, chat: ChatModel) -> None:
        self._benchmark, self._settings, self._chat = Benchmark(bench_url), settings, chat

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        """Return the summary of each row."""
        return list(await gather(*(carry_out(self.plan(row), self._send) for row in rows)))

    def plan(self, row: AskedContext) -> Asks[SummaryRow]:
        """Return the plan that asks about a row."""
        replies: dict[Name, ChatReply] = {}
        documents = shown_documents(self._benchmark, row)
        if not documents:
            replies[0] = failed("no_documents")
        else:
            query = self._benchmark.queries[row["query_id"]]
            n = row["n_requested"]
            assert n is not None, "settings of such a summarizer withhold nothing"
            asked = summary_request(self._about, query, documents, n, repeat=row["repeat"])
            new: Mapping[Name, ChatRequest] = {0: asked}
            while not replies:
                replies |= yield new
                new = {}
        return summary_row(row, replies[0], own_version(self._settings))

    def _send(self, requests: Mapping[Name, ChatRequest]) -> Mapping[Name, Awaitable[ChatReply]]:
        return {name: self._chat.complete(request) for name, request in requests.items()}

    @cached_property
    def _about(self) -> dict[str, JsonValue]:
        settings = self._settings
        name = settings.model if isinstance(settings, HttpSummarizerSettings) else own_version(settings)
        return {"model": name, "options": settings.options}


def own_version(settings: OwnSummarizerSettings) -> str:
    """Return the version of what writes: the class with its own, or the protocol."""
    if isinstance(settings, PythonSummarizerSettings):
        return f"{settings.class_}@{class_version(settings)}"
    return f"http@{PROTOCOL}"


def class_chat(settings: PythonSummarizerSettings, asked: ChatSettings, benchmark: Benchmark) -> ClassChat:
    """
    Return what asks the class about the queries of *benchmark*.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """
    summarizer = open_class(settings, protocols.Summarizer)

    def given(request: ChatRequest) -> tuple[object, ...]:
        body = body_of(request)
        query = benchmark.queries[_query_id(body)]
        return query, documents_of(body, query.haystack_id), body["n_requested"]

    def read(request: ChatRequest, returned: object) -> ChatReply:
        return written_reply(checked(settings, returned, _query_id(body_of(request))))

    return ClassChat(asked, settings, summarizer.summarize, given=given, read=read)


def _query_id(body: dict[str, JsonValue]) -> str:
    query = body["query"]
    assert isinstance(query, dict), "we have written it"
    return str(query["id"])
