"""
A judge of a summary's targets against people's labels of them: its verdicts on them, and its card.

Reads   summaries, queries, targets and labels of a benchmark
Writes  `verdicts` into the folder that `--run` names, where they are found again; else they are kept for the command
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from actors.chat.call_context import CallContext
from actors.chat.opening import Asking, check_chat
from actors.judges.chat import ChatJudge
from actors.judges.opening import Judge, make_judge
from actors.judges.rows import judged_rows
from actors.local_models.tokenizer import TokenCounter
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calling import Calling, open_rows
from jobs.cluster import Cluster
from jobs.runs.retry import passing_failures
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.spending.plan import opened_ledger, plan_document
from jobs.stages.items import Row
from jobs.stages.judged_texts import SummaryToJudge, judged_summary
from jobs.stages.runner import PlainStage, Task, run_stage
from longform.chat.call import ChatRequest, call_id
from longform.errors import UsageError
from longform.judges.cards import held_out_rows, judged_by
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.judges.lexical_coverage import shipped_judge
from longform.judges.matrix import JudgedText, groups_of
from longform.judges.mean import mean_rows
from longform.judges.target_cards import LabelledTarget, target_card
from longform.keys import content_key
from longform.settings.chat import ChatSettings
from longform.settings.judges import JudgeSettings, judge_scale
from longform.text.citations import bullets

RELEASED = "released:"
"""Begins the name of an annotator that is a model, whose labels a benchmark ships as predictions."""

_RELEASED_COST_USD = {
    "released:gemini-1.5-pro": 15.1,
    "released:gpt-4o-9fs": 26.1,
    "released:gpt-4o": 6.9,
    "released:claude3-opus": 23.8,
    "released:claude3-haiku": 0.4,
    "released:gpt3.5": 1.3,
}
"""For the study's 200 summaries (SummHay, table 1)."""

Answers = Mapping[tuple[str, str], Mapping[str, Any]]
"""(summary id, target id) -> verdict."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """
    A judge of insights, key points or references, and the labels that it is held against.

    Attributes:
        bench_url: The benchmark with the labels.
        judge: `released:NAME`, or the name of one of `judges`.
        judges: How judges are made.
        prompts: A folder whose files replace ours of the same name.
        annotators: Whose labels; none: those of all annotators but `released:NAME`.
        seed: Of the intervals.
        resamples: Of each interval.
    """

    bench_url: str
    judge: str
    judges: Mapping[str, JudgeSettings]
    prompts: str | None = None
    annotators: tuple[str, ...] = ()
    seed: int = 1
    resamples: int = 2000

    @cached_property
    def benchmark(self) -> Benchmark:
        return Benchmark(self.bench_url)

    @cached_property
    def all_labels(self) -> list[Row]:
        """Return the labels of the targets that such judges judge."""
        rows = self.benchmark.folder.read("labels").to_pylist()
        return [row for row in rows if row["target_kind"] == self.kind.targets]

    @property
    def kind(self) -> Kind:
        """Name the task of the judge; a judge whose predictions a release ships judges coverage."""
        judge = self.judges.get(self.judge)
        return KINDS["coverage" if judge is None else judge.task]

    @cached_property
    def labels(self) -> list[Row]:
        """
        The labels that the judge is held against.

        Raises:
            UsageError: There are none.
        """
        there = sorted({row["annotator"] for row in self.all_labels})
        wanted = self.annotators or tuple(name for name in there if not name.startswith(RELEASED))
        if missing := [name for name in wanted if name not in there]:
            raise UsageError(f"{self.bench_url}: expected labels of annotator {missing[0]!r}, found {there}")
        if not wanted:
            raise UsageError(f"{self.bench_url}: expected people's labels of {self.kind.task}, found labels of {there}")
        return [row for row in self.all_labels if row["annotator"] in wanted]

    @cached_property
    def summaries(self) -> dict[str, Row]:
        """Summary id -> row, of the summaries with labels, in the labels' order."""
        rows = {row["summary_id"]: row for row in self.benchmark.folder.read("summaries").to_pylist()}
        return {label["summary_id"]: rows[label["summary_id"]] for label in self.labels}

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The judges behind the judge: those that it is the mean of, else itself."""
        judge = self.judges.get(self.judge)
        return judge.members if judge is not None and judge.members else (self.judge,)

    @property
    def chat_judges(self) -> dict[str, ChatSettings]:
        """The members that ask a model, with that model."""
        found = {name: self.judges[name].asked_model for name in self.members if name in self.judges}
        return {name: chat for name, chat in found.items() if chat is not None}

    def made(self, name: str) -> Judge:
        return make_judge(name, self.judges, prompts=self.prompts)

    def work_ids(self, name: str) -> dict[str, str]:
        """Summary id -> work id of the verdicts of the member *name*."""
        judge = self.made(name)
        how = (self.benchmark.manifest["dataset_hash"], name, judge.settings.identity, judge.version.work)
        return {summary_id: content_key("labelled", *how, summary_id) for summary_id in self.summaries}


def calibrate(calibration: Calibration, *, run: Folder, cluster: Cluster, calling: Calling) -> dict[str, Any]:
    """
    The card of the judge, as JSON values.

    Args:
        calibration: The judge and the labels.
        run: Where verdicts of judges that ask a model are, and are found.
        cluster: Where these judges run; it is not started for the others.
        calling: Where calls are recorded, and what they may cost.

    Raises:
        UsageError: There are no labels or predictions, or the judge cannot be used.
        BudgetReachedError: The command may not spend what is left to do.
    """
    _check_labels(calibration)
    _ask_models(calibration, run=run, cluster=cluster, calling=calling)
    given = {name: _member_answers(calibration, name, run, calling) for name in calibration.members}
    fitted = frozenset(haystack for name in calibration.members for haystack in _fitted_haystacks(calibration, name))
    settings = {"seed": calibration.seed, "resamples": calibration.resamples}
    labelled = list(_labelled(calibration, _answers(calibration, given)))
    card = target_card(labelled, calibration.summaries, fitted_haystacks=fitted, settings=settings)
    made = {one: calibration.made(one) for one in calibration.members if one in calibration.judges}
    versions = {one: judge.version for one, judge in made.items()}
    return {
        "kind": calibration.kind.task,
        "judge": calibration.judge,
        "judged_by": judged_by(calibration.judge, calibration.judges, versions),
        "scale": judge_scale(calibration.judge, calibration.judges),
        **card,
        **_held_out(calibration, card),
        "cost": _cost(calibration, given, calling),
    }


def _check_labels(calibration: Calibration) -> None:
    if not calibration.labels:
        raise UsageError(f"{calibration.bench_url}: expected labels of {calibration.kind.task}, found none")
    for name in calibration.members:
        if name not in calibration.judges:
            _released_answers(calibration, name)


def plan_calibration(calibration: Calibration, *, run: Folder, calling: Calling, workers: int) -> dict[str, Any]:
    """Plan the calls of chat models and what they will take; nothing is asked, and no key is needed."""
    for chat in calibration.chat_judges.values():
        check_chat(chat, with_key=False)
    _check_labels(calibration)
    with opened_ledger(calling) as ledger:
        count = CallCount(ledger)
        found = [_planned(calibration, name, chat, run, count) for name, chat in calibration.chat_judges.items()]
    return plan_document(found, calling=calling, workers=workers)


def _planned(calibration: Calibration, name: str, chat: ChatSettings, run: Folder, count: CallCount) -> StageCalls:
    calls = count.calls(f"judge {name}", chat)
    work_ids = calibration.work_ids(name)
    done = run.locate("verdicts").keys() - passing_failures(run, "verdicts", work_ids.values())
    todo = [summary_id for summary_id, work_id in work_ids.items() if work_id not in done]
    summaries = (calibration.summaries[summary_id] for summary_id in todo)
    for request in _requests(calibration, name, chat, summaries):
        count.add(calls, request)
    return replace(calls, n_paid=len(count.paid(calls)))


def _requests(
    calibration: Calibration, name: str, chat: ChatSettings, summaries: Iterable[Row]
) -> Iterator[ChatRequest]:
    counter = TokenCounter(threads=1)
    asking = Asking(chat=Unasked(chat), prompts_folder=calibration.prompts, count_tokens=counter.count)
    made = calibration.made(name)
    assert made.asking is not None, "a judge with a model asks it"
    asker: ChatJudge = made.asking(asking)
    for summary in summaries:
        yield from asker.requests(groups_of(made.kind, _judged(made, summary, calibration.benchmark)))


# ---------------------------------------------------------------- asking models


def _ask_models(calibration: Calibration, *, run: Folder, cluster: Cluster, calling: Calling) -> None:
    if not calibration.chat_judges:
        return
    for chat in calibration.chat_judges.values():
        check_chat(chat)
    calling.check_prices(list(calibration.chat_judges.values()))
    for name in calibration.chat_judges:
        work_ids = calibration.work_ids(name)
        if failed := passing_failures(run, "verdicts", work_ids.values()):
            run.forget("verdicts", sorted(failed))
        done = run.locate("verdicts")
        tasks = [
            Task(work_ids=(work_id,), payload={"work_id": work_id, "summary_id": summary_id})
            for summary_id, work_id in work_ids.items()
            if work_id not in done
        ]
        if tasks:
            cluster.start()
            calling.start()
        stage = _stage(calibration, name, calibration.judges[name], run, calling)
        run_stage(run, stage, len(work_ids), tasks, cluster=cluster)


def _stage(calibration: Calibration, name: str, judge: JudgeSettings, run: Folder, calling: Calling) -> PlainStage:
    """Return the stage that asks about labelled summaries, in place of a run's."""
    bench_url, prompts = calibration.bench_url, calibration.prompts
    context = calling.context(f"judge {name}")
    return PlainStage(
        name=f"judge {name}",
        table="verdicts",
        identity=content_key(run.url, bench_url, name, judge.model_dump(), prompts),
        make_worker=partial(_worker, bench_url, name, judge, prompts=prompts, context=context),
        holds_model=True,
        asynchronous=True,
        slots=open_rows(calibration.chat_judges[name]),
    )


def _worker(bench_url: str, name: str, settings: JudgeSettings, *, prompts: str | None, context: CallContext) -> Any:
    judge, benchmark = make_judge(name, {name: settings}, prompts=prompts), Benchmark(bench_url)
    backend = judge.open(context, 1)
    summaries = {row["summary_id"]: row for row in benchmark.folder.read("summaries").to_pylist()}

    async def work(payload: Mapping[str, Any]) -> list[Row]:
        summary = _judged(judge, summaries[payload["summary_id"]], benchmark)
        return await judged_rows(judge, backend, [summary._replace(work_id=payload["work_id"])])

    return work


def _judged(judge: Judge, summary: Row, benchmark: Benchmark) -> JudgedText:
    """Put a labelled summary beside its query's targets."""
    item: SummaryToJudge = {
        "work_id": summary["summary_id"],
        "summary_id": summary["summary_id"],
        "query_id": summary["query_id"],
        "haystack_id": summary["haystack_id"],
        "failure": None,
    }
    units = [bullet.text for bullet in bullets(summary["text"] or "")]
    return judged_summary(judge.kind, item, units, benchmark)


# ---------------------------------------------------------------- what judges answered


def _member_answers(calibration: Calibration, name: str, run: Folder, calling: Calling) -> Answers:
    judge = calibration.judges.get(name)
    if judge is None:
        return _released_answers(calibration, name)
    if judge.asked_model is not None:
        rows = run.read("verdicts", work_ids=set(calibration.work_ids(name).values())).to_pylist()
    else:
        made = calibration.made(name)
        backend = made.open(calling.context(f"judge {name}"), 1)
        summaries = [_judged(made, summary, calibration.benchmark) for summary in calibration.summaries.values()]
        rows = asyncio.run(judged_rows(made, backend, summaries))
    return {(row["summary_id"], row["target_id"]): row for row in rows}


def _released_answers(calibration: Calibration, name: str) -> Answers:
    found = {(row["summary_id"], row["target_id"]): row for row in calibration.all_labels if row["annotator"] == name}
    if not found:
        shipped = sorted({row["annotator"] for row in calibration.all_labels if row["annotator"].startswith(RELEASED)})
        raise UsageError(f"{calibration.bench_url}: no predictions of {name!r}; it ships those of {shipped}")
    return found


def _answers(calibration: Calibration, given: Mapping[str, Answers]) -> Answers:
    """Return the judge's own verdicts, or the means of its members' verdicts."""
    judge = calibration.judges.get(calibration.judge)
    if judge is None or not judge.members:
        return given[calibration.judge]
    by_summary: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for name, answers in given.items():
        for (summary_id, _), row in answers.items():
            by_summary.setdefault(summary_id, {member: [] for member in given})[name].append(row)
    return {
        (summary_id, verdict["target_id"]): verdict
        for summary_id, members in by_summary.items()
        for verdict in mean_rows(calibration.kind, members, judge=calibration.judge, bounds=judge.bounds)
    }


def _labelled(calibration: Calibration, answers: Answers) -> Iterable[LabelledTarget]:
    queries = calibration.benchmark.queries
    for label in calibration.labels:
        summary = calibration.summaries[label["summary_id"]]
        yield LabelledTarget(
            summary_id=label["summary_id"],
            target_id=label["target_id"],
            annotator=label["annotator"],
            haystack_id=summary["haystack_id"],
            text=queries[summary["query_id"]].domain,
            label=label,
            verdict=answers.get((label["summary_id"], label["target_id"])),
            counts=calibration.kind.counts,
        )


# ---------------------------------------------------------------- what the judge was fitted on, what it cost


def _fitted_haystacks(calibration: Calibration, name: str) -> tuple[str, ...]:
    judge = calibration.judges.get(name)
    fitted = None if judge is None else judge.fitted_model
    return () if fitted is None else shipped_judge(fitted).fitted_haystacks


def _held_out(calibration: Calibration, card: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures of the offline judge on text it was fitted on, with a part left out; only beside such labels."""
    judge = calibration.judges.get(calibration.judge)
    fitted = None if judge is None else judge.fitted_model
    if fitted is None or not any(row["fitted"] for row in card["texts"]):
        return {}
    return {"held_out": held_out_rows("people" if fitted == "people" else "GPT-4o")}


def _cost(calibration: Calibration, given: Mapping[str, Answers], calling: Calling) -> dict[str, Any]:
    parts = [_member_cost(calibration, name, answers, calling) for name, answers in given.items()]
    if len(parts) == 1:
        return parts[0]
    known = [part["usd"] for part in parts if part["usd"] is not None]
    whys = "; ".join(f"{name}: {part['why']}" for name, part in zip(given, parts, strict=True))
    return {"usd": sum(known) if len(known) == len(parts) else None, "why": f"its members' ({whys})"}


def _member_cost(calibration: Calibration, name: str, answers: Answers, calling: Calling) -> dict[str, Any]:
    judge = calibration.judges.get(name)
    if judge is not None and judge.asked_model is not None:
        return _spent(calibration, name, judge.asked_model, answers, calling)
    if judge is not None:
        return {"usd": 0.0, "why": "no model service is called"}
    if name in _RELEASED_COST_USD:
        return {"usd": _RELEASED_COST_USD[name], "why": "200 summaries, SummHay, table 1"}
    return {"usd": None, "why": "the release does not say what its predictions cost"}


def _spent(
    calibration: Calibration, name: str, chat: ChatSettings, answers: Answers, calling: Calling
) -> dict[str, Any]:
    """Return the cost of the calls behind the verdicts, whichever command made them."""
    requests = _requests(calibration, name, chat, calibration.summaries.values())
    asked = {call_id(chat, request) for request in requests}
    asked |= {row["call_id"] for row in answers.values() if row["call_id"]}
    with opened_ledger(calling) as ledger:
        if ledger is None:
            return {"usd": None, "why": f"there is no ledger at {calling.ledger}"}
        totals = ledger.totals_of_calls(sorted(asked))
    why = f"{totals.calls} calls in the ledger {calling.ledger}"
    if totals.n_unknown_usd:
        return {"usd": None, "why": f"{why}, {totals.n_unknown_usd} of them of unknown price; state it with --prices"}
    return {"usd": totals.known_usd, "why": why}
