"""
Count the calls of an evaluation to its chat models, before any of them is made.

The walk makes the requests that the stages would make, from the rows that the run has, and leaves out those that the
ledger can answer. Only the bullets of summaries that are still to be written are assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from actors.chat.opening import Asking
from actors.judges.chat import ChatJudge
from actors.judges.opening import Judge
from actors.ledger.ledger import Ledger
from actors.local_models.tokenizer import TokenCounter
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.summarizers.chat import ChatSummarizer
from actors.summarizers.summarizer import AskedContext
from jobs.runs.retry import passing_failures
from jobs.spending.assumed_summaries import AssumedSummaries, AssumedSummary, WrittenSummary
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.stages.items import Item
from jobs.stages.judge import AskJudge, Judged, of_documents
from jobs.stages.judged_texts import SummaryToJudge, judged_summary, texts_of
from jobs.stages.split import split_text
from jobs.stages.stage import Plan
from jobs.stages.summarize import Summarize, Summarized, asked_context
from longform.chat.asking import Name, priced, reached
from longform.chat.call import ChatReply, ChatRequest, call_id, capabilities, failed, refusal_reason
from longform.judges.kind import Group
from longform.judges.kinds.support import SUPPORT
from longform.judges.matrix import groups_of
from longform.keys import content_key
from longform.rows import ContextRow
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.experiment import Experiment
from longform.spending import Span


class _Written(NamedTuple):
    """A summary: its bullets, or the id of the call that will write them; neither where it fails."""

    bullets: tuple[str, ...] = ()
    call: str | None = None


def calls_to_make(
    run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan, ledger: Ledger | None
) -> list[StageCalls]:
    """
    Count each stage's calls to its model, in their order; a call that two stages make is the first one's.

    Args:
        run: With contexts, and with what summaries and verdicts it has.
        benchmark: Of the run.
        experiment: Of the run.
        plan: The work it means.
        ledger: Holds earlier calls; None if there are none.
    """
    walk = _Walk(run, benchmark, experiment, plan, ledger)
    return [*walk.summarizers(), *walk.judges(), *walk.support_judges()]


class _Walk:
    def __init__(
        self, run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan, ledger: Ledger | None
    ) -> None:
        self._run, self._benchmark, self._experiment, self._plan = run, benchmark, experiment, plan
        self._count = CallCount(ledger)
        self._counter = TokenCounter(threads=1)
        self._usual: dict[str, AssumedSummaries] = {}  # by summarizer
        self._wanted = {item.work_id: item for item in plan.of(Summarized)}
        self._written = dict(self._existing())
        self._judged = self._judged_before(plan.of(Judged))

    def _existing(self) -> Iterator[tuple[str, _Written]]:
        made_again = passing_failures(self._run, "summaries", self._wanted)
        kept = self._wanted.keys() - made_again
        for batch in self._run.batches("summaries", work_ids=kept, columns=["work_id", "step", "text"]):
            for row in batch.to_pylist():
                if row["step"] is None:
                    yield row["work_id"], _Written(self._units(row["text"]))

    def _units(self, text: str | None) -> tuple[str, ...]:
        return tuple(unit.text for unit in split_text(text or "", self._experiment.units))

    def _asking(self, chat: ChatSettings) -> Asking:
        return Asking(chat=Unasked(chat), prompts_folder=self._experiment.prompts, count_tokens=self._counter.count)

    def _judged_before(self, wanted: Sequence[Item[Judged]]) -> set[str]:
        made_again = passing_failures(self._run, "verdicts", [item.work_id for item in wanted])
        of_kept = {item.work_id for item in wanted if item.key.summary in self._written}
        return (of_kept & self._run.locate("verdicts").keys()) - made_again

    # ------------------------------------------------------------ summarize

    def summarizers(self) -> Iterator[StageCalls]:
        for stage in self._plan.stages:
            if isinstance(stage, Summarize) and isinstance(stage.settings, ChatSummarizerSettings):
                yield self._summarizer(stage, stage.settings)

    def _summarizer(self, stage: Summarize, settings: ChatSummarizerSettings) -> StageCalls:
        calls = self._count.calls(stage.name, settings.chat)
        summarizer = ChatSummarizer(
            self._benchmark.folder.url,
            stage.summarizer,
            settings,
            self._asking(settings.chat),
            methods=stage.methods,
        )
        wanted = [item for item in self._plan.items(stage) if item.work_id not in self._written]
        for row in self._context_rows(wanted):
            self._written[row["work_id"]] = self._add_row(calls, summarizer, row)
        return replace(calls, n_paid=len(self._count.paid(calls)))

    def _add_row(self, calls: StageCalls, summarizer: ChatSummarizer, row: AskedContext) -> _Written:
        """Add the calls of a row's method; the texts that a step reads are the ledger's, else assumed."""
        assumed = AssumedSummaries(self._counter, row["summarizer"], [], max_tokens=calls.chat.max_tokens)
        text = assumed.summary(row["n_requested"], "word")
        keys: list[str | None] = []

        def note(name: Name, request: ChatRequest, guessed: bool) -> None:
            if not guessed:
                keys.append(self._count.add(calls, request))
                return
            counted, expected = self._count.counted(calls, request), text.tokens.expected or 0.0
            tokens = Span(counted - expected + text.tokens.low, counted, counted + text.tokens.high)
            key = content_key("assumed step", row["work_id"], name)
            keys.append(self._count.add(calls, request, key=key, tokens=tokens))
            calls.assumed[text.source] += 1

        def assume(request: ChatRequest) -> ChatReply:
            reason = refusal_reason(request, capabilities(calls.chat))
            return failed(reason) if reason else ChatReply(text="\n".join(text.bullets), failure=None)

        (plan,) = summarizer.plans([row])
        rows, guessed = priced(plan.asks, partial(self._count.answered, calls.chat), assume, note)
        (*_, summary), told = rows[0], None in keys
        if summary["failure"] is not None:
            if not told:
                self._count.add(calls, summary["cause"] or summary["failure"])
            return _Written()
        return _Written(call=keys[-1]) if guessed else _Written(self._units(summary["text"]))

    def _context_rows(self, wanted: Sequence[Item[Summarized]]) -> Iterator[AskedContext]:
        """The rows that the summarizer will be given, a haystack after the other."""
        of_context: dict[str, list[Item[Summarized]]] = {}
        for item in wanted:
            of_context.setdefault(item.sources[0].work_id, []).append(item)
        for batch in self._run.batches("contexts", work_ids=of_context):
            for context in batch.to_pylist():
                for item in of_context[context["work_id"]]:
                    yield asked_context(context, item.work_id, item.key)

    # ------------------------------------------------------------ judge

    def judges(self) -> Iterator[StageCalls]:
        for stage in self._plan.stages:
            if isinstance(stage, AskJudge) and stage.chat is not None and not of_documents(stage.kind):
                yield self._judge(stage, stage.chat)

    def _asker(self, made: Judge, chat: ChatSettings) -> ChatJudge:
        assert made.asking is not None, "a judge with a model asks it"
        return made.asking(self._asking(chat))

    def _judge(self, stage: AskJudge, chat: ChatSettings) -> StageCalls:
        calls, made = self._count.calls(stage.name, chat), stage.made()
        judge = self._asker(made, chat)
        for judged in self._plan.items(stage):
            if judged.work_id in self._judged:
                continue
            wanted = self._wanted[judged.key.summary]
            written = self._written.get(wanted.work_id, _Written())
            if written.call is not None:
                assumed = self._assumed(wanted.key)
                requests = judge.requests(self._groups(made, wanted, assumed.bullets))
                self._add_assumed(calls, requests, assumed, written.call)
            elif written.bullets:
                plan = judge.plan(self._groups(made, wanted, written.bullets))
                for request in reached(plan, partial(self._count.answered, chat)):
                    self._count.add(calls, request)
        return replace(calls, n_paid=len(self._count.paid(calls)))

    def _groups(self, made: Judge, wanted: Item[Summarized], bullets: Sequence[str]) -> list[Group]:
        item: SummaryToJudge = {
            "work_id": wanted.work_id,
            "summary_id": content_key(wanted.work_id),
            "query_id": wanted.key.query_id,
            "haystack_id": self._benchmark.queries[wanted.key.query_id].haystack_id,
            "failure": None,
        }
        return groups_of(made.kind, judged_summary(made.kind, item, bullets, self._benchmark))

    def _add_assumed(
        self, calls: StageCalls, requests: Sequence[ChatRequest], assumed: AssumedSummary, summary_call: str
    ) -> None:
        _, counted, _ = assumed.tokens
        for request in requests:
            # two summaries of one query are assumed alike, and asked about apart
            key = content_key("assumed", summary_call, call_id(calls.chat, request))
            tokens = self._count.counted(calls, request)
            unit = tokens / max(1, request.input_tokens or 1)
            low, high = ((end - (counted or 0)) * unit for end in (assumed.tokens.low, assumed.tokens.high))
            if self._count.add(calls, request, key=key, tokens=Span(tokens + low, tokens, tokens + high)) is not None:
                calls.assumed[assumed.source] += 1

    def _assumed(self, wanted: Summarized) -> AssumedSummary:
        if wanted.summarizer not in self._usual:
            settings = self._experiment.summarizers[wanted.summarizer]
            assert isinstance(settings, ChatSummarizerSettings), "only chat summarizers leave summaries to be written"
            self._usual[wanted.summarizer] = AssumedSummaries(
                self._counter,
                wanted.summarizer,
                list(self._summaries_of(wanted.summarizer)),
                max_tokens=settings.chat.max_tokens,
            )
        targets = self._benchmark.targets.get(wanted.query_id, [])
        return self._usual[wanted.summarizer].summary(wanted.n_requested, " ".join(target.text for target in targets))

    def _summaries_of(self, summarizer: str) -> Iterator[WrittenSummary]:
        for work_id, written in self._written.items():
            wanted = self._wanted[work_id].key
            if wanted.summarizer == summarizer and written.bullets:
                yield WrittenSummary(wanted.n_requested, written.bullets)

    # ------------------------------------------------------------ check

    def support_judges(self) -> Iterator[StageCalls]:
        for stage in self._plan.stages:
            if isinstance(stage, AskJudge) and stage.chat is not None and of_documents(stage.kind):
                yield self._support_judge(stage, stage.chat)

    def _support_judge(self, stage: AskJudge, chat: ChatSettings) -> StageCalls:
        calls = self._count.calls(stage.name, chat)
        judge = self._asker(stage.made(), chat)
        checks = [item.key for item in self._plan.items(stage) if item.work_id not in self._judged]
        packed = self._run.read("contexts", work_ids={checked.context or "" for checked in checks}).to_pylist()
        contexts = {row["work_id"]: row for row in packed}
        for checked in checks:
            if (packed_row := contexts.get(checked.context)) is not None:
                self._add_checks(calls, judge, checked, packed_row)
        return replace(calls, n_paid=len(self._count.paid(calls)))

    def _add_checks(self, calls: StageCalls, judge: ChatJudge, checked: Judged, packed: ContextRow) -> None:
        documents = {d.doc_id: d.text for d in self._benchmark.documents(packed["haystack_id"])}
        written = self._written.get(checked.summary, _Written())
        for shown in texts_of(packed, documents, self._experiment.faithfulness.mode):
            text = shown.text
            if not text.strip():
                continue  # nothing is asked about a text that says nothing
            plan = judge.plan([_group(text, map(SUPPORT.unit, written.bullets))])
            for request in reached(plan, partial(self._count.answered, calls.chat)):
                self._count.add(calls, request)
            if written.call is not None:
                self._add_assumed_checks(calls, judge, checked, text, written.call)

    def _add_assumed_checks(
        self, calls: StageCalls, judge: ChatJudge, checked: Judged, text: str, summary_call: str
    ) -> None:
        assumed = self._assumed(self._wanted[checked.summary].key)
        (request,) = judge.requests([_group(text, assumed.bullets[:1])])
        counted, (low, expected, high) = self._count.counted(calls, request), assumed.tokens
        less, more = ((end - (expected or 0.0)) / len(assumed.bullets) for end in (low, high))
        for place in range(len(assumed.bullets)):
            key = content_key("assumed", summary_call, content_key(text), place)
            tokens = Span(counted + less, counted, counted + more)
            if self._count.add(calls, request, key=key, tokens=tokens) is not None:
                calls.assumed[assumed.source] += 1


def _group(text: str, sentences: Iterable[str]) -> Group:
    return Group(content_key(text), (text,), tuple(sentences))
