"""Served judges in `evaluate` and `calibrate`: the verdicts, the version and the card are those of who answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.results.write import read_results
from tests.serve.served import judges_app
from tests.serving import running

pytestmark = pytest.mark.own_vectors

SCRIPTED = {"provider": "scripted", "model": "scripted", "script": "obedient"}
JUDGES: dict[str, dict[str, Any]] = {
    "coverage": {"kind": "offline", "calibration": "people"},
    "support": {"kind": "offline"},
    "key_point": {"kind": "offline"},
}


def app(version: str | None = None) -> Any:
    return judges_app({task: {"task": task, "judge": judge} for task, judge in JUDGES.items()}, version=version)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(app()) as found:
        yield found


def config(folder: Path, url: str, *tasks: str) -> str:
    judges = {f"here {task}": {**JUDGES[task], "task": task} for task in tasks}
    served = {f"served {task}": {"kind": "served", "task": task, "url": url, "judge": task} for task in tasks}
    content = {
        "name": "served",
        "seed": 1,
        "retrievers": {"oracle": {"kind": "oracle"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": judges | served,
        "systems": [{"retriever": "oracle", "budget_tokens": 1000, "summarizer": "offline"}],
        "resamples": 100,
    }
    path = folder / "served.yaml"
    path.write_text(json.dumps(content))
    return str(path)


def ends(config: str, bench: str, run: Path, *more: str) -> int:
    return main([config, "--bench", bench, "--out", str(run), "--workers", "0", *more])


def verdicts(run: Path, judge: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    rows = [row for row in Folder(str(run)).read("verdicts").to_pylist() if row["judge"] == judge]
    key = ("summary_id", "target_id", "unit_index", "text_index")
    value = ("answer", "probability", "linked_unit", "failure")
    return {tuple(row[name] for name in key): tuple(row[name] for name in value) for row in rows}


def test_verdicts_are_those_of_the_workers_and_the_card_comes_with_them(bench: str, tmp_path: Path, url: str) -> None:
    run = tmp_path / "run"
    assert ends(config(tmp_path, url, *JUDGES), bench, run) in (0, 3)
    for task in ("coverage", "support"):
        expected = verdicts(run, f"here {task}")
        assert len({answer for answer, *_ in expected.values()}) > 1
        assert verdicts(run, f"served {task}") == expected

    record = Folder(str(run)).read_json("run.json")
    told = record["served"]["served coverage"]
    assert record["config"]["judges"]["served coverage"]["version"] == told["version"]
    cards = {row["judge"]: row["card"] for row in read_results(Folder(str(run)))["judges"]}
    assert cards["served coverage"] == cards["here coverage"] == told["card"] is not None


def test_a_model_that_changed_behind_the_name_is_noticed(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    with running(app("first")) as url:
        named = config(tmp_path, url, "coverage")
        assert ends(named, bench, run) in (0, 3)
    content = json.loads(Path(named).read_text())
    with running(app("second")) as now:
        content["judges"]["served coverage"] |= {"url": now}
        Path(named).write_text(json.dumps(content))
        assert ends(named, bench, run) == 2
    assert "judges.served coverage.version was first, is second" in capsys.readouterr().err


def test_a_server_that_is_not_there_or_serves_another_ends_the_command_before_work(
    bench: str, tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(config(tmp_path, "http://127.0.0.1:9", "coverage"), bench, tmp_path / "run") == 1
    assert "http://127.0.0.1:9/info could not be asked" in capsys.readouterr().err
    named = config(tmp_path, url, "coverage")
    other = json.loads(Path(named).read_text())
    other["judges"]["served coverage"]["judge"] = "support"
    Path(named).write_text(json.dumps(other))
    assert ends(named, bench, tmp_path / "run") == 2
    assert "expected one of task coverage" in capsys.readouterr().err
    assert not (tmp_path / "run" / "run.json").exists()
    of_cluster = config(tmp_path, "serve://longform", "coverage")
    assert ends(of_cluster, bench, tmp_path / "run") == 2
    told = capsys.readouterr().err  # a Ray of the session may be there, without Serve
    assert "--ray-address" in told or "expected a judge 'coverage' in the application 'longform'" in told
