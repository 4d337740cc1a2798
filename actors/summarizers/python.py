"""Summaries written by a class of a user's own."""

from __future__ import annotations

import inspect
from asyncio import gather
from collections.abc import Sequence

from actors.python_class import UserCodeError, class_version, open_class, user_code
from actors.storage.benchmark import Benchmark
from actors.summarizers.summarizer import AskedContext, Summarizer, shown_documents, summary_row
from longform import protocols
from longform.chat.call import ChatReply, Usage
from longform.protocols import Written
from longform.records import Document
from longform.rows import SummaryRow
from longform.settings.chat import PythonSummarizerSettings

_TEXTLESS = "no_text"


class PythonSummarizer(Summarizer):
    """
    Summarize the documents of a context for its query.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """

    def __init__(self, bench_url: str, settings: PythonSummarizerSettings) -> None:
        self._benchmark = Benchmark(bench_url)
        self._settings = settings
        self._summarizer = open_class(settings, protocols.Summarizer)
        self._version = f"{settings.class_}@{class_version(settings)}"

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        """Return the summaries of all rows; those of a coroutine function are written at the same time."""
        return list(await gather(*(self._summary(row) for row in rows)))

    async def _summary(self, row: AskedContext) -> SummaryRow:
        documents = shown_documents(self._benchmark, row)
        written = await self._written(row, documents) if documents else Written(None, "no_documents")
        return summary_row(row, written_reply(written), self._version)

    async def _written(self, row: AskedContext, documents: Sequence[Document]) -> Written:
        query = self._benchmark.queries[row["query_id"]]
        n = row["n_requested"]
        assert n is not None, "settings of such a summarizer withhold nothing"
        with user_code(self._settings, "summarize"):
            found = self._summarizer.summarize(query, documents, n)
            if inspect.isawaitable(found):
                found = await found
        return self._checked(found, query.query_id)

    def _checked(self, found: object, query_id: str) -> Written:
        return checked(self._settings, found, query_id)


def written_reply(written: Written) -> ChatReply:
    """Return what a class wrote as a reply."""
    return ChatReply(
        text=written.text,
        failure=written.failure if written.text is None else None,
        model=written.model,
        usage=Usage(input_tokens=written.input_tokens, output_tokens=written.output_tokens),
        cost_usd=written.cost_usd,
    )


def checked(settings: PythonSummarizerSettings, found: object, query_id: str) -> Written:
    """
    Return what a class returned for a query, as written.

    Raises:
        UserCodeError: It is neither a text nor `Written`.
    """
    written = Written(found) if isinstance(found, str) else found
    if not isinstance(written, Written) or not isinstance(written.text, str | None):
        raise UserCodeError(
            f"{settings.class_}: summarize: expected a text, or longform.protocols.Written with one, "
            f"found {type(found).__name__} {str(found)[:60]!r}, for query {query_id!r}"
        )
    if written.text is None or not written.text.strip():
        return written._replace(text=None, failure=written.failure or _TEXTLESS)
    return written
