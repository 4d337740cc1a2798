import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise

import pytest

from actors.summarizers.summarizer import method_of
from longform.chat.asking import carry_out
from longform.chat.call import ChatReply, ChatRequest, Message, failed
from longform.settings.methods import SHIPPED_METHODS
from longform.summaries.methods import AskStep, Plan, step_replies


async def run_plan(plan: Plan, ask: Callable[[AskStep, Sequence[str]], Awaitable[ChatReply]]) -> dict[str, ChatReply]:
    """The plan's steps, carried out live; *ask* has each step's reply."""
    given: dict[str, tuple[AskStep, Sequence[str]]] = {}

    def request(step: AskStep, texts: Sequence[str]) -> ChatRequest:
        given[step.name] = (step, texts)
        return ChatRequest(messages=(Message("user", step.name),), max_tokens=1)

    asks = step_replies(plan, request, lambda step, reply: reply)
    return await carry_out(asks, lambda requests: {name: ask(*given[str(name)]) for name in requests})


def said(text: str) -> ChatReply:
    return ChatReply(text=text, failure=None)


async def echo(step: AskStep, texts: Sequence[str]) -> ChatReply:
    """Reply with everything shown and read, so that the last text tells all steps."""
    return said(f"{step.task[0]}{''.join(map(str, step.documents))}({','.join(texts)})")


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("plain", "s012()"),
        ("hierarchical-pairwise", "m(m(s0(),s1()),s2())"),
        ("hierarchical-once", "m(s0(),s1(),s2())"),
        ("incremental", "u2(u1(s0()))"),
        ("calibration-rotations", "m(s012(),s120(),s201())"),
        ("snippets", "s012(s0(),s1(),s2())"),
    ],
)
async def test_every_step_reads_its_parents_in_their_order(method: str, text: str) -> None:
    plan = method_of(SHIPPED_METHODS[method]).plan(3)
    replies = await run_plan(plan, echo)
    assert list(replies) == [step.name for step in plan]
    assert replies["final"].text == text


async def test_steps_whose_parents_are_done_run_at_once() -> None:
    plan = method_of(SHIPPED_METHODS["hierarchical-pairwise"]).plan(4)
    running: set[str] = set()
    seen: list[frozenset[str]] = []
    all_four, merging = asyncio.Event(), asyncio.Event()

    async def ask(step: AskStep, texts: Sequence[str]) -> ChatReply:
        running.add(step.name)
        seen.append(frozenset(running))
        if len(running) == 4:
            all_four.set()
        await all_four.wait()
        if step.name == "merge-1-1":
            merging.set()
        if step.name == "document-4":  # the first pair does not wait for the second
            await merging.wait()
        running.discard(step.name)
        return said(step.name)

    async with asyncio.timeout(300):
        await run_plan(plan, ask)
    assert max(seen, key=len) == {"document-1", "document-2", "document-3", "document-4"}


async def test_what_reads_a_failed_step_is_not_asked_and_names_the_one_that_failed() -> None:
    asked = []

    async def ask(step: AskStep, texts: Sequence[str]) -> ChatReply:
        asked.append(step.name)
        return failed("http_500") if step.name == "update-2" else await echo(step, texts)

    replies = await run_plan(method_of(SHIPPED_METHODS["incremental"]).plan(5), ask)
    assert asked == ["document-1", "update-2"]
    assert replies["document-1"].text == "s0()"
    assert replies["update-2"].failure == "http_500"
    for name in ("update-3", "update-4", "final"):
        assert (replies[name].text, replies[name].failure) == (None, "parent_failed: update-2: http_500")


async def test_of_several_failed_parents_the_first_is_named_and_the_others_stand() -> None:
    async def ask(step: AskStep, texts: Sequence[str]) -> ChatReply:
        return failed("length") if step.name in ("document-2", "document-3") else await echo(step, texts)

    replies = await run_plan(method_of(SHIPPED_METHODS["hierarchical-pairwise"]).plan(4), ask)
    assert {name: reply.failure for name, reply in replies.items()} == {
        "document-1": None,
        "document-2": "length",
        "document-3": "length",
        "document-4": None,
        "merge-1-1": "parent_failed: document-2: length",
        "merge-1-2": "parent_failed: document-3: length",
        "final": "parent_failed: document-2: length",
    }


async def test_what_is_raised_ends_the_plan_and_leaves_nothing_running() -> None:
    cancelled = []

    async def ask(step: AskStep, texts: Sequence[str]) -> ChatReply:
        if step.name == "document-2":
            raise RuntimeError("budget")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(step.name)
            raise
        return said("")

    before = asyncio.all_tasks()
    with pytest.raises(RuntimeError, match="budget"):
        await run_plan(method_of(SHIPPED_METHODS["hierarchical-once"]).plan(3), ask)
    left = asyncio.all_tasks() - before
    async with asyncio.timeout(300):
        await asyncio.gather(*left, return_exceptions=True)
    assert sorted(cancelled) == ["document-1", "document-3"]


async def test_steps_of_a_chain_come_one_after_the_other() -> None:
    spans: list[tuple[str, str]] = []

    async def ask(step: AskStep, texts: Sequence[str]) -> ChatReply:
        spans.append(("begin", step.name))
        await asyncio.sleep(0)
        spans.append(("end", step.name))
        return said(step.name)

    await run_plan(method_of(SHIPPED_METHODS["incremental"]).plan(4), ask)
    assert all(kinds == ("begin", "end") for kinds in zip(*[iter(kind for kind, _ in spans)] * 2, strict=True))
    assert all(a[1] != b[1] for a, b in pairwise(spans[::2]))
