"""
Count the calls of an evaluation to its chat models, before any of them is made.

The requests are those of the stages' own plans. Replies that the ledger has are read; others are assumed, and so are
the rows made from them: an assumed summary is split into units as a written one is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from actors.chat.opening import Asking
from actors.ledger.ledger import Ledger
from actors.local_models.tokenizer import TokenCounter
from actors.storage.folder import Folder
from jobs.runs.stage_order import passing_failures
from jobs.spending.assumed_texts import AssumedLine, AssumedTexts, WrittenText, marks
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.stages.items import Item, Key, Source, SourceReader, ready
from jobs.stages.stage import Plan, Plans, Stage
from jobs.stages.stations import awaited
from longform.chat.asking import Assume, priced
from longform.chat.call import ChatReply, ChatRequest, call_id, capabilities, failed, refusal_reason
from longform.rows import SummaryRow, TableRow
from longform.settings.chat import ChatSettings
from longform.spending import CountRange

_NOT_ASKED = "not asked yet"
_WITHOUT = "no reply: later calls are counted as if these were not made"
_IN_ORDER = "no ranking: later prompts are counted with documents in the order of the benchmark"
_TEXT = ("step", "text", "failure", "cause")


def calls_to_make(run: Folder, plan: Plan, ledger: Ledger | None) -> list[StageCalls]:
    """
    Count each stage's calls to its model, in their order; a call that two stages make is the first one's.

    *run* has the rows that calls are made from, as far as they are made from no call. Without a *ledger* there are no
    earlier calls.
    """
    return list(_Walk(run, plan, ledger).calls())


class _Walk:
    def __init__(self, run: Folder, plan: Plan, ledger: Ledger | None) -> None:
        self._run, self._plan, self._needed = run, plan, plan.needed_by_calls()
        self._count, self._counter = CallCount(ledger), TokenCounter(threads=1)
        self._held: dict[Source, list[TableRow]] = {}  # rows that the run does not hold
        self._lines: dict[str, AssumedLine] = {}  # of assumed texts, by their marks

    def calls(self) -> Iterator[StageCalls]:
        for stage in self._plan.stages:
            if stage.chat is not None:
                yield self._asked(stage, stage.chat)
            else:
                self._computed(stage)

    def _open(self, stage: Stage[Key]) -> list[Item[Key]]:
        """Return the items that the run does not hold, or will make again."""
        items, there = self._plan.items(stage), self._run.locate(stage.table)
        again = passing_failures(self._run, stage.table, [item.work_id for item in items]) if stage.chat else set()
        made = there.keys() - again
        return [item for item in items if item.work_id not in made or any(one in self._held for one in item.sources)]

    def _given(self, stage: Stage[Key], items: Sequence[Item[Key]]) -> Sequence[Item[Key]]:
        return ready(self._run, stage.name, items, held=self._held.keys())

    def _keep(self, stage: Stage[Key], given: Sequence[Item[Key]], rows: Iterable[TableRow]) -> None:
        """Hold the rows that calls are made from."""
        held = {one.work_id: self._held.setdefault(Source(stage.table, one.work_id), []) for one in given}
        for row in rows:
            held[str(row["work_id"])].append(row)

    # ------------------------------------------------------------ stages that ask no model

    def _computed(self, stage: Stage[Key]) -> None:
        """Make the rows that calls are made from."""
        given = self._given(stage, [item for item in self._open(stage) if item.work_id in self._needed])
        if not given:
            return
        worker = stage.worker(stage.reader(self._held))
        for group in stage.groups(given):
            self._keep(stage, group, awaited(worker(group)))

    # ------------------------------------------------------------ stages that ask one

    def _asked(self, stage: Stage[Key], chat: ChatSettings) -> StageCalls:
        calls, items = self._count.calls(stage.name, chat), self._open(stage)
        asking = Asking(chat=Unasked(chat), prompts_folder=stage.prompts, count_tokens=self._counter.count)
        plans = stage.plans(asking, stage.reader(self._held))
        left = [one for one in self._given(stage, items) if not self._is_paid(stage, calls, plans, one)]
        texts = self._texts(stage, calls, items)
        for one in left:
            needed = one.work_id in self._needed
            usual = partial(_assumed, calls, texts, self._lines, stage.n_lines(one.key), needed=needed)
            assume = partial(_as_stage_says, calls, stage, usual)
            self._carry_out(stage, calls, plans, one, assume)
        return replace(calls, n_paid=len(self._count.paid(calls)))

    def _is_paid(self, stage: Stage[Key], calls: StageCalls, plans: Plans[Key], one: Item[Key]) -> bool:
        """Carry out the plans of an item that asks for a text; return False if the ledger lacks a reply."""
        return stage.n_lines(one.key) > 0 and self._count.reads and self._carry_out(stage, calls, plans, one, None)

    def _carry_out(
        self, stage: Stage[Key], calls: StageCalls, plans: Plans[Key], one: Item[Key], assume: Assume | None
    ) -> bool:
        """Add the calls of an item's plans, and hold its rows; return False if a reply is not there, nor assumed."""
        requests: list[ChatRequest] = []
        rows: list[TableRow] = []
        for plan in plans([one]):
            found = priced(plan, partial(self._count.answered, calls.chat), assume, requests.append)
            if found is None:
                return False
            rows += found
        told = [self._add(calls, request) for request in requests]
        if stage.n_lines(one.key) or one.work_id in self._needed:
            self._keep(stage, [one], rows)
        if stage.n_lines(one.key) and None not in told:
            last = self._held_texts(stage, one.work_id)[-1]
            if last["failure"] is not None:
                self._count.add(calls, last["cause"] or last["failure"])
        return True

    def _held_texts(self, stage: Stage[Key], work_id: str) -> list[SummaryRow]:
        reader = SourceReader(self._run, {stage.table: _TEXT}, self._held)
        return reader.rows(Source(stage.table, work_id), SummaryRow)

    def _add(self, calls: StageCalls, request: ChatRequest) -> str | None:
        """Add a call; its tokens are an interval if assumed texts are in it."""
        if not (assumed := [self._lines[mark] for mark in marks(request) if mark in self._lines]):
            return self._count.add(calls, request)
        counted = self._count.counted(calls, request)
        unit = counted / max(1, request.input_tokens or 1)
        fewer, more = (unit * sum(ends) for ends in zip(*((one.fewer, one.more) for one in assumed), strict=True))
        key = self._count.add(calls, request, tokens=CountRange(counted + fewer, counted, counted + more))
        if key is not None:
            calls.assumed[assumed[0].source] += 1
        return key

    def _texts(self, stage: Stage[Key], calls: StageCalls, items: Sequence[Item[Key]]) -> AssumedTexts:
        """Return what assumes the texts of a stage, from those that are there."""
        left = {item.work_id for item in items}
        n_lines = {item.work_id: stage.n_lines(item.key) for item in self._plan.items(stage)}
        written = [work_id for work_id, n in n_lines.items() if n and work_id not in left]
        batches = self._run.batches(stage.table, work_ids=written, columns=["work_id", *_TEXT]) if written else ()
        rows: list[SummaryRow] = [row for batch in batches for row in batch.to_pylist()]
        held = [work_id for work_id in left if Source(stage.table, work_id) in self._held]
        rows += [row for work_id in held for row in self._held_texts(stage, work_id)]
        found = [WrittenText(n_lines[row["work_id"]], row["text"]) for row in rows if not row["step"] and row["text"]]
        return AssumedTexts(self._counter, stage.name, found, max_tokens=calls.chat.max_tokens)


def _as_stage_says(calls: StageCalls, stage: Stage[Any], usual: Assume, request: ChatRequest) -> ChatReply:
    """Return the reply that a stage assumes, which is noted, or the usual one."""
    text = stage.assumed(request)
    if text is None:
        return usual(request)
    calls.assumed[_IN_ORDER] += 1
    return ChatReply(text=text, failure=None)


def _assumed(
    calls: StageCalls,
    texts: AssumedTexts,
    lines: dict[str, AssumedLine],
    n_lines: int,
    request: ChatRequest,
    *,
    needed: bool,
) -> ChatReply:
    """
    Return the reply that a request is assumed to have: its refusal, a text of so many lines, or none yet.

    None yet is noted if later calls are made from its rows, because they will be made from others.
    """
    reason = refusal_reason(request, capabilities(calls.chat))
    if reason is not None or not n_lines:
        if needed and reason is None:
            calls.assumed[_WITHOUT] += 1
        return failed(reason or _NOT_ASKED)
    text, of_text = texts.text(n_lines, call_id(calls.chat, request))
    lines.update(of_text)
    return ChatReply(text=text, failure=None)
