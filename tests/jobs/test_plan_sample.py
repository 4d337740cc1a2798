"""`longform plan-sample`: the queries that a difference needs, from a run's own differences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main as evaluate
from jobs.plan_sample import main
from longform.metrics.power import clusters_for_difference, clusters_for_interval, critical_at, detectable
from longform.report.answers import WIDTH
from longform.results.cells import table_rows
from tests.made.demo import two_haystacks

N_QUERIES = 12  # of `two_haystacks`
CONFIGURATION = {
    "name": "town",
    "seed": 1,
    "retrievers": {"bm25": {"kind": "bm25"}, "keywords": {"kind": "keywords"}, "oracle": {"kind": "oracle"}},
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {"j": {"kind": "offline", "calibration": "people"}},
    "systems": [{"retriever": ["bm25", "keywords", "oracle"], "budget_tokens": 300, "summarizer": "offline"}],
    "resamples": 100,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("planned")
    config = folder / "town.yaml"
    config.write_text(json.dumps(CONFIGURATION))
    assert evaluate([str(config), "--bench", two_haystacks(), "--out", str(folder / "run"), "--workers", "0"]) in (0, 3)
    return str(folder / "run")


def planned(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return table_rows(json.loads(capsys.readouterr().out), "sample_plan")


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 2
    return capsys.readouterr().err


def test_every_measure_has_a_row_of_its_own_differences(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = planned(capsys, run, "--difference", "5", "--interval", "4", "--power", "0.9")
    assert {"coverage", "citation", "joint"} <= {row["measure"] for row in rows}
    for row in rows:
        spread, n = row["spread"], row["n"]
        assert (row["n_tests"], row["power"]) == (3, 0.9)
        assert n == N_QUERIES or row["measure"] not in ("coverage", "joint")
        alone = detectable(spread=spread, n=n, critical=critical_at(row["level"], n), power=0.9)
        assert row["detectable"] == pytest.approx(alone)
        assert row["detectable_in_family"] > row["detectable"]
        assert row["for_difference"] == clusters_for_difference(5, spread=spread, power=0.9)
        assert row["for_difference_in_family"] >= row["for_difference"]
        assert row["for_interval"] == clusters_for_interval(4, spread=spread)


def test_two_systems_are_planned_with_their_own_spread(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The median spread of the pairs of three systems is that of one pair."""
    pairs = [("bm25", "keywords"), ("oracle", "bm25"), ("keywords", "oracle")]
    spreads = [planned(capsys, run, "--measure", "joint", "--systems", *pair)[0]["spread"] for pair in pairs]
    (all_pairs,) = planned(capsys, run, "--measure", "joint")
    assert all_pairs.get("systems") is None
    assert all_pairs["spread"] == pytest.approx(sorted(spreads)[1])
    assert len(set(spreads)) == 3


def test_words_say_what_so_many_queries_show_and_what_is_wanted(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main([run, "--difference", "5", "--measure", "coverage"]) == 0
    told = capsys.readouterr().out
    assert f"coverage  {N_QUERIES} " in told
    assert "5 needs" in told
    assert "±" not in told
    assert max(map(len, told.splitlines())) <= WIDTH


def test_what_cannot_be_planned_is_refused_with_what_was_expected(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "did you mean 'joint'?" in refused(capsys, run, "--measure", "jont")
    assert "found no such system" in refused(capsys, run, "--systems", "bm25", "nobody")
    assert "expected two systems" in refused(capsys, run, "--systems", "bm25", "bm25")
    assert "expected a finished run" in refused(capsys, str(tmp_path))
    (tmp_path / "results.json").write_text(json.dumps({"schema": 2, "run": {}, "tables": {}}))
    assert "two systems or more" in refused(capsys, str(tmp_path))
    results = Folder(run).read_json("results.json")
    for plan in results["tables"]["pairwise_plans"]["rows"]:
        plan.pop("critical", None)
    (tmp_path / "results.json").write_text(json.dumps(results))
    assert "longform aggregate RUN" in refused(capsys, str(tmp_path))


@pytest.mark.parametrize("words", [["--difference", "0"], ["--power", "1"], ["--interval", "wide"]])
def test_sizes_and_shares_that_are_none_are_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", *words])
    assert ended.value.code == 2
    assert "expected a number" in capsys.readouterr().err
