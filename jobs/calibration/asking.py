"""
Asks a judge about labelled summaries, and plans what it will be asked.

Reads   summaries, targets, documents and labels of a benchmark
Writes  `verdicts` into a folder, where they are found again
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from actors.chat.model import CallContext
from actors.chat.opening import Asking, check_chat
from actors.judges.backend import judged_rows
from actors.judges.opening import Asker, Judge, make_judge
from actors.local_models.tokenizer import TokenCounter
from actors.storage.folder import Folder
from jobs.calibration.labelled import Calibration, Labelled, Piece, Verdicts
from jobs.command.calling import Calling, open_rows
from jobs.runs.stage_order import passing_failures
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.spending.plan import opened_ledger, plan_document
from jobs.stages.cluster import Cluster
from jobs.stages.runner import PlainStage, Task, run_stage
from longform.chat.asking import Recorded, UnansweredError, carry_out
from longform.chat.call import ChatRequest
from longform.judges.kind import Group
from longform.judges.matrix import groups_of
from longform.keys import in_groups
from longform.rows import VerdictRow
from longform.settings.chat import ChatSettings
from longform.settings.judges import JudgeSettings


def ask(calibration: Calibration, *, run: Folder, cluster: Cluster, calling: Calling) -> None:
    """Ask each member about what *run* does not hold yet; the cluster and the ledger start only if that needs them."""
    labelled = calibration.labelled
    pieces = {name: labelled.pieces(judge) for name, judge in calibration.made.items()}
    for of_judge in pieces.values():
        if failed := passing_failures(run, "verdicts", [piece.work_id for piece in of_judge]):
            run.forget("verdicts", sorted(failed))
    done = run.locate("verdicts")
    left = {name: [piece for piece in of if piece.work_id not in done] for name, of in pieces.items()}
    if chats := [chat for name, chat in calibration.chats.items() if left[name]]:
        for chat in chats:
            check_chat(chat)
        calling.check_prices(chats)
        cluster.start_for_calls()
        calling.start()
    for name, judge in calibration.made.items():
        here = name not in calibration.chats and not judge.kind.of_documents
        stage = _stage(calibration, judge, calling, threads=1 if here else max(1, int(cluster.cpus)))
        together = in_groups((piece.together, piece) for piece in left[name]).values()
        tasks = [_task(of) for of in together]
        run_stage(run, stage, len(pieces[name]), tasks, cluster=cluster, notice=calling.notice, here=here or None)


_PIECE = TypeAdapter(Piece)


def _task(pieces: Sequence[Piece]) -> Task:
    return Task(
        work_ids=tuple(one.work_id for one in pieces),
        payload={"pieces": [_PIECE.dump_json(one).decode() for one in pieces]},
    )


def _stage(calibration: Calibration, judge: Judge, calling: Calling, *, threads: int) -> PlainStage:
    labelled, settings, chat = calibration.labelled, judge.settings, judge.settings.asked_model
    name, prompts = _stage_name(judge), calibration.prompts
    work = partial(_worker, labelled, judge.name, settings, prompts=prompts, context=calling.context(name))
    return PlainStage(
        name=name,
        table="verdicts",
        unit=labelled.unit,
        make_worker=partial(work, threads=threads),
        holds_model=True,
        asynchronous=chat is not None or settings.requests_at_once is not None,
        resources=settings.asked_resources,
        slots=open_rows(chat) if chat is not None else getattr(settings, "concurrency", 1),
    )


def _stage_name(judge: Judge) -> str:
    """Return the name under which the judge's calls stand in the ledger, as those of `evaluate` do."""
    return f"{judge.kind.step} {judge.name}"


def _worker(
    labelled: Labelled,
    name: str,
    settings: JudgeSettings,
    *,
    prompts: str | None,
    context: CallContext,
    threads: int,
) -> Callable[[Mapping[str, Any]], Awaitable[list[VerdictRow]]]:
    judge = make_judge(name, {name: settings}, prompts=prompts)
    read, backend = labelled.reader(judge.kind, threads), judge.open(context, threads)

    async def work(payload: Mapping[str, Any]) -> list[VerdictRow]:
        return await judged_rows(judge, backend, [read(_PIECE.validate_json(one)) for one in payload["pieces"]])

    return work


def verdicts_of(calibration: Calibration, name: str, run: Folder) -> Verdicts:
    """Return the verdicts of a member; they are there."""
    work_ids = {piece.work_id for piece in calibration.labelled.pieces(calibration.made[name])}
    rows: list[VerdictRow] = run.read("verdicts", work_ids=work_ids).to_pylist()
    return in_groups(((row["mode"], row["summary_id"]), row) for row in rows)


# ---------------------------------------------------------------- what will be asked


def plan_calibrations(
    calibrations: Sequence[Calibration], *, run: Folder, calling: Calling, workers: int
) -> dict[str, Any]:
    """Plan the calls of all chat models and what they will take; nothing is asked, and no key is needed."""
    asked: dict[str, Calibration] = {}  # a judge that is a member of a mean, too, is asked once
    for calibration in calibrations:
        calibration.check()
        for name, chat in calibration.chats.items():
            check_chat(chat, logprobs=calibration.judges[name].needs_logprobs, with_key=False)
            if name not in asked or _n_pieces(calibration, name) > _n_pieces(asked[name], name):
                asked[name] = calibration
    with opened_ledger(calling) as ledger:
        count = CallCount(ledger)
        found = [asyncio.run(_planned(calibration, name, run, count)) for name, calibration in asked.items()]
    return plan_document(found, calling=calling, workers=workers)


def _n_pieces(calibration: Calibration, name: str) -> int:
    return len(calibration.labelled.pieces(calibration.made[name]))


async def _planned(calibration: Calibration, name: str, run: Folder, count: CallCount) -> StageCalls:
    chat, pieces = calibration.chats[name], calibration.labelled.pieces(calibration.made[name])
    calls = count.calls(_stage_name(calibration.made[name]), chat)
    asker, groups = _asker(calibration, name, chat)
    again = passing_failures(run, "verdicts", [piece.work_id for piece in pieces])
    done = run.locate("verdicts").keys() - again
    for piece in (piece for piece in pieces if piece.work_id not in done):
        recorded = Recorded(partial(count.answered, chat))
        with suppress(UnansweredError):
            await carry_out(asker.plan(groups(piece)), recorded.answer)
        for request in recorded.asked:
            count.add(calls, request)
    return calls


def requests(calibration: Calibration, name: str, chat: ChatSettings, pieces: Iterable[Piece]) -> Iterator[ChatRequest]:
    """Give the first requests that a member makes about *pieces*; nothing is asked."""
    asker, groups = _asker(calibration, name, chat)
    for piece in pieces:
        yield from next(asker.plan(groups(piece)), {}).values()


def _asker(calibration: Calibration, name: str, chat: ChatSettings) -> tuple[Asker, Callable[[Piece], Sequence[Group]]]:
    """Return a member that asks nobody, and what reads a piece as it is asked about."""
    counter, made = TokenCounter(threads=1), calibration.made[name]
    asking = Asking(chat=Unasked(chat), prompts_folder=calibration.prompts, count_tokens=counter.count)
    read = calibration.labelled.reader(made.kind, 1)
    return made.asking(asking), lambda piece: groups_of(made.kind, read(piece))
