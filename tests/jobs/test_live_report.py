"""The report of a run that goes on: written by `status --watch`, and never in the place of the run's own."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.rehearsal.fake_replies import completion
from actors.storage.benchmark import Benchmark
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from jobs.evaluate import main as evaluate
from jobs.export import main as export
from jobs.gate import main as gate
from jobs.report import main as report
from jobs.results.live import LiveReport, RunRows, judged_so_far, publish
from jobs.results.run_status import run_status, stored_so_far
from jobs.results.write import read_results, retire
from jobs.stages.accounts import RECEIPTS_A_COMMIT
from jobs.stages.items import Source
from jobs.status import watch
from longform.results.run_status import Status
from tests.jobs.answers.town import town
from tests.jobs.held_server import HeldServer, serving

DEADLINE_S = 240
SO_FAR: Status = {"judged": 1, "queries": 2, "waiting": [], "as_of": "noon", "goes_on": True}
_INSIGHT = re.compile(r"\binsight:\s*(.+)", re.IGNORECASE)


class Gate(HeldServer):
    """A judge that answers, but holds what is asked about the insights in `held` until `free` is set."""

    def __init__(self, held: Collection[str]) -> None:
        super().__init__(_Judge)
        self.held = frozenset(held)


class _Judge(BaseHTTPRequestHandler):
    server: Gate

    def do_POST(self) -> None:
        body: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = _INSIGHT.findall(body["messages"][-1]["content"])
        if self.server.held & {text.strip() for text in asked}:
            self.server.free.wait(DEADLINE_S)
        answer = json.dumps(completion(body)).encode()
        with suppress(OSError):  # whoever asked was killed
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


def words(folder: Path, bench: str, server: Gate) -> list[str]:
    chat = {"model": "gate", "base_url": f"http://127.0.0.1:{server.server_port}/v1", "concurrency": 128}
    config = {
        "name": "watched",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"gated": {"kind": "chat", "chat": chat}, "late": {"kind": "offline", "calibration": "people"}},
        "systems": [{"retriever": "bm25", "budget_tokens": 300, "summarizer": "offline"}],
        "citations": "matrix",
        "resamples": 100,
    }
    (folder / "watched.yaml").write_text(json.dumps(config))
    return [str(folder / "watched.yaml"), "--bench", bench, "--out", str(folder / "run"), "--workers", "0"]


@pytest.fixture(scope="module")
def bench() -> str:
    return town()


@contextmanager
def evaluating(arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "OPENAI_API_KEY": "not-a-secret"}
    command = [sys.executable, "-m", "jobs.evaluate", *arguments]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(DEADLINE_S)


def split(bench: str) -> tuple[list[str], list[str], list[str]]:
    """Return the queries that one commit holds, the others, and the insights of these."""
    benchmark = Benchmark(bench)
    judged, held = list(benchmark.queries)[:RECEIPTS_A_COMMIT], list(benchmark.queries)[RECEIPTS_A_COMMIT:]
    assert held
    return judged, held, [target.text for query_id in held for target in benchmark.targets[query_id]]


class Watching:
    """Watches a run; `wait` goes on at once until *at* judged queries are reported, and does then what `then` does."""

    def __init__(self, run: Path, process: subprocess.Popen[bytes]) -> None:
        self.run, self.process, self.out = run, process, io.StringIO()
        self.ends = time.monotonic() + DEADLINE_S
        while not (run / "run.json").exists():
            self.step()

    def until(self, at: int, then: Any) -> Status:
        done: list[int] = []

        def wait(_: float) -> None:
            last: Status = json.loads(self.out.getvalue().splitlines()[-1])
            if not done and last["live_report"] is not None and last["live_report"]["judged"] == at:
                done.append(at)
                then()
            self.step()

        with LiveReport(str(self.run), clock=lambda: 0.0) as live:
            found = watch(self.read, every_s=0, as_json=True, out=self.out, wait=wait, live=live)
        assert done == [at], self.out.getvalue()
        return found.document

    def read(self) -> Status:
        return run_status(str(self.run))

    def step(self) -> None:
        """Look again soon, as at another process one must."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.1)
        assert time.monotonic() < self.ends, self.out.getvalue()


def html(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.html")}


@pytest.mark.drawn
def test_a_live_report_shows_exactly_the_judged_queries_and_the_runs_own_report_stands_in_the_end(
    tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judged, held, insights = split(bench)
    run, seen = tmp_path / "run", {}

    def look() -> None:
        seen.update(html(run / "report" / "live"))
        assert not (run / "results.json").exists()
        assert list((run / "report").iterdir()) == [run / "report" / "live"]
        for verb, arguments in ((gate, []), (export, ["--as", "csv", "--out", str(tmp_path / "tables")])):
            assert verb([str(run), *arguments]) == 2
        assert report([str(run), "--out", str(tmp_path / "pages")]) == 2
        server.free.set()

    with serving(Gate(insights)) as server, evaluating(words(tmp_path, bench, server)) as process:
        ended = Watching(run, process).until(len(judged), look)

    banner = f"This run goes on: {len(judged)} of {len(judged) + len(held)} queries judged, as of "
    assert {"index.html", "scores.html", "summaries-0001.html"} <= seen.keys()
    assert all(banner in page and "figures move." in page for page in seen.values())
    assert 'http-equiv="refresh" content="30"' in seen["index.html"]
    assert not any("refresh" in page for name, page in seen.items() if name != "index.html")
    benchmark = Benchmark(bench)
    shown = {query_id for query_id in benchmark.queries if benchmark.queries[query_id].text in seen["matrix.html"]}
    assert shown == set(judged)
    assert "Repaired citations are not shown yet" in seen["scores.html"]

    assert (ended["state"], ended["live_report"], ended["live_report_reason"]) == ("ended", None, None)
    final = html(run / "report")
    assert not any("This run goes on" in page or "refresh" in page for page in final.values())
    assert "so_far" not in read_results(Folder(str(run)))
    assert [path.name for path in (run / "report" / "live").iterdir()] == ["index.html"]
    assert "0; url=../index.html" in (run / "report" / "live" / "index.html").read_text()
    capsys.readouterr()
    assert report([str(run), "--out", str(tmp_path / "pages")]) == 0
    assert html(tmp_path / "pages") == final, "the pages are those that the run's results make"


def test_pages_of_a_killed_run_say_so_and_it_goes_on(tmp_path: Path, bench: str, monkeypatch: Any) -> None:
    judged, held, insights = split(bench)
    run = tmp_path / "run"
    with serving(Gate(insights)) as server, evaluating(words(tmp_path, bench, server)) as process:
        killed = Watching(run, process).until(len(judged), lambda: process.send_signal(signal.SIGKILL))

        assert killed["state"] == "killed"
        assert killed["live_report"] is not None
        assert not killed["live_report"]["goes_on"]
        pages = html(run / "report" / "live")
        told = f"This run has stopped before its end: {len(judged)} of {len(judged) + len(held)} queries judged"
        assert all(told in page and "refresh" not in page for page in pages.values())
        server.free.set()
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-secret")
        assert evaluate(words(tmp_path, bench, server)) in (0, 3)
    assert "0; url=../index.html" in (run / "report" / "live" / "index.html").read_text(), "the run itself retires it"


# ---------------------------------------------------------------- a run that stands still


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, bench: str) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    with serving(Gate(())) as server, pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", "not-a-secret")
        assert evaluate(words(folder, bench, server)) in (0, 3)
    return folder / "run"


@pytest.fixture
def judged_run(finished: Path, tmp_path: Path) -> Path:
    """A run whose verdicts are all there, and whose command has not come to its scores."""
    run = tmp_path / "run"
    shutil.copytree(finished, run, ignore=shutil.ignore_patterns("report", "results.json", "scores"))
    return run


def going(run: Path) -> Status:
    found: Status = {**run_status(str(run)), "state": "running"}
    return found


def test_nothing_is_written_again_unless_more_is_judged(judged_run: Path) -> None:
    def contents() -> dict[Path, tuple[int, bytes]]:
        files = [path for path in judged_run.rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = contents()
    with LiveReport(str(judged_run), clock=lambda: 0.0) as live:
        first = live.refresh(going(judged_run))
        after = contents()
        again = live.refresh(going(judged_run))

    assert first["live_report"] == again["live_report"]
    assert contents() == after
    assert after.items() >= before.items()
    assert {path.parent for path in after.keys() - before.keys()} == {judged_run / "report" / "live"}
    assert not (judged_run / "scores").exists()


def test_nothing_judged_is_said_and_no_page_is_written(judged_run: Path) -> None:
    shutil.rmtree(judged_run / "verdicts")
    with LiveReport(str(judged_run)) as live:
        told = live.refresh(going(judged_run))
    assert (told["live_report"], told["live_report_reason"]) == (None, "no query is judged yet")
    assert not (judged_run / "report").exists()


def test_a_look_that_fails_is_told_until_one_succeeds(judged_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Folder) -> Any:
        raise StorageError("nobody answers")

    status = going(judged_run)
    with LiveReport(str(judged_run), clock=lambda: 0.0) as live:
        live.refresh(status)
        with monkeypatch.context() as patched:
            patched.setattr("jobs.results.live.read_record", fails)
            between = live.refresh(status)
        after = live.refresh(status)
    assert between["live_report_reason"] == "nobody answers"
    assert between["live_report"] is not None, "the pages stand"
    assert after["live_report_reason"] is None


def test_a_run_that_cannot_be_written_to_is_watched_all_the_same(judged_run: Path) -> None:
    (judged_run / "report").mkdir()
    (judged_run / "report" / "live").write_text("in the way")
    out = io.StringIO()
    states = iter([going(judged_run), run_status(str(judged_run))])
    with LiveReport(str(judged_run)) as live:
        watch(lambda: next(states), every_s=0, as_json=False, out=out, wait=lambda _: None, live=live)
    assert "no live report: " in out.getvalue()
    assert "a file stands where a folder is to be" in out.getvalue()


def test_a_run_that_is_removed_is_not_made_again(judged_run: Path) -> None:
    status = going(judged_run)
    with LiveReport(str(judged_run)) as live:
        shutil.rmtree(judged_run)
        assert "no run at" in str(live.refresh(status)["live_report_reason"])
    with LiveReport(str(judged_run)) as live:
        live.end(status)
    assert not judged_run.exists()


def test_a_part_that_is_not_whole_costs_the_pages_alone(judged_run: Path) -> None:
    status = going(judged_run)
    for part in (judged_run / "verdicts").glob("*.parquet"):  # which of them are read depends on the judge
        part.write_bytes(part.read_bytes()[:100])
    with LiveReport(str(judged_run)) as live:
        told = live.refresh(status)
    assert told["live_report"] is None
    assert "expected a Parquet file, and its content is damaged" in str(told["live_report_reason"])


def test_a_watcher_that_wrote_after_the_run_had_ended_gives_way(finished: Path, tmp_path: Path) -> None:
    run = Folder(str(shutil.copytree(finished, tmp_path / "run")))
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "index.html").write_text("late")
    publish(run, Folder(str(tmp_path / "made")), SO_FAR)
    own = html(finished / "report")
    assert stored_so_far(run) == SO_FAR
    assert html(tmp_path / "run" / "report") == own
    with LiveReport(run.url) as live:
        assert live.end(run_status(run.url))["live_report"] is None
    assert "url=../index.html" in run.read_bytes("report/live/index.html").decode()
    assert html(tmp_path / "run" / "report") == own
    retire(run)  # twice is once
    assert run.names("report/live") == ["index.html"]


# ---------------------------------------------------------------- what counts as judged


def tables(*verdicts: str) -> Any:
    texts = ("s1", "s2", "s3")
    held = {"summaries": texts, "verdicts": verdicts}
    return {name: SimpleNamespace(located=dict.fromkeys(work_ids, "part")) for name, work_ids in held.items()}


def wanted(**judges: dict[str, str]) -> RunRows:
    texts = {query: [Source("summaries", f"s{query}")] for query in "1234"}
    verdicts = {name: {query: [Source("verdicts", one)] for query, one in of.items()} for name, of in judges.items()}
    return RunRows(texts, verdicts)


def test_a_query_is_judged_if_it_is_written_and_the_judge_that_is_ahead_has_judged_it() -> None:
    both = wanted(a={"1": "a1", "2": "a2", "3": "a3", "4": "a4"}, b={"1": "b1", "2": "b2", "3": "b3"})

    assert judged_so_far(both, tables()) == (frozenset(), ())
    assert judged_so_far(both, tables("a2", "a4")) == (frozenset("2"), ("b",)), "the fourth is not written"
    assert judged_so_far(both, tables("a1", "a2", "b2")) == (frozenset("12"), ("b",))
    assert judged_so_far(both, tables("a1", "a2", "b2", "b1")) == (frozenset("12"), ())
    assert judged_so_far(wanted(), tables()) == (frozenset("123"), ()), "without a judge, what is written"
    lacking = wanted(a={"1": "a1", "2": "a2"}, b={"1": "b1"})
    assert judged_so_far(lacking, tables("a1", "a2", "b1")) == (frozenset("12"), ()), "b is not asked about 2"
