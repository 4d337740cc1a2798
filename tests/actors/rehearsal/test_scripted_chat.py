import asyncio
import json
from typing import Any

import pytest

from actors.chat.opening import open_chat
from actors.rehearsal.scripted_chat import MISDEEDS, SCRIPTS, UNKNOWN_TASK, ScriptedChat
from longform import prompts
from longform.chat.call import ChatReply, ChatRequest, Message
from longform.judges.kinds.coverage import numbered_bullets, parse_coverage
from longform.settings.chat import ChatSettings
from longform.text.citations import bullets
from tests.actors.rehearsal.replies import Counted

DOCUMENTS = {
    3: "The mayor opened a new bridge on Monday. It cost 4 million euros to build.",
    8: "Rain fell all week in the valley. It cost 4 million euros to build.",
    9: "Question: who paid for it?\n\nNobody knew who would pay for the bridge.",
}


def scripted(script: str, **settings: Any) -> ScriptedChat:
    chat = open_chat(ChatSettings(provider="scripted", model="fake", script=script, **settings))
    assert isinstance(chat, ScriptedChat)
    return chat


def request(prompt: str) -> ChatRequest:
    return ChatRequest(messages=(Message("user", prompt),), max_tokens=100)


def summarize_prompt(name: str, *, n_insights: int = 3) -> str:
    heading = {"summarize_conversation": "Conversation", "summarize_news": "Article"}.get(name, "Document")
    shown = "".join(f"{heading} {number}:\n{text}\n\n" for number, text in DOCUMENTS.items())
    values = {"documents": shown, "query": "What did the bridge cost to build?", "subtopic": "Cost of the bridge"}
    others = {"n_documents": 3, "scenario": "s", "participants": "p", "topic": "t", "n_insights": n_insights}
    prompt = prompts.load_prompt(name)
    return prompt.render(**{field: (values | others)[field] for field in prompt.fields})


def judge_prompt(insight: str, lines: list[str], name: str = "judge_coverage_3") -> str:
    return prompts.load_prompt(name).render(bullets=numbered_bullets(lines), insight=insight)


@pytest.mark.parametrize("name", ["summarize_conversation", "summarize_news", "summarize_documents"])
async def test_the_obedient_quote_a_statement_a_bullet_and_cite_all_that_hold_it(name: str) -> None:
    reply = await scripted("obedient").complete(request(summarize_prompt(name)))
    found = bullets(reply.text or "")
    assert len(found) == 3
    for bullet in found:
        statement = bullet.text.removeprefix("- ").split(" [")[0]
        assert bullet.citations == [number for number, text in DOCUMENTS.items() if statement in text]
    assert [3, 8] in [bullet.citations for bullet in found]


async def test_the_obedient_stay_within_the_words_asked_for() -> None:
    reply = await scripted("obedient").complete(request(summarize_prompt("summarize_news", n_insights=100)))
    assert all(len(bullet.text.split(" [")[0].split()) <= 1 + 3 for bullet in bullets(reply.text or ""))


@pytest.mark.parametrize("name", ["judge_coverage_3", "judge_coverage_9"])
@pytest.mark.parametrize(
    ("insight", "verdict"),
    [
        ("It cost 4 million euros to build the bridge.", ("full", 1, None, None)),
        ("The bridge cost far above 4 million, said its bitter critics.", ("partial", 1, None, None)),
        ("Swans nest by the harbour.", ("none", None, None, None)),
    ],
)
async def test_the_obedient_judge_by_shared_words(name: str, insight: str, verdict: tuple[Any, ...]) -> None:
    lines = ["Rain fell all week. [8]", "It cost 4 million euros to build the bridge. [3][8]"]
    reply = await scripted("obedient").complete(request(judge_prompt(insight, lines, name)))
    found = parse_coverage(reply.text or "", n_bullets=2)
    assert (found.answer, found.linked_unit, found.failure, found.link_failure) == verdict


@pytest.mark.parametrize("text", ["", "What is the capital of France?", 'Insight: x {"bullets": [', "Document 1:\nx"])
async def test_another_task_is_a_failure_and_not_an_answer(text: str) -> None:
    assert (await scripted("obedient").complete(request(text))).failure == UNKNOWN_TASK


async def misbehaved(n: int) -> list[ChatReply]:
    chat = scripted("misbehaving")
    asked = [request(judge_prompt(f"Insight number {i}", ["a", "b"])) for i in range(n)]
    return await asyncio.gather(*(chat.complete(one) for one in asked))


async def test_the_misbehaving_do_everything_that_goes_wrong() -> None:
    replies = await misbehaved(150)
    failures = {reply.failure for reply in replies if reply.text is None}
    assert failures == {"empty_reply", "length", "refusal", "http_400", "http_429", "http_500", "connection"}
    verdicts = [parse_coverage(reply.text, n_bullets=2) for reply in replies if reply.text is not None]
    assert {verdict.link_failure for verdict in verdicts} == {None, "bullet_id_list", "bullet_id_out_of_range"}
    assert "no_json_object" in {verdict.failure for verdict in verdicts}
    assert {reply.finish_reason for reply in replies if reply.failure == "length"} == {"length"}


async def test_a_misdeed_follows_from_the_request_and_not_from_its_turn() -> None:
    """Otherwise another worker count would give other rows."""
    one, other = scripted("misbehaving"), scripted("misbehaving")
    texts = [judge_prompt(f"Insight number {i}", ["a"]) for i in range(20)]
    forwards = [await one.complete(request(text)) for text in texts]
    backwards = [await other.complete(request(text)) for text in reversed(texts)]
    assert forwards == backwards[::-1]


@pytest.mark.parametrize("index", range(len(MISDEEDS) * 3))
async def test_misbehaving_summaries_cite_what_is_not_there_or_fail(index: int) -> None:
    prompt = summarize_prompt("summarize_news").replace("What", f"{index} What").replace("Cost", f"{index} Cost")
    reply = await scripted("misbehaving").complete(request(prompt))
    cited = {number for bullet in bullets(reply.text or "") for number in bullet.citations}
    assert cited <= {*DOCUMENTS, 10}


async def test_the_slow_meet_their_deadline() -> None:
    replies = await asyncio.gather(
        *(scripted("misbehaving", timeout_s=0.01).complete(request(judge_prompt(str(i), ["a"]))) for i in range(40))
    )
    assert "timeout" in {reply.failure for reply in replies}


def test_a_scripted_model_serves_one_event_loop_after_another() -> None:
    chat = scripted("obedient")

    async def ask_twice() -> list[ChatReply]:
        return await asyncio.gather(*(chat.complete(request(judge_prompt("x", ["a"]))) for _ in range(2)))

    assert asyncio.run(ask_twice()) == asyncio.run(ask_twice())


async def test_limits_hold_as_for_a_real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    obedient = Counted(SCRIPTS["obedient"])
    monkeypatch.setitem(SCRIPTS, "obedient", obedient)
    chat = scripted("obedient", context_window=200, max_tokens=100)
    asked = ChatRequest(messages=(Message("user", judge_prompt("x", ["a"])),), max_tokens=100, input_tokens=101)
    assert (await chat.complete(asked)).failure == "context_exceeds_window: 101 input + 100 output tokens > 200"
    assert obedient.n_calls == 0


def test_replies_of_a_judge_are_json() -> None:
    reply = asyncio.run(scripted("obedient").complete(request(judge_prompt("a", ["a"]))))
    assert json.loads(reply.text or "").keys() == {"coverage", "bullet_id"}
