"""`longform synthesize-models`: what it leaves behind, what it refuses, and what is left when it is killed."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.rehearsal.fake_provider import fake_process
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluate import main as evaluate
from jobs.results.write import read_results
from jobs.stages.cluster import Cluster
from jobs.synthesis.model_synthesis import Synthesis, read_config
from jobs.synthesize_models import main, synthesize_with_models
from longform.errors import UsageError
from longform.records import gold_documents
from longform.rehearsal.settings import FakeSettings
from tests.jobs.attempts import counted_attempts
from tests.jobs.killing import Command, Fake, bill, until
from tests.results import cells_of
from tests.soak import ONLY_IN_SOAK

SIZES = {"subtopics": 3, "insights": 3, "least_insights": 2, "documents": 8, "words": 60}
SMALL = [f"sizes.{name}={value}" for name, value in SIZES.items()] + ["sizes.subtopics_per_document=3"]


# ---------------------------------------------------------------- what it leaves


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("made") / "bench")
    synthesize(url)
    return url


def synthesize(url: str, *changes: str) -> dict[str, Any]:
    return synthesize_with_models(
        read_config("rehearsal", [*SMALL, *changes]),
        url,
        cluster=Cluster(address=None, workers=0),
        calling=Calling("test", ledger=f"{url}-ledger"),
    )


def test_it_leaves_a_benchmark_and_an_account_of_every_attempt(bench: str) -> None:
    made, account = Benchmark(bench), Folder(bench).read_json("synthesis.json")
    assert [len(made.documents(haystack)) for haystack in made.haystack_ids] == [8, 8]
    assert {query.domain for query in made.queries.values()} == {"news", "conversation"}
    assert min(map(len, gold_documents(made.qrels).values())) >= 5

    attempts = counted_attempts(bench, account)
    assert attempts["article omissions", "accepted"] + attempts["article omissions", "exhausted"] == 8
    assert all(0 <= len(one["known_without_documents"]) < one["insights"] for one in account["haystacks"])
    assert account["dataset_hash"] == made.manifest["dataset_hash"]


def test_again_it_calls_nobody_and_writes_the_same_and_another_configuration_is_refused(bench: str) -> None:
    before = contents(Path(bench))
    account = synthesize(bench)
    assert contents(Path(bench)) == before
    assert account == Folder(bench).read_json("synthesis.json")
    with pytest.raises(UsageError, match="other contents or settings, or by another version, stands here"):
        synthesize(bench, "seed=2")


def contents(bench: Path) -> dict[str, bytes]:
    """The files of a benchmark, but for the folder of what it was made from."""
    return {
        str(file.relative_to(bench)): file.read_bytes()
        for file in sorted(bench.rglob("*"))
        if file.is_file() and file.relative_to(bench).parts[0] != "synthesis"
    }


# ---------------------------------------------------------------- what it is for

EXPERIMENT = """
name: made
seed: 1
retrievers: {bm25: {kind: bm25}}
summarizers: {offline: {kind: offline}}
judges: {offline: {kind: offline, calibration: people}}
systems: [{retriever: bm25, budget_tokens: 400, summarizer: offline}]
"""


def test_a_run_on_it_is_scored_and_its_report_says_how_far_to_trust_it(bench: str, tmp_path: Path) -> None:
    (tmp_path / "made.yaml").write_text(EXPERIMENT)
    run = tmp_path / "run"
    few = ["--limit", "2", "--workers", "0"]
    assert evaluate([str(tmp_path / "made.yaml"), "--bench", bench, "--out", str(run), *few]) == 0

    results = read_results(Folder(str(run)))
    assert cells_of(results)
    assert results["synthesis"] == Folder(bench).read_json("synthesis.json")
    assert results["benchmark_tables"] == Folder(bench).read_json("tables.json")
    page = (run / "report" / "report.md").read_text()
    assert "How far to trust this benchmark" in page
    assert "The checks of the synthesis" in page


# ---------------------------------------------------------------- what it plans


def plan(url: str, capsys: pytest.CaptureFixture[str], *changes: str) -> dict[str, Any]:
    arguments = [part for change in changes for part in ("--set", change)]
    assert main(["rehearsal", "--out", url, "--plan", "--json", *arguments]) == 0
    planned: dict[str, Any] = json.loads(capsys.readouterr().out)
    return planned


def test_a_plan_says_calls_and_dollars_at_least_and_at_most_and_asks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs no key either."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = plan(f"{tmp_path}/bench", capsys, "verifier={model: gpt-4o-2024-08-06}", "outsider=null")

    for bound in ("lowest", "highest"):
        total = found[bound]["total"]
        assert total["calls"] == sum(row[bound] for row in found["steps"])
        assert 0 < total["usd"]["low"] < total["usd"]["high"]
    assert found["lowest"]["total"]["usd"]["high"] < found["highest"]["total"]["usd"]["high"]
    assert {row["role"] for row in found["steps"]} == {"planner", "writer", "verifier"}
    assert not list(tmp_path.iterdir())


def test_a_plan_names_no_step_that_its_caps_rule_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = plan(f"{tmp_path}/bench", capsys, "caps.edits=0")
    assert "look for omissions" in {row["step"] for row in found["steps"]}
    assert not {"take leaks out", "put what is missing in"} & {row["step"] for row in found["steps"]}


def test_a_plan_of_what_is_made_already_is_empty(bench: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(bench, capsys, *SMALL)["steps"] == []


def opened(url: str, *changes: str) -> Synthesis:
    config = read_config("rehearsal", [*SMALL, *changes])
    return Synthesis(config, url, cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=url))


def test_topics_that_begin_alike_are_two_haystacks(tmp_path: Path) -> None:
    begin = "Three clerks prepare the yearly report of a"
    made = opened(str(tmp_path), f"topics.0.title={begin} bank", f"topics.1.scenario={begin} mill")
    names = [work.haystack_id.rpartition("-") for work in made.recipe.works("outline", {})]
    assert {name for name, *_ in names} == {"three-clerks-prepare-the-yearly-report"}
    assert len({key for *_, key in names}) == 2


def test_a_benchmark_keeps_the_ids_that_it_was_begun_with(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version may cut names in another way."""
    shutil.copytree(bench, tmp_path / "bench")
    monkeypatch.setattr("longform.synthesis.written.recipe.readable_id", lambda *_: "another")
    made = opened(str(tmp_path / "bench"))
    account = made.make()
    assert sorted(one["haystack_id"] for one in account["haystacks"]) == sorted(Benchmark(bench).haystack_ids)


# ---------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param("sizes.documents=5", "ask for 14 documents", id="too-few-documents"),
        pytest.param("sizes.words=5000", "set it to 10000 or more", id="reply-too-short"),
        pytest.param("seed=-1", "greater than or equal to 0", id="no-seed"),
        pytest.param("writer.script=novel", "one of", id="unknown-script"),
        pytest.param("planner={model: o1-mini}", "does not accept temperature", id="no-temperature"),
        pytest.param("topics.0.seed_files=[nowhere.txt]", "seed file cannot be read", id="no-seed-file"),
        pytest.param("prompts=nowhere", "does not exist", id="no-prompts"),
    ],
)
def test_what_cannot_work_is_refused_before_the_first_call(
    change: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-secret")
    assert main(["rehearsal", "--out", str(tmp_path / "bench"), "--set", change]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- killed


@dataclass(frozen=True)
class Making:
    """A synthesis over the fake provider."""

    config: Path

    def command(self, folder: Path, until: str) -> list[str]:
        paths = ["--out", f"{folder}/bench", "--ledger", f"{folder}/ledger"]
        return ["jobs.synthesize_models", str(self.config), *paths]


@pytest.fixture(scope="module")
def provider() -> Iterator[Fake]:
    with fake_process(FakeSettings(delay_s=0.2)) as url:
        yield Fake(url)


@pytest.fixture(scope="module")
def making(provider: Fake, tmp_path_factory: pytest.TempPathFactory) -> Making:
    file = tmp_path_factory.mktemp("config") / "killed.yaml"
    config = read_config("rehearsal", SMALL).model_dump(mode="json", exclude_none=True)
    for role in ("writer", "verifier", "outsider"):
        # refusals are no answers: the ledger does not keep them, and they may be asked for again
        model = config[role]["model"].replace("refusals=0.02", "refusals=0")
        config[role] = {"model": model, "max_tokens": 2000, "base_url": provider.url, "concurrency": 8}
    file.write_text(yaml.safe_dump(config))
    return Making(file)


@pytest.mark.slow
@ONLY_IN_SOAK
def test_killed_the_same_command_makes_the_same_benchmark_and_repeats_no_finished_call(
    making: Making, provider: Fake, tmp_path: Path
) -> None:
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    with Command(making, undisturbed, workers=0) as command:
        code = command.wait()
        assert code in (0, 3), command.said()
    n_calls = provider.counters()["accepted"]
    assert provider.served_again() == []

    killed = tmp_path / "killed"
    killed.mkdir()
    provider.reset()
    with Command(making, killed) as command:
        command.reach(provider, 3 * n_calls // 5)  # the outlines are done, and some of the documents
        command.signal(signal.SIGKILL)
        command.gone()
        until(lambda: provider.counters()["in_flight"] == 0, "the provider sees that nobody waits for replies")
    assert provider.counters()["accepted"] < n_calls
    with Command(making, killed) as command:
        assert command.wait() == code, command.said()

    assert contents(killed / "bench") == contents(undisturbed / "bench")
    found = bill(provider, killed)
    assert found.ledger.answered == n_calls
    assert found.n_again <= found.ledger.open
