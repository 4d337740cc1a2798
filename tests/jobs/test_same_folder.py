"""One run folder and several commands: what may be added, what is refused, and what is told of the work."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.ledger.ledger import Ledger
from actors.storage.folder import Folder
from jobs import aggregate, evaluate
from jobs.results.write import read_results
from jobs.stages import split
from tests.completion import completion
from tests.jobs.held_server import HeldServer, serving
from tests.jobs.run_content import copy_runs

CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient"}
CONFIG: dict[str, Any] = {
    "name": "same folder",
    "seed": 1,
    "retrievers": {"bm25": {"kind": "bm25", "k1": 0.9}, "keywords": {"kind": "keywords"}},
    "summarizers": {"scripted": {"kind": "chat", "chat": CHAT}},
    "judges": {"offline": {"kind": "offline", "calibration": "people"}},
    "systems": [{"retriever": ["bm25", "keywords"], "budget_tokens": 600, "summarizer": "scripted"}],
    "resamples": 100,
}


class Runs:
    """A configuration file, and a folder in which commands run it."""

    def __init__(self, folder: Path, bench: str) -> None:
        self.folder, self.bench, self.out = folder, bench, str(folder / "run")
        self.config = folder / "config.yaml"
        self.write(CONFIG)

    def write(self, content: dict[str, Any]) -> None:
        self.config.write_text(yaml.safe_dump(content))

    def evaluate(self, *more: str) -> int:
        return evaluate.main([str(self.config), "--bench", self.bench, "--out", self.out, *more])

    def record(self) -> dict[str, Any]:
        return dict(Folder(self.out).read_json("run.json"))

    def content(self) -> dict[str, bytes]:
        files = (path for path in Path(self.out).rglob("*") if path.is_file())
        return {str(path.relative_to(self.out)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def finished(bench: str, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run whose first command was stopped by its budget in the middle of a stage; to read and to be refused."""
    runs = Runs(tmp_path_factory.mktemp("finished"), bench)
    assert runs.evaluate("--limit", "2", "--max-calls", "1") == 4
    assert runs.evaluate("--limit", "2", "--workers", "0") == 0
    return runs


@pytest.fixture
def again(finished: Runs, tmp_path: Path) -> Runs:
    """The same in a folder of its own, to change."""
    copy_runs(finished.folder, tmp_path)
    return Runs(tmp_path, finished.bench)


@pytest.mark.parametrize("name", ["results.json", "report/made_of.json"])
def test_damaged_results_are_written_anew(name: str, again: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    damaged, before = Path(again.out) / name, again.content()
    damaged.write_bytes(before[name][:20])
    assert again.evaluate("--limit", "2", "--workers", "0") == 0
    assert "is damaged; written anew from the tables" in capsys.readouterr().err
    tables = [json.loads(content[name])["tables"] for content in (before, again.content())] if "results" in name else []
    assert tables[:1] == tables[1:]
    assert again.evaluate("--limit", "2", "--workers", "0") == 0
    assert "damaged" not in capsys.readouterr().err


# ---------------------------------------------------------------- a run that somebody takes away


class _Moving(BaseHTTPRequestHandler):
    """Answers calls; with one of them the run is gone."""

    server: Moving

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.left -= 1
        if not self.server.left:
            Path(self.server.run).rename(f"{self.server.run}-moved")  # all of it at once
        body = json.dumps(completion(message={"content": "- Swans nest by the lake [1]."})).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


class Moving(HeldServer):
    def __init__(self, run: str, call: int) -> None:
        super().__init__(_Moving)
        self.run, self.left = run, call


@pytest.mark.parametrize("call", [1, 6])
def test_a_run_that_is_gone_before_it_is_made_is_an_error(
    call: int, bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs(tmp_path, bench)
    with serving(Moving(runs.out, call)) as server:
        chat = {"model": "m", "base_url": f"http://127.0.0.1:{server.server_port}/v1", "concurrency": 1}
        one = {"retriever": "keywords", "budget_tokens": 600, "summarizer": "scripted"}
        runs.write(CONFIG | {"summarizers": {"scripted": {"kind": "chat", "chat": chat}}, "systems": [one]})
        assert runs.evaluate("--workers", "0") == 1
        assert server.left <= 0, "nobody moved it"
    told = capsys.readouterr().err.splitlines()[-1]
    assert "run.json is gone: expected the run that this command works on" in told
    assert "give the same command again" in told
    assert not (Path(runs.out) / "run.json").exists()


def test_a_run_that_is_gone_while_its_results_are_made_has_none(
    again: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def made(*_: Any, **__: Any) -> dict[str, Any]:
        Path(again.out).rename(f"{again.out}-moved")
        return {"size": {}}

    monkeypatch.setattr("jobs.evaluations.evaluation.evaluation_results", made)
    assert again.evaluate("--limit", "2", "--workers", "0") == 1
    assert "run.json is gone" in capsys.readouterr().err.splitlines()[-1]


def stages(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {stage["name"]: stage for stage in told["stages"]}


# ---------------------------------------------------------------- other rules


def test_work_of_other_rules_is_made_again_and_said(
    again: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The summaries stay: no model is asked again."""
    monkeypatch.setattr(split, "VERSIONS", {kind: f"{version} as once" for kind, version in split.VERSIONS.items()})

    assert again.evaluate("--limit", "2", "--workers", "0") == 0

    (told,) = [line for line in capsys.readouterr().err.splitlines() if "made again" in line]
    assert told.partition("made again: ")[2].startswith("split (4 summaries), judge offline (4 summaries), score")
    assert stages(again.record())["summarize scripted"]["pieces"] == 4


def test_work_of_the_same_rules_is_not_said_to_be_made_again(again: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert again.evaluate("--limit", "2", "--workers", "0") == 0
    assert "made again" not in capsys.readouterr().err


# ---------------------------------------------------------------- what the work cost


def test_a_resume_of_a_stopped_stage_sums(finished: Runs) -> None:
    record = finished.record()
    written = stages(record)["summarize scripted"]

    assert [work["pieces"] for work in written["work"]] == [1, 3]
    assert [work["workers"] for work in written["work"]] == [0, 0], "in the command's own process"
    assert (written["pieces"], written["rows"], written["wanted"], written["pieces_untold"]) == (4, 4, 4, 0)
    assert written["seconds"] == sum(work["seconds"] for work in written["work"]) > 0
    assert {work["command"] for work in written["work"]} == set(record["commands"])
    assert all(maker["versions"]["ray"] for maker in record["commands"].values())
    called = [part for job in record["jobs"] for part in job["stages"] if part["stage"] == "summarize scripted"]
    ledger = Ledger.existing(str(finished.folder / "ledger"))
    assert sum(part["calls"] for part in called) == ledger.totals(stage="summarize scripted").calls
    ledger.close()


def test_a_call_that_does_nothing_keeps_what_the_work_cost(again: Runs) -> None:
    before = again.record()

    assert again.evaluate("--limit", "2") == 0

    after = again.record()
    assert after["stages"] == before["stages"]
    assert after["commands"] == before["commands"]
    did = after["last_call"]["stages"]
    assert len(did) == len(before["stages"])
    assert all((stage["rows"], stage["found"]) == (0, stage["wanted"]) for stage in did)
    report = (Path(again.out) / "report" / "report.md").read_text()
    assert "| retrieve | " in report
    assert "0 new rows; all 4 pieces were there" in report
    assert read_results(Folder(again.out))["run"]["stages"] == before["stages"]


def test_work_of_a_command_that_was_killed_is_told_as_untold(again: Runs) -> None:
    """Its rows are there, but nobody knows what they took."""
    record = again.record()
    stages(record)["retrieve"].update({"pieces": 0, "rows": 0, "seconds": 0, "work": []})
    Folder(again.out).write_json("run.json", record)

    assert again.evaluate("--limit", "2") == 0

    assert stages(again.record())["retrieve"]["pieces_untold"] == 4
    report = (Path(again.out) / "report" / "report.md").read_text()
    assert "Further pieces: done by a command that was killed" in report
    heads = next(line for line in report.splitlines() if line.startswith("| stage | rows |")).split(" | ")
    work = next(line for line in report.splitlines() if line.startswith("| retrieve | –")).split(" | ")
    assert work[heads.index("further pieces")] == "4"


def test_a_record_of_the_first_format_is_read(again: Runs) -> None:
    record = again.record()
    told = [
        {key: stage[key] for key in ("name", "table", "wanted", "rows", "seconds")} | {"found": 0}
        for stage in record["stages"]
    ]
    kept = {key: record[key] for key in ("verb", "benchmark", "config", "limit", "jobs")}
    Folder(again.out).write_json("run.json", {**kept, "git_commit": "abc", "versions": {"ray": "1"}, "stages": told})

    assert again.evaluate("--limit", "2") == 0

    after = again.record()
    assert [stage["rows"] for stage in after["stages"]] == [stage["rows"] for stage in record["stages"]]
    assert [maker["git_commit"] for maker in after["commands"].values()] == ["abc"]
    assert all(stage["pieces"] == stage["wanted"] for stage in after["stages"])


def test_a_record_of_a_later_format_is_refused(again: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    Folder(again.out).write_json("run.json", {**again.record(), "format": 99})

    assert again.evaluate() == 2
    assert "format 99" in capsys.readouterr().err
    assert again.record()["format"] == 99


# ---------------------------------------------------------------- another configuration


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("seed=7", "seed was 1, is 7"),
        ("retrievers.bm25.k1=1.2", "retrievers.bm25.k1 was 0.9, is 1.2"),
        ("retrievers.bm25={kind: oracle}", "retrievers.bm25.kind was bm25, is oracle"),
        ("judges.offline.calibration=gpt-4o", "judges.offline.calibration was people, is gpt-4o"),
        ("summarizers.scripted.chat.max_tokens=7", "summarizers.scripted.chat.max_tokens was 1000, is 7"),
        ("judges={}", "judges.offline is left out"),
        (
            "systems.0.retriever=bm25",
            "systems: keywords, 600 tokens, order given, method plain, by scripted is left out",
        ),
        ("query_text=query", "query_text was query_subtopic, is query"),
        ("bullets=3", "bullets was targets, is 3"),
        ("ranking_depth=7", "ranking_depth was 1000, is 7"),
        ("importance={kind: released}", "importance.kind was relevance, is released"),
    ],
)
def test_what_would_change_the_meaning_of_rows_is_refused_by_name(
    finished: Runs, change: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = finished.content()

    assert finished.evaluate("--limit", "2", "--set", change, "--until", "pack") == 2

    said = capsys.readouterr().err
    assert told in said
    assert "--out" in said
    assert finished.content() == before


def test_fewer_queries_and_another_prompt_are_refused(again: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert again.evaluate("--limit", "1") == 2
    assert "--limit was 2, is 1" in capsys.readouterr().err

    prompts = again.folder / "prompts"
    prompts.mkdir()
    shipped = files("longform.prompts").joinpath("summarize_news.md").read_text()
    (prompts / "summarize_news.md").write_text(shipped)
    again.write({**CONFIG, "prompts": str(prompts)})
    assert again.evaluate("--limit", "2", "--until", "pack") == 0, "the same words in a folder of one's own"

    (prompts / "summarize_news.md").write_text(f"{shipped}\nBe brief.\n")
    assert again.evaluate("--limit", "2", "--until", "pack") == 2
    assert "the version of summarize_news was " in capsys.readouterr().err


def test_the_run_can_be_scored_again_after_a_refusal(again: Runs) -> None:
    assert again.evaluate("--limit", "2", "--set", "seed=7", "--until", "pack") == 2

    assert aggregate.main([again.out, "--set", "partial_score=0.25"]) == 0
    assert again.record()["config"]["partial_score"] == 0.25
    assert aggregate.main([again.out, "--set", "seed=7"]) == 2


def test_a_run_of_another_verb_is_refused(again: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    Folder(again.out).write_json("run.json", again.record() | {"verb": "replay"})

    assert again.evaluate("--limit", "2") == 2
    assert "holds a run of `longform replay`, not of `longform evaluate`" in capsys.readouterr().err


def test_settings_that_change_results_alone_are_said(again: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    told = f"{again.out}: results are made by other settings than before: "
    words = ("--limit", "2", "--workers", "0")
    assert again.evaluate(*words, "--set", "partial_score=0.25", "--set", "measures=[coverage]") == 0
    assert f"{told}measures was not set, is ['coverage']; partial_score was 0.5, is 0.25\n" in capsys.readouterr().err
    assert again.evaluate(*words, "--plan") == 0
    assert told not in capsys.readouterr().err
    assert aggregate.main([again.out, "--set", "partial_score=0.5", "--workers", "0"]) == 0
    assert f"{told}partial_score was 0.25, is 0.5\n" in capsys.readouterr().err
    assert again.evaluate(*words, "--set", "measures=[coverage]") == 0
    assert told not in capsys.readouterr().err


def test_systems_judges_queries_and_what_only_scores_again_are_added(again: Runs) -> None:
    more = json.loads(json.dumps(CONFIG)) | {"name": "renamed", "resamples": 200, "unjudged_threshold": 0.5}
    more["retrievers"]["oracle"] = {"kind": "oracle"}
    more["judges"]["like-gpt-4o"] = {"kind": "offline", "calibration": "gpt-4o"}
    more["summarizers"]["scripted"]["chat"] = {**CHAT, "concurrency": 3, "timeout_s": 9}
    more["systems"][0]["retriever"] = ["oracle", "keywords", "bm25"]
    again.write(more)

    assert again.evaluate("--limit", "3") == 0

    did = stages(again.record()["last_call"])
    assert (did["summarize scripted"]["found"], did["summarize scripted"]["pieces"]) == (4, 5)
    assert (did["judge offline"]["found"], did["judge offline"]["pieces"]) == (4, 5)
    assert did["judge like-gpt-4o"]["pieces"] == 9
    assert stages(again.record())["summarize scripted"]["rows"] == 9


def test_a_plan_binds_a_folder_to_nothing(bench: str, tmp_path: Path) -> None:
    """A smaller request may follow in the same folder."""
    runs = Runs(tmp_path, bench)
    assert runs.evaluate("--plan") == 0
    assert aggregate.main([runs.out]) == 2

    assert runs.evaluate("--limit", "1", "--set", "systems.0.retriever=bm25", "--until", "pack") == 0
    assert runs.record()["config"]["systems"][0]["retriever"] == ["bm25"]
