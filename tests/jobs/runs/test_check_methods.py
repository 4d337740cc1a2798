"""A method that cannot be used on a benchmark's documents is refused with the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs import evaluate
from jobs.command import USAGE
from tests.jobs.planted_bench import bench

MODEL = "model={provider: scripted, model: m, script: profile-u}"


def refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], system: str, *more: str, method: str = "calibration-all"
) -> str:
    grid = f"systems=[{{retriever: full, summarizer: chat, method: {method}, {system}}}]"
    sets = [word for change in (MODEL, grid) for word in ("--set", change)]
    out = tmp_path / "run"
    given = ["positional_bias", "--bench", bench(tmp_path, n=2), "--out", str(out), *sets, *more]
    assert evaluate.main(given) == USAGE
    assert not (out / "summaries").exists()
    return capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("--plan",)])
def test_more_orders_than_allowed_refuse_the_configuration_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    told = refused(tmp_path, capsys, "budget_tokens: null", *more)
    assert "calibration-all" in told
    assert "5! = 120" in told
    assert "at most 24" in told
    assert "orders: rotations" in told
    assert not (tmp_path / "run" / "contexts").exists()


def test_more_orders_than_a_packed_context_allows_are_refused_before_any_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number of documents that fit a budget is known once they are packed."""
    assert "5! = 120" in refused(tmp_path, capsys, "budget_tokens: 100000")
