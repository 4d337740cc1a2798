"""`longform calibrate --support JUDGE --plan`: what the judge will be asked and what that takes; nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from actors.chat.opening import Asking
from actors.judges.opening import make_judge
from actors.local_models.tokenizer import TokenCounter
from jobs.calibration.label_cells import Judging, LabelReader
from jobs.calling import Calling
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.spending.plan import opened_ledger, plan_document
from jobs.stages.runner import Task
from longform.settings.chat import ChatSettings


def calibration_plan(
    asked: Sequence[tuple[Judging, Sequence[Task]]], *, calling: Calling, workers: int
) -> dict[str, Any]:
    """
    The document of what is still to be asked.

    Args:
        asked: Each judge with the benchmark of the labels, and its tasks that are not done.
        calling: Names the ledger and the prices.
        workers: Processes the stage may use.
    """
    with opened_ledger(calling) as ledger:
        count = CallCount(ledger)
        calls = [
            _calls(judging, judging.settings.asked_model, tasks, count)
            for judging, tasks in asked
            if judging.settings.asked_model is not None
        ]
    return plan_document(calls, calling=calling, workers=workers)


def _calls(judging: Judging, chat: ChatSettings, tasks: Sequence[Task], count: CallCount) -> StageCalls:
    calls = count.calls(f"calibrate {judging.name}", chat)
    reader, counter = LabelReader(judging, 1), TokenCounter(threads=1)
    asking = Asking(chat=Unasked(chat), prompts_folder=judging.prompts, count_tokens=counter.count)
    made = make_judge(judging.name, {judging.name: judging.settings}, prompts=judging.prompts)
    assert made.asking is not None, "a judge with a model asks it"
    judge = made.asking(asking)
    for task in tasks:
        for item in task.payload["items"]:
            for request in judge.requests(reader.groups(item)):
                count.add(calls, request)
    return replace(calls, n_paid=len(count.paid(calls)))
