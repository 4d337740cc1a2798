"""The models of a run by the stages that ask them."""

from __future__ import annotations

from jobs.command.calling import Calling
from jobs.configs import read_experiment
from jobs.results.calls import asking
from jobs.runs.stage_order import stages_of
from jobs.stages.stage import Site

_JUDGES = (
    "{rated: {task: reference, kind: chat, chat: {model: m}}, said: {task: support, kind: chat, chat: {model: n}}}"
)


def test_judges_of_support_are_asked_by_the_stage_that_checks() -> None:
    experiment = read_experiment("msrs_story_chat", [f"judges={_JUDGES}"])
    found = asking(stages_of(experiment, Site("memory://run", "memory://bench", 1, Calling("evaluate", ledger="l"))))

    judging = {stage: (one.chat.model, one.judged_by) for stage, one in found.items() if one.chat and one.judged_by}
    assert judging == {"judge rated": ("m", "rated"), "check said": ("n", "said")}
    assert {"summarize model", "rerank scored", "rerank best"} <= found.keys()
