"""
Count the calls of an evaluation to its chat models, before any of them is made.

The requests are those of the stages' own plans, carried out as a run does. Replies that the ledger has are read; others
are assumed, and so are the rows made from them: an assumed summary is split into units as a written one is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from actors.chat.opening import Asking
from actors.ledger.ledger import Ledger
from actors.local_models.tokenizer import TokenCounter
from actors.storage.folder import Folder
from jobs.runs.stage_order import made_again
from jobs.spending.assumed_texts import AssumedLine, AssumedTexts, WrittenText, marks
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.stages.items import Item, Key, Source, SourceReader, ready
from jobs.stages.stage import Plan, Plans, Stage
from jobs.stages.stations import awaited
from longform.chat.asking import Assume, Recorded, UnansweredError, carry_out
from longform.chat.call import ChatReply, ChatRequest, call_id, capabilities, failed, refusal_reason
from longform.rows import SummaryRow, TableRow
from longform.settings.chat import ChatSettings
from longform.spending import CountRange

_NOT_ASKED = "not asked yet"
_WITHOUT = "no reply: later calls are counted as if these were not made"
_IN_ORDER = "no ranking: later prompts are counted with documents in the order of the benchmark"


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
        self._again, _ = made_again(run, plan)
        self._held: dict[Source, list[TableRow]] = {}  # rows that the run does not hold
        self._lines: dict[str, AssumedLine] = {}  # of assumed texts, by their marks

    def calls(self) -> Iterator[StageCalls]:
        for stage in self._plan.stages:
            if stage.chat is not None:
                yield asyncio.run(self._asked(stage, stage.chat))
            else:
                self._computed(stage)

    def _open(self, stage: Stage[Key]) -> list[Item[Key]]:
        """Return the items that the run does not hold, or will make again."""
        there = self._run.locate(stage.table).keys() - self._again[stage.table]
        return [item for item in self._plan.items(stage) if item.work_id not in there]

    def _keep(self, stage: Stage[Key], given: Sequence[Item[Key]], rows: Iterable[TableRow]) -> None:
        """Hold the rows that calls are made from."""
        held = {one.work_id: self._held.setdefault(Source(stage.table, one.work_id), []) for one in given}
        for row in rows:
            held[str(row["work_id"])].append(row)

    def _computed(self, stage: Stage[Key]) -> None:
        """Make the rows of a stage that asks no model, if calls are made from them."""
        needed = [item for item in self._open(stage) if item.work_id in self._needed]
        given = ready(self._run, stage.name, needed, held=self._held.keys())
        if not given:
            return
        worker = stage.worker(stage.reader(self._held))
        for group in stage.groups(given):
            self._keep(stage, group, awaited(worker(group)))

    async def _asked(self, stage: Stage[Key], chat: ChatSettings) -> StageCalls:
        """Count the calls of a stage; texts that it has still to write are assumed to be like those that are there."""
        calls, items = self._count.calls(stage.name, chat), self._open(stage)
        asking = Asking(chat=Unasked(chat), prompts_folder=stage.prompts, count_tokens=self._counter.count)
        plans = stage.plans(asking, stage.reader(self._held))
        carried_out = partial(self._carry_out, stage, calls, plans)
        left = [
            one
            for one in ready(self._run, stage.name, items, held=self._held.keys())
            if not (self._count.reads and stage.n_lines(one.key) and await carried_out(one, None))
        ]
        texts = self._texts(stage, calls, items)
        for one in left:
            assume = partial(self._assumed, stage, calls, texts, one)
            if (n := await carried_out(one, assume)) > 1 and stage.n_lines(one.key):
                await self._add_further(calls, plans, one, n, partial(assume, apart=True))
        return calls

    async def _carry_out(
        self, stage: Stage[Key], calls: StageCalls, plans: Plans[Key], one: Item[Key], assume: Assume | None
    ) -> int:
        """
        Add the calls of an item's plans, and hold its rows.

        Return how many requests there are; none, and nothing is added, if a reply is neither there nor assumed.
        """
        recorded = Recorded(partial(self._count.answered, calls.chat), assume)
        try:
            rows = [row for plan in plans([one]) for row in await carry_out(plan, recorded.answer)]
        except UnansweredError:
            return 0
        told = [self._add(calls, request) for request in recorded.asked]
        if stage.n_lines(one.key) or one.work_id in self._needed:
            self._keep(stage, [one], rows)
        if stage.n_lines(one.key) and None not in told and (failure := rows[-1]["failure"]) is not None:
            self._count.add(calls, str(rows[-1]["cause"] or failure))
        return len(recorded.asked)

    async def _add_further(self, calls: StageCalls, plans: Plans[Key], one: Item[Key], n: int, assume: Assume) -> None:
        """Add the calls that an item's plans make beyond *n* if no two texts have a word in common."""
        recorded = Recorded(partial(self._count.answered, calls.chat), assume)
        for plan in plans([one]):
            await carry_out(plan, recorded.answer)
        for request in recorded.asked if len(recorded.asked) > n else ():
            self._count.add_further(calls, request, self._span(calls, request))

    def _add(self, calls: StageCalls, request: ChatRequest) -> str | None:
        """Add a call; its tokens are an interval if assumed texts are in it."""
        key = self._count.add(calls, request, tokens=self._span(calls, request))
        if key is not None and (assumed := self._assumed_lines(request)):
            calls.assumed[assumed[0].source] += 1
        return key

    def _span(self, calls: StageCalls, request: ChatRequest) -> CountRange:
        """Return the tokens of a request, each assumed line as short and as long as it may be."""
        counted, assumed = self._count.counted(calls, request), self._assumed_lines(request)
        unit = counted / max(1, request.input_tokens or 1)
        fewer, more = (unit * sum(ends) for ends in ([one.fewer for one in assumed], [one.more for one in assumed]))
        return CountRange(counted + fewer, counted, counted + more)

    def _assumed_lines(self, request: ChatRequest) -> list[AssumedLine]:
        return [self._lines[mark] for mark in marks(request) if mark in self._lines]

    def _texts(self, stage: Stage[Key], calls: StageCalls, left: Sequence[Item[Key]]) -> AssumedTexts:
        """Return what assumes the texts of a stage, from those that the run or the ledger has."""
        reader = SourceReader(self._run, {stage.table: ("step", "text")}, self._held)
        n_lines = {Source(stage.table, item.work_id): stage.n_lines(item.key) for item in self._plan.items(stage)}
        lacking = {Source(stage.table, item.work_id) for item in left} - self._held.keys()
        there = [(n, reader.rows(source, SummaryRow)) for source, n in n_lines.items() if n and source not in lacking]
        found = [WrittenText(n, row["text"]) for n, rows in there for row in rows if not row["step"] and row["text"]]
        return AssumedTexts(self._counter, stage.name, found, max_tokens=calls.chat.max_tokens)

    def _assumed(
        self,
        stage: Stage[Key],
        calls: StageCalls,
        texts: AssumedTexts,
        one: Item[Key],
        request: ChatRequest,
        *,
        apart: bool = False,  # the text has no word in common with another
    ) -> ChatReply:
        """
        Return the reply that is assumed: the stage's, a refusal, a text of so many lines, or none yet.

        None yet is noted if later calls are made from its rows, because they will be made from others.
        """
        if (text := stage.assumed(request)) is not None:
            calls.assumed[_IN_ORDER] += 1
            return ChatReply(text=text, failure=None)
        reason, n_lines = refusal_reason(request, capabilities(calls.chat)), stage.n_lines(one.key)
        if reason is not None or not n_lines:
            if reason is None and one.work_id in self._needed:
                calls.assumed[_WITHOUT] += 1
            return failed(reason or _NOT_ASKED)
        text, lines = texts.text(n_lines, call_id(calls.chat, request), apart=apart)
        self._lines |= lines
        return ChatReply(text=text, failure=None)
