"""Runs the plan of a summarising method: every step as soon as the steps it reads are done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from longform.chat.call import ChatReply
from longform.summaries.methods import PARENT_FAILED, Plan, Step

AskStep = Callable[[Step, Sequence[str]], Awaitable[ChatReply]]
"""A step and its parents' texts, in their order -> the reply, whose text is the step's."""


async def run_plan(plan: Plan, ask: AskStep) -> dict[str, ChatReply]:
    """
    Ask the steps of a plan, and map each name to its reply, in the plan's order.

    A step that would read a failed one is not asked: it fails with `parent_failed: STEP: reason`, where STEP is the one
    that failed itself. What *ask* raises ends the plan, and is raised.
    """
    running: dict[str, asyncio.Task[ChatReply]] = {}
    for step in plan:
        parents = {name: running[name] for name in step.parents}
        running[step.name] = asyncio.create_task(_run(step, parents, ask))
    try:
        replies = await asyncio.gather(*running.values())
    finally:
        for task in running.values():
            task.cancel()
    return dict(zip(running, replies, strict=True))


async def _run(step: Step, parents: Mapping[str, asyncio.Task[ChatReply]], ask: AskStep) -> ChatReply:
    replies = dict(zip(parents, await asyncio.gather(*parents.values()), strict=True))
    for name, reply in replies.items():
        if reply.failure is not None:
            return _inherited(name, reply)
    return await ask(step, [reply.text or "" for reply in replies.values()])


def _inherited(parent: str, reply: ChatReply) -> ChatReply:
    """Return the failure of a step that would have read the failed *reply* of step *parent*."""
    if reply.cause is not None:
        return ChatReply(text=None, failure=reply.failure, cause=reply.cause)
    return ChatReply(text=None, failure=f"{PARENT_FAILED}: {parent}: {reply.failure}", cause=reply.failure)
