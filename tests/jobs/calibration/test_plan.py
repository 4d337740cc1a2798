"""`calibrate --plan` of a judge of support: it counts what the calibration then asks, and asks nothing itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.ledger.ledger import Ledger
from jobs.calibrate import main
from jobs.ingest import ingest

BRIDGE = "The council voted to rebuild the Alder Street bridge. The works will cost 3.4 million euros."
LIBRARY = "The library opens on Sundays from May. Volunteers are welcome at the front desk."
LABELLED = [
    {"documents": [BRIDGE, LIBRARY, " "], "summary": "The council voted. The king resigned.", "faithfulness": [1, 0]},
    {"documents": [BRIDGE, LIBRARY, ""], "summary": "The king resigned. Fares rose.", "faithfulness": [0, 0]},
]
N_CALLS = 2 * 3
"""Documents with text x distinct sentences: both summaries are of one article, and say one sentence both."""

JUDGE = "{task: support, kind: chat, chat: {provider: scripted, model: m, script: profile-flat}}"


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    lines = [json.dumps({"document": " ".join(one["documents"]), **one}) for one in LABELLED]
    (tmp_path / "said.jsonl").write_text("\n".join(lines))
    (tmp_path / "prices.yaml").write_text(
        yaml.safe_dump({"date": "2026-01-01", "models": {"m": {"input": 1e6, "output": 0.0}}})
    )
    bench = str(tmp_path / "bench")
    ingest("longformfact", [str(tmp_path / "said.jsonl")], bench)
    paths = ["--ledger", str(tmp_path / "ledger"), "--prices", str(tmp_path / "prices.yaml")]
    return [bench, "--judge", JUDGE, "--resamples", "100", "--json", *paths]


def stage_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--plan"]) == 0
    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    return dict(stage)


def test_plan_states_calls_tokens_and_dollars_and_asks_nothing(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    priced = "{task: support, kind: chat, chat: {model: m}}"
    stage = stage_of([priced if argument == JUDGE else argument for argument in arguments], capsys)

    assert (stage["calls"], stage["paid_already"]) == (N_CALLS, 0)
    assert 100 * N_CALLS < stage["input_tokens"]["low"] <= stage["input_tokens"]["high"]
    assert stage["usd"]["low"] == pytest.approx(stage["input_tokens"]["low"])  # a dollar a token
    assert stage["usd"]["high"] == pytest.approx(stage["input_tokens"]["high"], rel=0.01)
    assert not (tmp_path / "ledger").exists()


def test_modes_and_orders_are_counted_too(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert stage_of([*arguments, "--modes", "document,full"], capsys)["calls"] == N_CALLS + 3


def test_mean_plans_what_its_members_ask_each_call_once(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two names of one model ask the same calls; the offline judge asks none, and the mean itself none."""
    judges = {name: yaml.safe_load(JUDGE) for name in ("one", "two")} | {"offline": {"kind": "offline"}}
    experiment = {
        "name": "x", "seed": 1, "retrievers": {"full": {"kind": "full"}}, "summarizers": {"o": {"kind": "offline"}},
        "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "o"}],
        "support_judges": {"all": {"kind": "mean", "of": list(judges)}, **judges},
    }  # fmt: skip
    (tmp_path / "c.yaml").write_text(json.dumps(experiment))
    mean = ["all" if argument == JUDGE else argument for argument in arguments]

    assert main([*mean, "--config", str(tmp_path / "c.yaml"), "--plan"]) == 0

    stages = json.loads(capsys.readouterr().out)["stages"]
    assert [(stage["stage"], stage["calls"]) for stage in stages] == [("check one", N_CALLS), ("check two", 0)]


@pytest.mark.ray
def test_calibration_asks_what_the_plan_counted_and_a_further_plan_nothing(
    arguments: list[str], tmp_path: Path, ray_session: None, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = stage_of(arguments, capsys)["calls"]

    assert main([*arguments, "--run", str(tmp_path / "run")]) == 0

    ledger = Ledger.existing(str(tmp_path / "ledger"))
    assert ledger.totals().calls == planned
    ledger.close()
    again = stage_of(arguments, capsys)  # of a run without verdicts: the ledger answers
    assert (again["calls"], again["paid_already"]) == (0, planned)
    there = stage_of([*arguments, "--run", str(tmp_path / "run")], capsys)
    assert (there["calls"], there["paid_already"]) == (0, 0)


def test_plan_of_a_coverage_judge_wants_labels_of_coverage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([arguments[0], "--judge", "offline-people", "--plan"]) == 2
    assert "expected people's labels of coverage" in capsys.readouterr().err


def test_plan_of_a_judge_that_calls_nobody_says_so(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([arguments[0], "--judge", "offline", "--plan"]) == 0
    assert "no model is called" in capsys.readouterr().out
