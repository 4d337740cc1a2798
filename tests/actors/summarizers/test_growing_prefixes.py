"""Summaries of the first 1, 2, ..., n documents of one query: the server reads what their prompts share once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.chat.model import CallContext, ChatModel
from actors.chat.opening import open_pool
from actors.storage.benchmark import part_work_id
from actors.storage.folder import Folder
from actors.summarizers.summarizer import AskedContext
from longform.chat.call import Capabilities, ChatReply, ChatRequest
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from tests.actors.chat.test_matrix_llama import WORDS, counted, tokens
from tests.actors.summarizers.contexts import asked_context
from tests.actors.summarizers.summarizing import Writer, first_requests

N_DOCUMENTS = 10


def document(number: int, n_words: int) -> str:
    drawn = random.Random(number)
    return f"Document {number}. " + " ".join(drawn.choice(WORDS) for _ in range(n_words))


def write_bench(tmp_path: Path, n_words: int) -> str:
    folder = Folder(str(tmp_path / "bench"))
    documents = [
        {"doc_id": f"d{i}", "haystack_id": "h", "doc_index": i, "title": None, "text": document(i, n_words)}
        for i in range(N_DOCUMENTS)
    ]
    queries = [{"query_id": query_id, "haystack_id": "h", "text": "What happened?"} for query_id in ("q", "r")]
    folder.commit("documents", [folder.write_part("documents", documents, work_ids=[part_work_id("h", 0)])])
    folder.commit("queries", [folder.write_part("queries", queries, work_ids=["q"])])
    folder.write_json("benchmark.json", {})
    return folder.url


@pytest.fixture
def bench(tmp_path: Path) -> str:
    return write_bench(tmp_path, n_words=400)


def context(doc_ids: Sequence[int], *, query: str = "q", **more: Any) -> AskedContext:
    name = f"{query}/{'-'.join(map(str, doc_ids))}/{more.get('method', 'plain')}"
    ids = {"work_id": name, "context_id": name, "query_id": query, "setting": f"first {len(doc_ids)}"}
    return asked_context([f"d{i}" for i in doc_ids], **ids, **more)


def first(n: int, **more: Any) -> AskedContext:
    return context(range(n), **more)


class Recording:
    """Answers with the number of documents it is shown; keeps what was asked, and with how many others at once."""

    accepted = Capabilities()

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []  # documents, replica
        self.open_at_start: list[int] = []
        self.open_at_end: list[int] = []
        self._open = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        self._open += 1
        self.open_at_start.append(self._open)
        n = request.messages[0].text.count("Document ")
        self.asked.append((n, request.replica))
        for _ in range(5):
            await asyncio.sleep(0)
        self.open_at_end.append(self._open)
        self._open -= 1
        return ChatReply(text=f"Summary: of {n}", failure=None, seconds=0.1)

    async def close(self) -> None: ...

    @property
    def lengths(self) -> list[int]:
        return [n for n, _ in self.asked]


def summarizer(bench: str, chat: ChatModel, prompt: str | None = "summarize_sentences", **settings: Any) -> Writer:
    chat_settings = ChatSettings.model_validate({"model": "m", "base_url": "http://127.0.0.1", **settings})
    definition = ChatSummarizerSettings(kind="chat", chat=chat_settings, prompt=prompt)
    return Writer(definition, bench, chat)


async def test_a_server_with_slots_is_asked_for_one_length_after_the_other_longest_first(bench: str) -> None:
    chat = Recording()
    rows = await summarizer(bench, chat, prefix_cache="slot", concurrency=4).summarize([first(n) for n in (2, 5, 1, 4)])
    assert chat.lengths == [5, 4, 2, 1]
    assert chat.open_at_start == [1, 1, 1, 1]
    assert [(row["setting"], row["text"]) for row in rows] == [(f"first {n}", f"of {n}") for n in (2, 5, 1, 4)]


async def test_a_shared_cache_is_warmed_by_the_longest_and_then_asked_for_the_rest_at_once(bench: str) -> None:
    """The shortest prompt is too short to be kept by itself: what counts is what the first leaves for the second."""
    chat = Recording()
    await summarizer(bench, chat).summarize([first(n) for n in (1, 3, 2, 5)])
    assert chat.lengths == [5, 3, 2, 1]
    assert chat.open_at_end[0] == 1
    assert chat.open_at_start[1:] == [1, 2, 3]


async def test_each_query_is_a_group_of_its_own(bench: str) -> None:
    chat = Recording()
    rows = [first(n, query=query) for n in (1, 2, 3) for query in ("q", "r")]
    await summarizer(bench, chat, prefix_cache="slot", concurrency=2).summarize(rows)
    assert chat.lengths == [3, 3, 2, 2, 1, 1]
    assert max(chat.open_at_start) == 2


async def test_prompts_that_share_nothing_wait_for_nothing(bench: str) -> None:
    for cache in ("slot", "shared"):
        chat = Recording()
        rows = [context(documents) for documents in ([0, 1, 2], [1, 0], [2])]
        await summarizer(bench, chat, prefix_cache=cache, concurrency=4).summarize(rows)
        assert chat.open_at_start == [1, 2, 3]


@pytest.mark.parametrize("prompt", ["summarize_documents", "summarize_sentences"])
async def test_a_prompt_of_more_documents_begins_like_one_of_fewer(bench: str, prompt: str) -> None:
    """A number of documents before the first of them would leave nothing to share."""
    chat = Recording()
    made = summarizer(bench, chat, prompt, prefix_cache="slot", concurrency=4)
    await made.summarize([first(n) for n in (1, 3, 2)])
    assert chat.lengths == sorted(chat.lengths, reverse=True)
    assert chat.open_at_start == [1, 1, 1]


async def test_all_lengths_go_to_one_replica(bench: str) -> None:
    """A piece for another server would be read there again."""
    chat = Recording()
    urls = [f"http://127.0.0.1:{port}" for port in (1, 2, 3)]
    made = summarizer(bench, chat, replicas=urls)
    await made.summarize([first(n) for n in range(1, N_DOCUMENTS + 1)])
    assert len(chat.asked) == N_DOCUMENTS
    assert len({replica for _, replica in chat.asked}) == 1


@pytest.mark.parametrize("cache", ["slot", "shared"])
async def test_rows_come_out_as_each_does_by_itself(bench: str, cache: str) -> None:
    """Methods of several steps, refusals and rows that cannot be asked keep their places among the lengths."""
    rows = [
        first(2),
        first(3, method="hierarchical-once"),
        first(4),
        first(2, query="gone"),
        first(3, method="never heard of"),
        first(1, method="incremental"),
        first(3, method="focus-top"),
        context([0, 99]),
        first(3),
    ]
    together = await summarizer(bench, Recording(), prefix_cache=cache).summarize(rows)
    apart = [out for row in rows for out in await summarizer(bench, Recording(), prefix_cache=cache).summarize([row])]
    assert together == apart
    assert len(together) == len(rows) + 3
    failures = [row["failure"] for row in together if row["failure"]]
    assert failures == ["missing_query", "unknown_method: never heard of", "missing_document: d99"]


# ---------------------------------------------------------------- a real server


@pytest.mark.slow
@pytest.mark.usefixtures("without_ray")
async def test_all_lengths_cost_the_server_little_more_than_the_longest(llama_server: str, tmp_path: Path) -> None:
    """At most 1.2 times its prompt tokens by the server's own count."""
    bench, most = write_bench(tmp_path, n_words=300), 3
    rows = [first(n) for n in range(1, most + 1)]
    random.Random(1).shuffle(rows)
    settings: dict[str, Any] = {"model": "smollm2", "base_url": llama_server, "prefix_cache": "slot"}
    settings |= {"concurrency": 1, "timeout_s": 300, "temperature": 0.0}

    (asked,) = first_requests(summarizer(bench, Recording(), **settings), first(most))
    longest = len(await tokens(llama_server, asked))
    chat = {**settings, "max_tokens": 2}
    pool = open_pool(
        ChatSettings.model_validate(chat), CallContext(job="growing", stage="test", ledger=str(tmp_path / "ledger"))
    )
    before = await counted(llama_server, "prompt_tokens_total")
    found = await summarizer(bench, pool, **chat).summarize(rows)
    await pool.close()
    together = await counted(llama_server, "prompt_tokens_total") - before
    print(f"longest {longest}, together {together} ({together / longest:.2f})")
    assert all(row["failure"] in (None, "length", "empty_summary") for row in found)
    assert longest < together <= 1.2 * longest
