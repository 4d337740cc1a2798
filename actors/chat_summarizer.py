"""
Summaries with citations, written by a chat model (SummHay, section 5.2).

Table in: `CONTEXTS` with work_id, n_requested and setting. Table out: `SUMMARIES`. One row out for each row in, in
order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actors.benchmark import Benchmark
from actors.chat import load_prompt, prompt_request, token_counter
from actors.chat_model import ChatModel
from longform.chat import ChatReply, ChatRequest, failed
from longform.configuration import ChatSummarizer as Settings
from longform.errors import UsageError
from longform.keys import content_key
from longform.prompts import Prompt
from longform.records import Query

_PROMPT_OF_DOMAIN = {"conversation": "summarize_conversation", "news": "summarize_news"}
_PROMPT_OF_ANY = "summarize_documents"
_HEADING_OF = {"summarize_conversation": "Conversation", "summarize_news": "Article", _PROMPT_OF_ANY: "Document"}


class _UnanswerableError(Exception):
    """A row for which no prompt can be made."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ChatSummarizer:
    """
    Asks the model for one summary a row, all rows of a call at once within the model's concurrency.

    A row that cannot be summarised stays a row, with the reason in `failure`: what the model's reply gives, or
    `missing_query`, `missing_document: ID`, `missing_FIELD` where the prompt shows what the benchmark does not state.

    Args:
        bench_url: The benchmark folder that holds the documents and queries.
        name: What the table calls this summarizer.
        settings: Model and prompt; without a prompt, the query's domain decides.
        chat: The model.
        prompts_folder: A folder whose files replace our prompts of the same name.
        count_tokens: Tokens of a text, for the check against the model's window; None: cl100k.

    Raises:
        UsageError: A prompt cannot be used, before anything is asked.
    """

    def __init__(
        self,
        bench_url: str,
        name: str,
        settings: Settings,
        *,
        chat: ChatModel,
        prompts_folder: str | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        self.chat = chat
        self._benchmark = Benchmark(bench_url)
        self._name = name
        self._settings = settings.chat
        self._prompt_name = settings.prompt
        if settings.prompt is not None and settings.prompt not in _HEADING_OF:
            msg = f"summarizer {name!r}: expected a prompt of {sorted(_HEADING_OF)}, found {settings.prompt!r}"
            raise UsageError(msg)
        names = [settings.prompt] if settings.prompt else sorted(_HEADING_OF)
        self._prompts = {prompt: load_prompt(prompt, prompts_folder) for prompt in names}
        self._count_tokens = token_counter(self.chat.accepted, count_tokens)

    async def summarize(self, context_rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(self._summarize_row(row) for row in context_rows)))

    async def _summarize_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        prompt = self._prompt_for(self._benchmark.queries.get(row["query_id"]))
        request = self.request(row)
        reply = failed(request) if isinstance(request, str) else await self.chat.complete(request)
        return self._summary(row, prompt, reply)

    def request(self, row: Mapping[str, Any]) -> ChatRequest | str:
        """What is asked for a row, or the reason why nothing can be."""
        try:
            return self._request(self._prompt_for(self._benchmark.queries.get(row["query_id"])), row)
        except _UnanswerableError as error:
            return error.reason

    def _prompt_for(self, query: Query | None) -> Prompt:
        domain = query.domain if query and query.domain else ""
        return self._prompts[self._prompt_name or _PROMPT_OF_DOMAIN.get(domain, _PROMPT_OF_ANY)]

    def _request(self, prompt: Prompt, row: Mapping[str, Any]) -> ChatRequest:
        text = prompt.render(**self._values(prompt, row))
        return prompt_request(self._settings, text, count_tokens=self._count_tokens)

    def _values(self, prompt: Prompt, row: Mapping[str, Any]) -> dict[str, object]:
        query = self._benchmark.queries.get(row["query_id"])
        if query is None:
            raise _UnanswerableError(reason="missing_query")
        known = {
            "n_documents": len(row["doc_ids"]),
            "scenario": query.topic,
            "topic": query.topic,
            "subtopic": query.subtopic,
            "participants": ", ".join(query.participants) if query.participants else None,
            "query": query.text,
            "n_insights": row["n_requested"],
            "documents": self._documents(_HEADING_OF[prompt.name], row),
        }
        for field in sorted(prompt.fields):
            if known[field] is None:
                raise _UnanswerableError(reason=f"missing_{field}")
        return {field: known[field] for field in prompt.fields}

    def _documents(self, heading: str, row: Mapping[str, Any]) -> str:
        texts = {document.doc_id: document.text for document in self._benchmark.documents(row["haystack_id"])}
        shown = []
        for doc_id, number, n_chars in zip(row["doc_ids"], row["doc_numbers"], row["doc_chars"], strict=True):
            if doc_id not in texts:
                raise _UnanswerableError(reason=f"missing_document: {doc_id}")
            shown.append(f"{heading} {number}:\n{texts[doc_id][:n_chars]}\n\n")
        return "".join(shown)

    def _summary(self, row: Mapping[str, Any], prompt: Prompt, reply: ChatReply) -> dict[str, Any]:
        return {
            "work_id": row["work_id"],
            "summary_id": content_key(row["work_id"]),
            "context_id": row["context_id"],
            "query_id": row["query_id"],
            "haystack_id": row["haystack_id"],
            "summarizer": self._name,
            "setting": row["setting"],
            "order": row["order"],
            "method": "plain",
            "parents": [],
            "n_requested": row["n_requested"],
            "text": reply.text,
            "failure": reply.failure,
            "cut_share": row["cut_share"],
            "model": reply.model,
            "prompt_version": prompt.version,
            "finish_reason": reply.finish_reason,
            **reply.usage._asdict(),
            "cost_usd": reply.cost_usd,
            "seconds": reply.seconds,
        }
