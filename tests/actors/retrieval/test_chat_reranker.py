"""A reranker by a chat model: the order that it makes of scores, and which calls go out together."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

import pytest

from actors.chat.opening import Asking, load_prompt
from actors.rehearsal.scripted_chat import ScriptedChat
from actors.retrieval.chat_reranker import ChatReranker, check_prompt
from actors.retrieval.reranker import Means, Reranked
from longform.chat.call import Capabilities, ChatReply, ChatRequest
from longform.errors import UsageError
from longform.records import Document, Query
from longform.settings.chat import ChatSettings
from longform.settings.retrievers import ChatRerankerSettings

CHAT = ChatSettings(provider="scripted", model="s", script="obedient")


class Saying:
    """Replies by the document that a prompt shows; keeps the prompts in their order."""

    accepted = Capabilities()

    def __init__(self, replies: Mapping[str, str]) -> None:
        self.replies, self.prompts = replies, list[str]()

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.prompts.append(request.messages[0].text)
        return ChatReply(text=self.replies[document_in(self.prompts[-1])], failure=None, seconds=0.0)

    async def close(self) -> None:
        pass


def document_in(prompt: str) -> str:
    (found,) = re.findall(r"<document>\n(\w+)", prompt)
    return str(found)


def documents(*texts: str) -> list[Document]:
    return [Document(f"d{place}", "h", place, None, text) for place, text in enumerate(texts)]


def test_ties_keep_the_order_and_documents_without_a_score_stand_behind_those_with_one() -> None:
    chat = Saying({"a": "5", "b": "what?", "c": "12", "d": "5", "e": "99"})
    settings = ChatRerankerSettings(kind="chat", chat=CHAT, depth=5)
    order = asyncio.run(
        ChatReranker(settings, Means(asking=Asking(chat=chat))).order(Query("q", "h", "why?"), documents(*"abcdefg"))
    )
    assert order == [
        Reranked(2, 12.0),
        Reranked(0, 5.0),
        Reranked(3, 5.0),
        Reranked(1, None, "no_score"),
        Reranked(4, None, "score_out_of_scale"),
        Reranked(5, None),
        Reranked(6, None),
    ]


def test_queries_that_meet_one_document_are_asked_behind_it() -> None:
    """The first call of a long document goes alone, so that the server has read it when the others come."""
    long, short = "long " * 5000, "short"
    chat = Saying({"long": "3", "short": "4"})
    settings = ChatRerankerSettings(kind="chat", chat=CHAT)
    rankings = [(Query(name, "h", name), documents(short, long)) for name in ("first", "second", "third")]
    orders = asyncio.run(ChatReranker(settings, Means(asking=Asking(chat=chat))).orders(rankings))
    assert [[one.place for one in order] for order in orders] == [[0, 1]] * 3
    about = [document_in(prompt) for prompt in chat.prompts]
    assert about.index("long") < 4
    assert sorted(about[-2:]) == ["long", "long"]
    together = [prompt.split("</document>")[0] for prompt in chat.prompts if document_in(prompt) == "long"]
    assert len(set(together)) == 1


@pytest.mark.parametrize("prompt", ["rerank_documents", "rerank_oracle"])
def test_scripted_model_scores_by_shared_words_in_both_prompts(prompt: str) -> None:
    settings = ChatRerankerSettings(kind="chat", chat=CHAT, prompt=prompt, scale=10)
    texts = ("Nothing to see.", "The harvest of apples was late.", "A harvest was late, they said.")
    order = asyncio.run(
        ChatReranker(settings, Means(asking=Asking(chat=ScriptedChat(CHAT)))).order(
            Query("q", "h", "late harvest apples"), documents(*texts)
        )
    )
    assert order == [Reranked(1, 10.0), Reranked(2, 7.0), Reranked(0, 1.0)]


def test_prompt_of_another_task_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'judge_support' is none of a reranker: expected the fields \['document'"):
        check_prompt(load_prompt("judge_support", None))
