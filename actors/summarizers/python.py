"""Summaries written by a class of a user's own."""

from __future__ import annotations

import inspect
from asyncio import gather
from collections.abc import Mapping, Sequence
from typing import Any

from actors.python_class import UserCodeError, class_version, open_class, user_code
from actors.storage.benchmark import Benchmark
from longform.axes import COPIED
from longform.keys import content_key
from longform.protocols import Summarizer, Written
from longform.records import Document
from longform.settings.chat import PythonSummarizerSettings

_FROM_CONTEXT = ("work_id", "context_id", "query_id", "haystack_id", "summarizer", "setting", "order", "n_requested")
_TEXTLESS = "no_text"


class PythonSummarizer:
    """
    Summarize the documents of a context for its query.

    Table in: `CONTEXTS` with `work_id, n_requested, setting, summarizer`. Table out: `SUMMARIES`, one row for each.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """

    def __init__(self, bench_url: str, settings: PythonSummarizerSettings) -> None:
        self._benchmark = Benchmark(bench_url)
        self._settings = settings
        self._summarizer = open_class(settings, Summarizer)
        self._version = f"{settings.class_}@{class_version(settings)}"

    async def summarize(self, context_rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the summaries of all rows; those of a coroutine function are written at the same time."""
        return list(await gather(*(self._summary(row) for row in context_rows)))

    async def _summary(self, row: Mapping[str, Any]) -> dict[str, Any]:
        documents = self._documents(row)
        written = await self._written(row, documents) if documents else Written(None, "no_documents")
        return (
            {name: row[name] for name in _FROM_CONTEXT}
            | {name: row.get(name) for name in COPIED}
            | written._asdict()
            | {
                "summary_id": content_key(row["work_id"]),
                "method": "plain",
                "parents": [],
                "step": None,
                "repeat": row.get("repeat", 0),
                "elapsed_minutes": None,
                "cut_share": row["cut_share"],
                "prompt_version": self._version,
                "finish_reason": None,
                "cached_tokens": None,
                "reasoning_tokens": None,
                "seconds": None,
            }
        )

    async def _written(self, row: Mapping[str, Any], documents: Sequence[Document]) -> Written:
        query = self._benchmark.queries[row["query_id"]]
        with user_code(self._settings, "summarize"):
            found = self._summarizer.summarize(query, documents, row["n_requested"])
            if inspect.isawaitable(found):
                found = await found
        return self._checked(found, query.query_id)

    def _checked(self, found: object, query_id: str) -> Written:
        written = Written(found) if isinstance(found, str) else found
        if not isinstance(written, Written) or not isinstance(written.text, str | None):
            raise UserCodeError(
                f"{self._settings.class_}: summarize: expected a text, or longform.protocols.Written with one, "
                f"found {type(found).__name__} {str(found)[:60]!r}, for query {query_id!r}"
            )
        if written.text is None or not written.text.strip():
            return written._replace(text=None, failure=written.failure or _TEXTLESS)
        return written

    def _documents(self, row: Mapping[str, Any]) -> list[Document]:
        """The documents of a context, in the order of its prompt, cut as it says."""
        known = {document.doc_id: document for document in self._benchmark.documents(row["haystack_id"])}
        kept = zip(row["doc_ids"], row["doc_chars"], strict=True)
        return [known[doc_id]._replace(text=known[doc_id].text[:chars]) for doc_id, chars in kept]
