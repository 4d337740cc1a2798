"""Answers in running text (MSRS): a prompt by the retriever, and answers from memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.chat.opening import open_chat
from actors.summarizers.chat import ChatSummarizer
from longform.errors import UsageError
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.methods import SHIPPED_METHODS
from tests.actors.summarizers.summarizing import TEXTS, Writer, context, first_requests, write_bench

CHAT = ChatSettings(provider="scripted", model="fake", script="obedient")
ARMS = {"oracle": "summarize_story_oracle", "none": "answer_from_memory"}


@pytest.fixture
def bench(tmp_path: Path) -> str:
    return write_bench(tmp_path)


def answerer(bench: str, **settings: Any) -> Writer:
    definition = ChatSummarizerSettings(
        kind="chat", chat=CHAT, **{"prompt": "summarize_story", "prompt_with": ARMS} | settings
    )
    return Writer(definition, bench, open_chat(CHAT))


def shown_nothing(retriever: str = "none") -> Any:
    return context(retriever=retriever, doc_ids=[], doc_numbers=[], doc_chars=[])


async def test_each_retriever_has_its_prompt_and_answers_cite_nothing(bench: str) -> None:
    rows = [context(retriever="bm25"), context(retriever="oracle"), shown_nothing()]
    found = [(await answerer(bench).summarize([row]))[0] for row in rows]
    versions = [row["prompt_version"].split("@")[0] for row in found]
    assert versions == ["summarize_story", "summarize_story_oracle", "answer_from_memory"]
    assert all(row["text"] and "[" not in row["text"] for row in found)
    assert TEXTS[0].split(".")[0] in found[0]["text"]


@pytest.mark.parametrize("prompt", ["summarize_story", "summarize_story_oracle", "summarize_meeting"])
def test_documents_are_numbered_and_cut_before_the_question(bench: str, prompt: str) -> None:
    (request,) = first_requests(answerer(bench, prompt=prompt, prompt_with=None), context())
    text = request.messages[0].text
    assert f"Document 3:\n{TEXTS[2][:22]}\n\nDocument 1:\n{TEXTS[0]}\n\n" in text
    assert text.index(TEXTS[0]) < text.index("Question: When does the tram line open?") < text.index("200 to 300 words")


def test_memory_is_told_the_collection_and_the_topic_and_no_document(bench: str) -> None:
    (request,) = first_requests(answerer(bench, collection="tales of trams"), shown_nothing())
    text = request.messages[0].text
    assert "Collection: tales of trams\nTopic: A tram for the town\n\nQuestion: When does" in text
    assert "Document" not in text


async def test_a_prompt_that_shows_documents_is_not_asked_without_any(bench: str) -> None:
    (row,) = await answerer(bench).summarize([shown_nothing("bm25")])
    assert (row["text"], row["failure"]) == (None, "no_documents")


def test_versions_follow_every_prompt_that_may_be_asked() -> None:
    plain = SHIPPED_METHODS["plain"]
    one = ChatSummarizerSettings(kind="chat", chat=CHAT, prompt="summarize_story")
    versions = {
        ChatSummarizer.version(one.model_copy(update={"prompt_with": prompts}), plain, None)
        for prompts in (None, {"none": "answer_from_memory"}, ARMS)
    }
    assert len(versions) == 3


def test_an_unknown_prompt_of_a_retriever_is_refused(bench: str) -> None:
    with pytest.raises(UsageError, match=r"summarizer 'mine': expected a prompt of .*, found 'summarise'"):
        answerer(bench, prompt_with={"bm25": "summarise"})


def test_the_identity_of_older_summarizers_is_what_it_was() -> None:
    """Stored summaries have it in their keys."""
    older = ChatSummarizerSettings(kind="chat", chat=CHAT)
    assert older.identity == {"kind": "chat", "chat": CHAT.identity, "prompt": None}
    newer = ChatSummarizerSettings(kind="chat", chat=CHAT, prompt_with=ARMS, collection="tales")
    assert newer.identity == {**older.identity, "prompt_with": ARMS, "collection": "tales"}


async def test_documents_are_condensed_and_the_answer_shows_what_is_left(bench: str) -> None:
    asked = answerer(bench, prompt="answer_question", prompt_with=None)
    row = context(method="snippets")
    (*snippets, final) = await asked.summarize([row])
    definition = ChatSummarizerSettings(kind="chat", chat=CHAT, prompt="answer_question")
    versions = {
        ChatSummarizer.version(definition, SHIPPED_METHODS[name], None) for name in ("snippets", "summaries", "plain")
    }

    assert [one["step"] for one in snippets] == [f"document-{n + 1}" for n in range(len(row["doc_ids"]))]
    assert {one["prompt_version"].split("@")[0] for one in snippets} == {"condense_to_snippets"}
    assert final["prompt_version"].startswith("answer_question@")
    assert snippets[0]["text"].split(".")[0] in final["text"]
    assert len(versions) == 3
