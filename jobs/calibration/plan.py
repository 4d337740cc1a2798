"""`longform calibrate --support JUDGE --plan`: what the judge will be asked and what that takes; nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from actors.chat.opening import Asking
from actors.judges.chat_support import ChatSupportJudge
from actors.local_models.tokenizer import TokenCounter
from jobs.calibration.label_cells import Judging, LabelReader
from jobs.calling import Calling
from jobs.spending.call_count import CallCount, StageCalls, Unasked
from jobs.spending.plan import opened_ledger, plan_document
from jobs.stages.runner import Task
from longform.judges.support_prompts import open_cells
from longform.settings.judges import ChatSupportJudgeSettings


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
            _calls(judging, judging.settings, tasks, count)
            for judging, tasks in asked
            if isinstance(judging.settings, ChatSupportJudgeSettings)
        ]
    return plan_document(calls, calling=calling, workers=workers)


def _calls(judging: Judging, settings: ChatSupportJudgeSettings, tasks: Sequence[Task], count: CallCount) -> StageCalls:
    calls = count.calls(f"calibrate {judging.name}", settings.chat)
    reader, counter = LabelReader(judging, 1), TokenCounter(threads=1)
    asking = Asking(chat=Unasked(settings.chat), prompts_folder=judging.prompts, count_tokens=counter.count)
    judge = ChatSupportJudge(judging.name, settings, asking)
    for task in tasks:
        for item in task.payload["items"]:
            for text, sentences in open_cells(reader.groups(item)).items():
                for request in judge.requests(text, sentences):
                    count.add(calls, request)
    return replace(calls, n_paid=len(count.paid(calls)))
