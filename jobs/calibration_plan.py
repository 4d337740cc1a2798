"""`longform calibrate --support JUDGE --plan`: what the judge will be asked and what that takes; nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from actors.chat_support_judge import ChatSupportJudge
from actors.tokenizer import TokenCounter
from jobs.call_count import CallCount, StageCalls, Unasked
from jobs.calling import Calling
from jobs.label_cells import Judging, LabelReader
from jobs.spending_plan import opened_ledger, plan_document
from jobs.stage import Task
from longform.judge_settings import ChatSupportJudge as Settings
from longform.support_judging import open_cells


def calibration_plan(judging: Judging, tasks: Sequence[Task], *, calling: Calling, workers: int) -> dict[str, Any]:
    """
    The document of what is still to be asked.

    Args:
        judging: The judge, and the benchmark with the labels.
        tasks: Those that are not done.
        calling: Names the ledger and the prices.
        workers: Processes the stage may use.
    """
    settings = judging.settings
    if not isinstance(settings, Settings):
        return plan_document([], calling=calling, workers=workers)
    with opened_ledger(calling) as ledger:
        calls = _calls(judging, settings, tasks, CallCount(ledger))
    return plan_document([calls], calling=calling, workers=workers)


def _calls(judging: Judging, settings: Settings, tasks: Sequence[Task], count: CallCount) -> StageCalls:
    calls = count.calls(f"calibrate {judging.name}", settings.chat)
    reader, counter = LabelReader(judging, 1), TokenCounter(threads=1)
    judge = ChatSupportJudge(
        judging.name,
        settings,
        chat=Unasked(settings.chat),
        prompts_folder=judging.prompts,
        count_tokens=counter.count,
    )
    for task in tasks:
        for item in task.payload["items"]:
            for text, sentences in open_cells(reader.groups(item)).items():
                for request in judge.requests(text, sentences):
                    count.add(calls, request)
    return replace(calls, n_paid=len(count.paid(calls)))
