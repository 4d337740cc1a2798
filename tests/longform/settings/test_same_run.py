"""Changes that a second configuration may make to a run."""

from __future__ import annotations

from typing import Any

import pytest

from longform.settings.experiment import Experiment
from longform.settings.same_run import other_configuration

CHAT = {"model": "m", "base_url": "http://127.0.0.1:1/v1"}
BEFORE: dict[str, Any] = {
    "name": "before",
    "seed": 1,
    "retrievers": {"bm25": {"kind": "bm25"}, "random": {"kind": "random", "seed": 1}},
    "rerankers": {"served": {"kind": "endpoint", "url": "http://127.0.0.1:1/v1/rerank", "model": "r"}},
    "summarizers": {"chat": {"kind": "chat", "chat": CHAT}},
    "judges": {"chat": {"kind": "chat", "chat": CHAT}},
    "support_judges": {"lexical": {"kind": "offline"}},
    "methods": {"drawn": {"kind": "calibration", "orders": "sampled", "n_orders": 3}},
    "systems": [
        {"retriever": ["bm25", "random"], "budget_tokens": 100, "summarizer": "chat"},
        {"retriever": "bm25", "reranker": "served", "budget_tokens": None, "order": "random", "summarizer": "chat"},
    ],
}


def told(**changed: Any) -> list[str]:
    return other_configuration(Experiment.model_validate(BEFORE), Experiment.model_validate({**BEFORE, **changed}))


def test_the_same_configuration_is_the_same_run() -> None:
    assert told() == []


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "other", "resamples": 100, "partial_score": 0.25, "aggregate": "per_summary", "cutoffs": [3]},
        {"citations": "matrix"},
        {"permutations": {"n_orders": 5}},
        {"faithfulness": {"documents": "mean", "sentences": "min", "attribution": "lexical"}},
        {"summarizers": {"chat": {"kind": "chat", "chat": {**CHAT, "concurrency": 1, "in_flight": 2, "attempts": 1}}}},
        {"rerankers": {"served": {**BEFORE["rerankers"]["served"], "timeout_s": 9, "api_key_env": "KEY"}}},
        {"retrievers": {**BEFORE["retrievers"], "oracle": {"kind": "oracle"}}},
        {"judges": {**BEFORE["judges"], "offline": {"kind": "offline", "calibration": "people"}}},
        {"methods": {}},
        {"systems": [*BEFORE["systems"], {**BEFORE["systems"][0], "order": "top"}]},
        {"systems": [{**BEFORE["systems"][0], "budget_tokens": [50, 100]}, BEFORE["systems"][1]]},
        {"systems": BEFORE["systems"][::-1]},
        {"systems": [{**BEFORE["systems"][0], "repeats": 3}, BEFORE["systems"][1]]},
    ],
)
def test_additions_and_what_only_reads_rows_are_the_same_run(changed: dict[str, Any]) -> None:
    assert told(**changed) == []


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        ({"seed": 7}, ["seed was 1, is 7"]),
        (
            {"retrievers": {**BEFORE["retrievers"], "bm25": {"kind": "bm25", "b": 0.5}}},
            ["retrievers.bm25.b was 0.75, is 0.5"],
        ),
        (
            {"retrievers": {**BEFORE["retrievers"], "bm25": {"kind": "full"}}},
            ["retrievers.bm25.kind was bm25, is full"],
        ),
        (
            {"summarizers": {"chat": {"kind": "chat", "chat": {**CHAT, "base_url": None}}}},
            ["summarizers.chat.chat.base_url was http://127.0.0.1:1/v1, is not set"],
        ),
        (
            {"judges": {"chat": {"kind": "chat", "chat": CHAT, "prompt": "judge_coverage_9"}}},
            ["judges.chat.prompt was judge_coverage_3, is judge_coverage_9"],
        ),
        (
            {"rerankers": {"served": {**BEFORE["rerankers"]["served"], "depth": 3}}},
            ["rerankers.served.depth was 20, is 3"],
        ),
        ({"support_judges": {}}, ["judges.lexical is left out"]),
        (
            {"methods": {"drawn": {"kind": "calibration", "orders": "all"}}},
            ["methods.drawn.orders was sampled, is all"],
        ),
        (
            {"systems": [{**BEFORE["systems"][0], "budget_tokens": 200}, BEFORE["systems"][1]]},
            [
                "systems: bm25, 100 tokens, order given, method plain, by chat is left out",
                "systems: random, 100 tokens, order given, method plain, by chat is left out",
            ],
        ),
    ],
)
def test_what_changes_the_meaning_of_rows_is_named(changed: dict[str, Any], lines: list[str]) -> None:
    found = told(**changed)

    assert [line for line in found if not line.startswith("methods.drawn.n_orders")] == lines


def test_fewer_repeats_are_another_run() -> None:
    first, second = BEFORE["systems"]
    before = Experiment.model_validate({**BEFORE, "systems": [{**first, "repeats": 3}, {**second, "repeats": 2}]})
    now = Experiment.model_validate({**BEFORE, "systems": [{**first, "repeats": 4}, second]})

    (line,) = other_configuration(before, now)

    assert line == ("systems: repeats of bm25+served, no budget, order random, method plain, by chat were 2, are 1")
