"""`longform status`: of what is no run, of a run that is made, of one under way in another process, of a killed one."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from jobs.command.interrupts import Interrupted
from jobs.evaluate import main as evaluate
from jobs.status import main, watch
from tests.jobs.held_server import HeldServer, serving

DEADLINE_S = 120


class Held(HeldServer):
    """A provider that answers no call; `asked` is set by the first."""

    def __init__(self) -> None:
        super().__init__(_Hold)
        self.asked = threading.Event()


class _Hold(BaseHTTPRequestHandler):
    server: Held

    def do_POST(self) -> None:
        self.server.asked.set()
        self.server.free.wait(DEADLINE_S)

    def log_message(self, *_: Any) -> None:
        pass


def words(folder: Path, bench: str, url: str | None = None) -> list[str]:
    chat: dict[str, Any] = {"provider": "scripted", "model": "scripted", "script": "obedient"}
    if url:
        chat = {"model": "held", "base_url": url}
    config = {
        "name": "told",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}},
        "summarizers": {"m": {"kind": "chat", "chat": chat}},
        "judges": {"j": {"kind": "offline", "calibration": "people"}},
        "systems": [{"retriever": "bm25", "budget_tokens": 300, "summarizer": "m"}],
        "resamples": 100,
    }
    (folder / "told.yaml").write_text(json.dumps(config))
    return [str(folder / "told.yaml"), "--bench", bench, "--out", str(folder / "run"), "--workers", "0"]


def status(capsys: pytest.CaptureFixture[str], run: Path | str, *more: str) -> Any:
    capsys.readouterr()
    assert main([str(run), "--json", *more]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_is_no_run_is_named(tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "corpus" / "news").mkdir(parents=True)
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "run.json").write_text("{}")
    told = {}
    names = ("empty", "nowhere", "corpus", "runs", "notes.txt")
    for place in (tmp_path, *(tmp_path / name for name in names), bench):
        assert main([str(place)]) == 2
        told[str(place)] = capsys.readouterr().err
    assert "notes.txt" in told[str(tmp_path)]
    assert "an empty folder" in told[str(tmp_path / "empty")]
    assert "no such folder" in told[str(tmp_path / "nowhere")]
    assert "found a benchmark" in told[bench]
    assert "found news/" in told[str(tmp_path / "corpus")]
    assert f"name one of them: {tmp_path / 'runs' / 'mine'}" in told[str(tmp_path / "runs")]
    assert "found a file" in told[str(tmp_path / "notes.txt")]


def test_a_finished_run_is_done_and_its_spend_is_that_of_the_ledger(
    tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate([*words(tmp_path, bench), "--max-calls", "3"]) == 4
    stopped = status(capsys, tmp_path / "run")
    assert (stopped["state"], stopped["commands"][0]["exit_code"]) == ("ended", 4)
    assert "a larger --max-cost" in stopped["next"]

    code = evaluate(words(tmp_path, bench))
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    found = status(capsys, tmp_path / "run", "--watch")

    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before
    assert [one["exit_code"] for one in found["commands"]] == [code], "the heartbeat of the first is gone"
    assert {stage["name"]: stage["done"] == stage["wanted"] > 0 for stage in found["stages"]} == dict.fromkeys(
        ["retrieve", "pack", "summarize m", "split", "judge j", "score"], True
    )
    assert found["spend"]["answered"] == next(s["wanted"] for s in found["stages"] if s["name"] == "summarize m")
    assert found["report"].endswith("index.html")


def test_a_run_under_way_in_another_process_and_what_is_said_once_it_is_killed(
    tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(Held()) as server:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        command = [sys.executable, "-m", "jobs.evaluate", *words(tmp_path, bench, url)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert server.asked.wait(DEADLINE_S)
            going = status(capsys, tmp_path / "run")
            while len(Folder(tmp_path / "run").locate("contexts")) != 6:  # packed beside the first calls
                assert process.poll() is None
            going = status(capsys, tmp_path / "run")
            record = (tmp_path / "run" / "run.json").read_bytes()
            refused = [evaluate([*words(tmp_path, bench, url), *more]) for more in ((), ("--plan",))]
            told = capsys.readouterr().err
            assert (tmp_path / "run" / "run.json").read_bytes() == record
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(DEADLINE_S)

    assert going["state"] == "running"
    assert going["commands"][0]["pid"] == process.pid
    done = stages_done(going)
    assert done["judge j"] == (0, 6), "stages to come are told, too"
    assert going["spend"]["open"] > 0
    assert refused == [2, 2], "a second command, and one that plans, would write the record of this one anew"
    assert "is at work here, process" in told
    killed = status(capsys, tmp_path / "run", "--watch")
    assert killed["state"] == "killed"
    assert stages_done(killed)["retrieve"] == (len(Folder(tmp_path / "run").locate("rankings")), 6)
    assert f"up to {killed['spend']['open']} calls that were in flight may be asked, and paid, again" in killed["next"]
    assert killed["commands"][0]["exit_code"] is None
    assert "goes on; nothing that is kept is done twice" in killed["next"]


def stages_done(found: Any) -> dict[str, tuple[int, int]]:
    return {stage["name"]: (stage["done"], stage["wanted"]) for stage in found["stages"]}


def told(state: str) -> Any:
    return {
        "run": "r", "verb": "evaluate", "title": None, "benchmark": "b", "state": state, "commands": [], "stages": [],
        "spend": None, "missing_ledgers": [], "report": None, "live_report": None, "live_report_reason": None,
        "next": "nothing",
    }  # fmt: skip


def test_watching_ends_with_the_run_and_prints_a_line_each_time() -> None:
    states, out = iter(["running", "running", "ended"]), io.StringIO()
    waited: list[float] = []
    outcome = watch(lambda: told(next(states)), every_s=5, as_json=True, out=out, wait=waited.append)

    assert [json.loads(line)["state"] for line in out.getvalue().splitlines()] == ["running", "running"]
    assert outcome.document["state"] == "ended"
    assert len(waited) == 2
    assert min(waited) >= 5


def test_a_look_that_fails_is_told_and_the_next_one_counts(capsys: pytest.CaptureFixture[str]) -> None:
    looks: Iterator[Any] = iter([told("running"), StorageError("s3://b: nobody answers"), told("ended")])

    def read() -> Any:
        found = next(looks)
        if isinstance(found, Exception):
            raise found
        return found

    outcome = watch(read, every_s=5, as_json=True, out=io.StringIO(), wait=lambda _: None)

    assert outcome.document["state"] == "ended"
    assert capsys.readouterr().err == "cannot be read now, and is read again: s3://b: nobody answers\n"
    looks = iter([FileNotFoundError("gone")])
    with pytest.raises(FileNotFoundError):
        watch(read, every_s=5, as_json=True, out=io.StringIO(), wait=lambda _: None)


def test_watching_stops_at_an_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: float) -> None:
        raise Interrupted(signal.SIGINT)

    outcome = watch(lambda: told("running"), every_s=5, as_json=False, out=io.StringIO(), wait=interrupted)

    assert outcome.exit_code == 130
    assert "goes on by itself" in capsys.readouterr().err
