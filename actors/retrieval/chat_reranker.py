"""A reranker that prompts a chat model about each document by itself (MSRS, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from actors.chat.matrix_executor import MatrixExecutor
from actors.chat.opening import REPAIR_PROMPT, asked_again, check_chat, load_prompt, prompt_request, versions_of
from actors.retrieval.reranker import Means, Ranking, Reranked, Reranker, reranked
from longform.chat.asking import Asks, carry_out
from longform.chat.call import ChatRequest, Shared
from longform.errors import UsageError
from longform.keys import content_key
from longform.prompts import Prompt
from longform.records import Document, Query
from longform.retrieval.pointwise import PairScore, TextPair, read_score, scores
from longform.settings.retrievers import ChatRerankerSettings

FIELDS = frozenset({"document", "query", "n_points"})
"""Fields of a prompt that asks for a score."""


class ChatReranker(Reranker[ChatRerankerSettings]):
    """
    Asks the model for a whole number once for each query and document.

    The documents with a score stand by it, ties as they came. A document whose score cannot be had, after a second
    question if a reply cannot be read, stands behind them without one, with the reason; then those below the depth.

    Prompts begin with the document: a query is some words long, a document thousands, and many queries of a corpus meet
    the same one. So calls about one document are a group, and the server reads it once.

    Raises:
        UsageError: The prompt cannot be used, or shows other fields.
    """

    def __init__(self, settings: ChatRerankerSettings, means: Means) -> None:
        super().__init__(settings, means)
        asking = means.asking
        assert asking is not None, "a chat model is asked with something"
        self._executor = MatrixExecutor(asking.chat, settings.chat)
        self._prompt, self._wish = asking.prompt(settings.prompt), asking.prompt(REPAIR_PROMPT).render()
        check_prompt(self._prompt)
        self._count_tokens = asking.counter

    @classmethod
    def version(cls, settings: ChatRerankerSettings, prompts: str | None) -> dict[str, JsonValue]:
        return {"prompts": versions_of([settings.prompt, REPAIR_PROMPT], prompts)}

    @classmethod
    def check(cls, settings: ChatRerankerSettings, prompts: str | None, with_keys: bool) -> None:
        check_chat(settings.chat, with_key=with_keys)
        check_prompt(load_prompt(settings.prompt, prompts))

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        (found,) = await self.orders([(query, documents)])
        return found

    async def orders(self, rankings: Sequence[Ranking]) -> list[list[Reranked]]:
        return await carry_out(self.plan(rankings), self._executor.answer)

    def plan(self, rankings: Sequence[Ranking]) -> Asks[list[list[Reranked]]]:
        """Return the plan that asks about the first documents of all *rankings*."""
        depth = self._settings.depth
        asked = [[TextPair(document.text, query.text) for document in of[:depth]] for query, of in rankings]
        requests = {pair: self._request(pair) for pairs in asked for pair in pairs}
        found = yield from scores(requests, self._again, lambda reply: read_score(reply, self._settings.scale))
        return [
            _in_order([found[pair] for pair in pairs], len(documents))
            for pairs, (_, documents) in zip(asked, rankings, strict=True)
        ]

    def _request(self, pair: TextPair) -> ChatRequest:
        text = self._prompt.render(document=pair.document, query=pair.query, n_points=self._settings.scale)
        request = prompt_request(self._settings.chat, text, count_tokens=self._count_tokens)
        return replace(request, shared=Shared(content_key(pair.document)))

    def _again(self, request: ChatRequest, unreadable: str) -> ChatRequest:
        return asked_again(request, unreadable, self._wish)


def check_prompt(prompt: Prompt) -> None:
    """
    Check that a prompt has the fields of one that asks for a score.

    Raises:
        UsageError: It has others.
    """
    if prompt.fields != FIELDS:
        found = f"found {sorted(prompt.fields)}"
        raise UsageError(f"prompt {prompt.name!r} is none of a reranker: expected the fields {sorted(FIELDS)}, {found}")


def _in_order(found: Sequence[PairScore], n_documents: int) -> list[Reranked]:
    """Return the places of scored documents by descending score, then all others as they came."""
    scored = [(place, float(one.score)) for place, one in enumerate(found) if one.score is not None]
    failures = {place: one.failure for place, one in enumerate(found) if one.failure is not None}
    return reranked(sorted(scored, key=lambda one: -one[1]), n_documents, failures)
