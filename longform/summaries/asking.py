"""The steps of a summarising method as a plan that asks: every step as soon as the steps that it reads are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest, failed
from longform.summaries.methods import PARENT_FAILED, AskStep, Plan

Request = Callable[[AskStep, Sequence[str]], ChatRequest | str]
"""A step and its parents' texts, in their order -> its request, or the reason why there is none."""

Read = Callable[[AskStep, ChatReply], ChatReply]
"""A step and its reply -> the reply whose text is the step's."""


def step_replies(
    plan: Plan, request: Request, read: Read, earlier: Mapping[str, ChatReply] | None = None
) -> Asks[dict[str, ChatReply]]:
    """
    Ask the steps of a plan, and map each name to its reply, in the plan's order.

    A step that would read a failed one is not asked: it fails with `parent_failed: STEP: reason`, where STEP is the one
    that failed itself.

    Args:
        plan: The steps.
        request: Makes the request of a step.
        read: Reads its reply.
        earlier: Replies to steps of the plan that are not asked again.
    """
    steps = {step.name: step for step in plan}
    found: dict[str, ChatReply] = {name: reply for name, reply in (earlier or {}).items() if name in steps}
    asked: set[str] = set()
    while True:
        new: dict[Name, ChatRequest] = {}
        for step in plan:  # parents stand before those that read them
            if step.name in found or step.name in asked or any(parent not in found for parent in step.parents):
                continue
            made = _failed_parent(step, found) or request(step, [found[parent].text or "" for parent in step.parents])
            if isinstance(made, ChatRequest):
                new[step.name] = made
                asked.add(step.name)
            else:
                found[step.name] = read(step, failed(made)) if isinstance(made, str) else made
        if len(found) == len(plan):
            return {step.name: found[step.name] for step in plan}
        came = yield new
        found |= {str(name): read(steps[str(name)], reply) for name, reply in came.items()}


def _failed_parent(step: AskStep, found: dict[str, ChatReply]) -> ChatReply | None:
    """Return the failure of a step that would have read a failed one; None if all that it reads are there."""
    for parent in step.parents:
        reply = found[parent]
        if reply.failure is not None and reply.cause is not None:
            return ChatReply(text=None, failure=reply.failure, cause=reply.cause)
        if reply.failure is not None:
            return ChatReply(text=None, failure=f"{PARENT_FAILED}: {parent}: {reply.failure}", cause=reply.failure)
    return None
