"""
The steps of a summarising method as a plan that asks: every step as soon as the steps that it reads are done.

Permutation calibration may draw orders until their summaries agree well enough. A merge puts first what most summaries
say. So each word has a share: of the summaries, those that have it. The spread is the standard error of all shares
together, over the orders, relative to the length of their vector. More orders are drawn until it is at most the
method's `spread`. No judge is asked: summaries alone decide (our rule; Wan et al., section 5.1, take all orders, and
their code n rotations).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil, inf, sqrt

from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest, failed
from longform.settings.methods import CalibrationMethodSettings
from longform.summaries.methods import PARENT_FAILED, AskStep, Plan, most_orders
from longform.text.words import stems

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
    that failed itself. Steps that *earlier* has a reply to are not asked again.
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


# ---------------------------------------------------------------- drawn orders

_LEAST = 2
"""Summaries of which a spread can be told."""


def spread(texts: Sequence[str]) -> float:
    """
    Return the relative standard error of the shares of summaries that have a word; `inf` for fewer than two summaries.

    With shares p over all words of K summaries it is sqrt(sum p (1 - p) / (K - 1)) / sqrt(sum p^2): 0 if all summaries
    have the same words, 1 for two summaries without a common word.
    """
    return inf if len(texts) < _LEAST else sqrt(_variance(texts) / (len(texts) - 1))


def orders_needed(texts: Sequence[str], bound: float) -> int:
    """Return how many orders bring the spread down to *bound* if further summaries differ as these *texts* do."""
    return len(texts) if spread(texts) <= bound else 1 + ceil(_variance(texts) / bound**2)


def _variance(texts: Sequence[str]) -> float:
    """Return the variance of the shares over single summaries, relative to the square of their length."""
    having = Counter(stem for text in texts for stem in set(stems(text)))
    shares = [count / len(texts) for count in having.values()]
    length = sum(share * share for share in shares)
    return sum(share * (1 - share) for share in shares) / length if length else 0.0


def drawn_replies(
    method: CalibrationMethodSettings,
    n_documents: int,
    plan_of: Callable[..., Plan],
    request: Request,
    read: Read,
) -> Asks[tuple[Plan, dict[str, ChatReply]]]:
    """
    Ask for summaries of drawn orders until they agree, then for their merge; return the plan that was carried out.

    First come `n_orders`, then at a time as many as the spread so far says are missing, `most` at most. A summary that
    failed ends the drawing: its merge fails as that of every method does. The method states a `spread`; *plan_of* makes
    the plan of a number of orders (`n_orders`), the first of which are those of a smaller one.
    """
    assert method.n_orders is not None, "the settings check this"
    assert method.spread is not None, "it is asked for"
    most = most_orders(method, n_documents)
    n_orders, found = min(method.n_orders, most), dict[str, ChatReply]()
    while True:
        plan = plan_of(n_orders=n_orders)
        found = yield from step_replies(plan[:-1], request, read, found)
        texts = [reply.text for reply in found.values() if reply.text is not None]
        needed = min(most, orders_needed(texts, method.spread))
        if len(texts) < n_orders or needed <= n_orders:
            break
        n_orders = needed
    return plan, (yield from step_replies(plan, request, read, found))
