"""
Methods of summarising as plans: the prompts, the documents each shows, and the replies each reads.

Wan et al., On Positional Bias of Faithfulness for Long-form Summarization, section 5.1. A plan is a value: it asks
nothing, and one executor runs them all. Documents are named by their places in the context, from 0; steps that belong
to one document, order or pair carry its number, from 1. Replies to `Summary: ...` (appendix D) are read our way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest, failed
from longform.settings.methods import (
    CondensedMethodSettings,
    FocusMethodSettings,
    HierarchicalMethodSettings,
    IncrementalMethodSettings,
    PlainMethodSettings,
)
from longform.settings.strict import PartSettings

Task = Literal["summarize", "merge", "update", "snippets", "summaries"]
Place = Literal["top", "middle", "bottom"]

FINAL = "final"
"""The name of the step whose text is the summary."""

PARENT_FAILED = "parent_failed"
"""Begins the failure of a step that would have read a failed one: `parent_failed: STEP: reason`."""


class AskStep(NamedTuple):
    """One call."""

    name: str  # unique in its plan; `final` for the last one
    task: Task  # a summary of documents, of summaries, or of a summary and a document; or one document condensed
    documents: tuple[int, ...] = ()  # places of the documents it shows, in prompt order; a merge shows none
    # steps whose texts it reads, in prompt order; a summary of documents shows these in the place of the documents
    parents: tuple[str, ...] = ()
    focus: Place | None = None  # the place that the model is told to look at; None: not told


Plan = tuple[AskStep, ...]
"""Each step reads only steps before it; the last one is the summary."""

Request = Callable[[AskStep, Sequence[str]], ChatRequest | str]
"""A step and its parents' texts, in their order -> its request, or the reason why there is none."""

Read = Callable[[AskStep, ChatReply], ChatReply]
"""A step and its reply -> the reply whose text is the step's."""

Replies = dict[str, ChatReply]
"""Step -> its reply."""

Settings = TypeVar("Settings", bound=PartSettings)


class Method(Generic[Settings]):
    """A method of summarising; every document is shown at least once."""

    least = 2  # documents for which there are several steps; fewer are summarised in one step
    focus: Place | None = None  # the place that the model is told to look at; None: not told
    other_task: Task | None = None  # the task of its steps that do not summarise documents; None: it has none
    refuses_many = False  # documents can be too many for it

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def plan(self, n_documents: int, *, seed: int = 0) -> Plan:
        """
        Return the steps on a context of so many documents; *seed* is the context's, by which orders are drawn.

        Raises:
            UsageError: The method refuses so many documents.
        """
        return self.steps(n_documents, seed) if n_documents >= self.least else Method.steps(self, n_documents, seed)

    def steps(self, n_documents: int, _seed: int, /) -> Plan:
        """Return the steps on at least as many documents as there are several for: one prompt over all, if none are."""
        return (AskStep(FINAL, "summarize", tuple(range(n_documents)), focus=self.focus),)

    def asks(self, n_documents: int, seed: int, request: Request, read: Read) -> Asks[tuple[Plan, Replies]]:
        """Ask for the steps on a context; return the plan that was carried out, and the replies to its steps."""
        plan = self.plan(n_documents, seed=seed)
        return plan, (yield from step_replies(plan, request, read))


class Plain(Method[PlainMethodSettings]):
    """Asks one prompt over all documents."""


class Focus(Method[FocusMethodSettings]):
    """Asks the plain prompt, and says which place to look at."""

    def __init__(self, settings: FocusMethodSettings) -> None:
        super().__init__(settings)
        self.focus = settings.at


class Condensed(Method[CondensedMethodSettings]):
    """Has each document condensed first; a single one, too."""

    least = 1

    def __init__(self, settings: CondensedMethodSettings) -> None:
        super().__init__(settings)
        self.other_task = settings.to

    def steps(self, n_documents: int, _seed: int, /) -> Plan:
        steps = [AskStep(f"document-{place + 1}", self.settings.to, (place,)) for place in range(n_documents)]
        return (*steps, AskStep(FINAL, "summarize", tuple(range(n_documents)), tuple(step.name for step in steps)))


class Hierarchical(Method[HierarchicalMethodSettings]):
    """Summarises each document, and merges the summaries two at a time, or all at once."""

    other_task = "merge"

    def steps(self, n_documents: int, _seed: int, /) -> Plan:
        first = [AskStep(f"document-{place + 1}", "summarize", (place,)) for place in range(n_documents)]
        return pairwise(first) if self.settings.merge == "pairwise" else merged(first)


class Incremental(Method[IncrementalMethodSettings]):
    """Updates a summary of the first document with each next one."""

    other_task = "update"

    def steps(self, n_documents: int, _seed: int, /) -> Plan:
        names = ["document-1", *(f"update-{number}" for number in range(2, n_documents)), FINAL]
        updates = (AskStep(names[place], "update", (place,), (names[place - 1],)) for place in range(1, n_documents))
        return (AskStep(names[0], "summarize", (0,)), *updates)


# ---------------------------------------------------------------- merges


def merged(steps: Sequence[AskStep]) -> Plan:
    """Return *steps* and one that merges them all."""
    return (*steps, AskStep(FINAL, "merge", parents=tuple(step.name for step in steps)))


def pairwise(first: Sequence[AskStep]) -> Plan:
    """Return the *first* steps and those that merge two at a time, until one is left."""
    steps, waiting = list(first), [step.name for step in first]
    n_rounds = 0
    while len(waiting) > 1:
        n_rounds += 1
        pairs = [tuple(waiting[start : start + 2]) for start in range(0, len(waiting), 2)]
        waiting = []
        for number, pair in enumerate(pairs, 1):
            if len(pair) == 1:
                waiting.append(pair[0])
                continue
            waiting.append(FINAL if len(pairs) == 1 else f"merge-{n_rounds}-{number}")
            steps.append(AskStep(waiting[-1], "merge", parents=pair))
    return tuple(steps)


# ---------------------------------------------------------------- asking


def step_replies(plan: Plan, request: Request, read: Read, earlier: Replies | None = None) -> Asks[Replies]:
    """
    Ask the steps of a plan, but for those with an *earlier* reply; map each name to its reply, in the plan's order.

    A step that would read a failed one is not asked: it fails with `parent_failed: STEP: reason`, where STEP is the one
    that failed itself.
    """
    steps = {step.name: step for step in plan}
    found = {name: reply for name, reply in (earlier or {}).items() if name in steps}
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


def _failed_parent(step: AskStep, found: Replies) -> ChatReply | None:
    """Return the failure of a step that would have read a failed one; None if all that it reads are there."""
    for parent in step.parents:
        reply = found[parent]
        if reply.failure is not None and reply.cause is not None:
            return ChatReply(text=None, failure=reply.failure, cause=reply.cause)
        if reply.failure is not None:
            return ChatReply(text=None, failure=f"{PARENT_FAILED}: {parent}: {reply.failure}", cause=reply.failure)
    return None


USUAL_BULLETS = 7
"""SummHay's 92 queries have 6.75 insights on average. The offline writer takes it, too, if no number is told."""

OWN_BULLETS = 8
"""Asked for if a query has nothing that its summary ought to say, and the configuration names no number."""

EMPTY_SUMMARY = "empty_summary"
"""The failure of a reply with nothing behind its label."""

_LABEL = re.compile(r"^[ \t]*(?:\"\"\"|''')?[ \t]*[*_#]*[ \t]*summary[*_]*[ \t]*:[*_]*", re.IGNORECASE | re.MULTILINE)
_QUOTES = ('"""', "'''")


def summary_text(reply: str) -> str | None:
    """
    Return the text behind the first line that begins with the label, or the whole *reply* if no line does.

    Triple quotes around it are taken off. Return None if nothing is left. The released code takes the label off
    anywhere and keeps the text before it; here an introduction is no sentence of the summary.
    """
    label = _LABEL.search(reply)
    text = (reply if label is None else reply[label.end() :]).strip()
    for quotes in _QUOTES:
        text = text.removeprefix(quotes).removesuffix(quotes).strip()
    return text or None
