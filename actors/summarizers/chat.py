"""
Summaries written by a chat model: cited bullets (SummHay, section 5.2) or a number of sentences (Wan et al., section
4.1), in one prompt or by a method of several steps (Wan et al., section 5.1).

Table in: rows of `AskedContext`. Table out: `SUMMARIES`. For each row in, in order: one row for every intermediate step
of its method, then the summary itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

from actors.chat.live import carry_out, together
from actors.chat.matrix_executor import MatrixExecutor
from actors.chat.opening import check_chat, versions_of
from actors.storage.benchmark import Benchmark
from actors.summarizers.prompts import SummaryPrompts, check_prompts, prompts_of
from actors.summarizers.summarizer import AskedContext, Means, Summarizer, method_of, summary_row
from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest, failed
from longform.errors import UsageError
from longform.keys import content_key, stable_seed
from longform.rows import SummaryRow
from longform.settings.chat import ChatSummarizerSettings
from longform.settings.methods import MethodSettings
from longform.summaries.methods import EMPTY_SUMMARY, AskStep, Plan, summary_text
from longform.text.reasoning import set_aside

InPlace = dict[int, list[SummaryRow]]
"""Place of a row -> its rows of `SUMMARIES`."""


class RowPlan(NamedTuple):
    """A plan that asks for some rows."""

    shared: str | None  # a key of the beginning that its prompts have in common; None: they may have none
    asks: Asks[InPlace]


class ChatSummarizer(Summarizer[ChatSummarizerSettings]):
    """
    Asks the model for one summary a row, all rows of a call at once within the model's concurrency.

    Rows of one step whose prompts begin alike, as those of the first 1, 2, ... documents do, are a group: the longest
    is asked first, and the server has then read the beginning of the others.

    A row that cannot be summarised stays a row, with the reason in `failure`: that of the model's reply, `no_documents`
    if its context holds none and its prompt shows some, `missing_query`, `missing_document: ID`, `missing_FIELD` if the
    prompt shows a field that the benchmark does not state, `empty_summary` if nothing stands behind the requested
    label, `parent_failed: STEP: reason` if a step of its method failed, `unknown_method: NAME`, or `method_refused:
    MESSAGE`.

    `usage`, cost and seconds of a row are those of its own call. A row's `summary_id` is a hash of its work id, and of
    its step's name if it is not the summary itself.

    Raises:
        UsageError: A prompt cannot be used, before anything is asked.
    """

    def __init__(self, settings: ChatSummarizerSettings, means: Means) -> None:
        super().__init__(settings, means)
        assert means.asking is not None, "a chat model is asked with something"
        self.chat = means.asking.chat
        self._methods = {name: method_of(method) for name, method in means.methods.items()}
        self._prompts = SummaryPrompts(self._benchmark, means.name, settings, means.asking)

    @classmethod
    def check(cls, settings: ChatSummarizerSettings, _benchmark: Benchmark, with_keys: bool, /) -> None:
        check_prompts(settings)
        check_chat(settings.chat, with_key=with_keys)

    @classmethod
    def prompts(cls, settings: ChatSummarizerSettings, method: MethodSettings) -> list[str]:
        return prompts_of(settings, method)

    @classmethod
    def version(cls, settings: ChatSummarizerSettings, method: MethodSettings, prompts: str | None) -> str:
        return versions_of(prompts_of(settings, method), prompts)

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        found = await asyncio.gather(*(self._carried_out(plan) for plan in self.row_plans(rows)))
        in_place = {place: written for of_plan in found for place, written in of_plan.items()}
        return [summary for place in range(len(rows)) for summary in in_place[place]]

    def plans(self, rows: Sequence[AskedContext]) -> Iterable[Asks[list[SummaryRow]]]:
        return (_in_order(plan.asks) for plan in self.row_plans(rows))

    def row_plans(self, rows: Sequence[AskedContext]) -> list[RowPlan]:
        """Return plans that ask for all rows: one for rows of one step that begin alike, one for each other row."""
        alike: dict[tuple[str, str], dict[int, tuple[AskedContext, AskStep]]] = {}
        found: list[RowPlan] = []
        for place, row in enumerate(rows):
            plan = self._plan(row)
            if isinstance(plan, str) or len(plan) > 1:
                found.append(RowPlan(None, self._of_row(place, row, plan)))
            else:
                alike.setdefault((_beginning(row), row["method"]), {})[place] = (row, plan[0])
        return [*(RowPlan(key, self._alike(group)) for (key, _), group in alike.items()), *found]

    async def _carried_out(self, plan: RowPlan) -> InPlace:
        return await carry_out(plan.asks, partial(self._send, plan.shared))

    def _send(self, shared: str | None, requests: Mapping[Name, ChatRequest]) -> Mapping[Name, Awaitable[ChatReply]]:
        if shared is None:
            return {name: self.chat.complete(request) for name, request in requests.items()}
        return together(requests, self._executor.growing_replies(shared, list(requests.values())))

    def _of_row(self, place: int, row: AskedContext, plan: Plan | str) -> Asks[InPlace]:
        if isinstance(plan, str):
            return {place: [summary_row(row, failed(plan), None)]}
        request, read = partial(self._prompts.request, row), partial(self._read, row)
        plan, replies = yield from self._methods[row["method"]].asks(len(row["doc_ids"]), _seed(row), request, read)
        return {place: [self._written(row, step, replies[step.name]) for step in plan]}

    def _alike(self, asked: Mapping[int, tuple[AskedContext, AskStep]]) -> Asks[InPlace]:
        """Ask for rows of one step at once."""
        made = {place: self._prompts.request(row, step, []) for place, (row, step) in asked.items()}
        replies: dict[Name, ChatReply] = {place: failed(why) for place, why in made.items() if isinstance(why, str)}
        new: dict[Name, ChatRequest] = {place: one for place, one in made.items() if isinstance(one, ChatRequest)}
        while len(replies) < len(asked):
            replies |= yield new
            new = {}
        return {
            place: [self._written(row, step, self._read(row, step, replies[place]))]
            for place, (row, step) in asked.items()
        }

    def _written(self, row: AskedContext, step: AskStep, reply: ChatReply) -> SummaryRow:
        return summary_row(row, reply, self._prompts.version(row, step), step)

    def _read(self, row: AskedContext, step: AskStep, reply: ChatReply) -> ChatReply:
        return _unlabelled(reply) if self._prompts.labelled(row, step) else reply

    @cached_property
    def _executor(self) -> MatrixExecutor:
        return MatrixExecutor(self.chat, self._settings.chat)

    def _plan(self, row: AskedContext) -> Plan | str:
        """Return the row's plan, or the reason why it has none."""
        if not row["doc_ids"] and self._prompts.shows_documents(row):
            return "no_documents"
        name = row["method"]
        if name not in self._methods:
            return f"unknown_method: {name}"
        try:
            return self._methods[name].plan(len(row["doc_ids"]), seed=_seed(row))
        except UsageError as error:
            return f"method_refused: {error}"


def _in_order(plan: Asks[InPlace]) -> Asks[list[SummaryRow]]:
    in_place = yield from plan
    return [row for place in sorted(in_place) for row in in_place[place]]


def _seed(row: AskedContext) -> int:
    """Return the context's seed, and not the row's: all models see the same orders."""
    return stable_seed(row["context_id"])


def _beginning(row: AskedContext) -> str:
    """Return a key of the beginning of the row's prompt: the same for the first 1, 2, ... documents in one order."""
    return content_key(row["query_id"], row["doc_ids"][:1])


def _unlabelled(reply: ChatReply) -> ChatReply:
    """Return *reply* without thinking and label, or failed if nothing stands behind it."""
    if reply.text is None:
        return reply
    text = summary_text(set_aside(reply.text).answer)
    return replace(reply, text=text, failure=EMPTY_SUMMARY if text is None else None)
