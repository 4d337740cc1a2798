"""The models of a run by the stages that ask them."""

from __future__ import annotations

from jobs.configs import read_experiment
from jobs.results.calls import models_by_stage

_JUDGES = (
    "{rated: {task: reference, kind: chat, chat: {model: m}}, said: {task: support, kind: chat, chat: {model: n}}}"
)


def test_judges_of_support_are_asked_by_the_stage_that_checks() -> None:
    found = models_by_stage(read_experiment("msrs_story_chat", [f"judges={_JUDGES}"]))

    judging = {stage: chat.model for stage, chat in found.items() if chat.model in ("m", "n")}
    assert judging == {"judge rated": "m", "check said": "n"}
    assert {"summarize model", "rerank scored", "rerank best"} <= found.keys()
