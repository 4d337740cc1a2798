"""The main job from `s3://` to `s3://`, on a real S3 server: killed, resumed, and refused."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.synthesis.haystacks import read_config, synthesize
from longform.rehearsal.settings import FakeSettings
from tests.jobs.killing import CONCURRENCY, WORKERS, Command, Fake, until
from tests.jobs.run_content import assert_same_tables

pytest_plugins = ["tests.s3_server"]
pytestmark = pytest.mark.slow

MOMENT = 4  # calls that are answered before the kill; some are in flight then


def experiment(url: str) -> dict[str, Any]:
    chat = {"provider": "openai", "model": "fake", "base_url": url, "concurrency": CONCURRENCY}
    return {
        "name": "s3",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}},
        "summarizers": {"chat": {"kind": "chat", "chat": chat}},
        "judges": {"chat": {"kind": "chat", "chat": chat}},
        "systems": [{"retriever": "bm25", "budget_tokens": 600, "summarizer": "chat"}],
        "resamples": 100,
    }


@dataclass(frozen=True, kw_only=True)
class Evaluating:
    """The same experiment wherever its benchmark, its run and its ledger are."""

    config: str
    at: str

    def command(self, folder: Path, until: str) -> list[str]:
        paths = ["--bench", f"{self.at}/bench", "--out", f"{self.at}/run", "--ledger", f"{self.at}/ledger"]
        return ["jobs.evaluate", self.config, *paths, "--until", until]


@pytest.fixture(scope="module")
def provider() -> Iterator[Fake]:
    """Slow enough that a run can be killed between its first call and its last."""
    with fake_process(FakeSettings(delay_s=0.5, slow_share=0)) as url:
        yield Fake(url)


def evaluating(at: str, fake: Fake, folder: Path) -> Evaluating:
    folder.mkdir()
    Folder(at).write_bytes("s3.yaml", yaml.safe_dump(experiment(fake.url)).encode())
    synthesize(read_config("demo", ["haystacks=1", "topics=[railway]"]), f"{at}/bench")
    return Evaluating(config=f"{at}/s3.yaml", at=at)


def test_run_on_s3_that_was_killed_ends_like_a_local_one(provider: Fake, s3_url: str, tmp_path: Path) -> None:
    """Configuration, benchmark, run and ledger are on S3; nothing of the run is on this machine."""
    local = evaluating(str(tmp_path / "here"), provider, tmp_path / "local")
    with Command(local, tmp_path / "local", workers=0) as command:
        assert command.wait() == 0, command.said()
    n_calls = provider.counters()["accepted"]
    provider.reset()

    remote = evaluating(s3_url, provider, tmp_path / "remote")
    with Command(remote, tmp_path / "remote") as command:
        command.reach(provider, MOMENT)
        command.signal(signal.SIGKILL)
        command.gone()
        until(lambda: provider.counters()["in_flight"] == 0, "the provider sees that nobody waits for replies")
    assert MOMENT <= provider.counters()["accepted"] < n_calls
    with Command(remote, tmp_path / "remote", workers=0) as again:
        assert again.wait() == 0, again.said()

    assert len(provider.served_again()) <= WORKERS * CONCURRENCY
    assert_same_tables(Folder(f"{s3_url}/run"), Folder(f"{tmp_path}/here/run"))
    assert {file.name for file in (tmp_path / "remote").iterdir()} == {"said.txt"}


@pytest.mark.parametrize("wrong", ["bench", "out", "ledger"])
def test_missing_bucket_ends_the_command_before_any_work(
    wrong: str, s3_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and exit code 1, whichever of its places is wrong."""
    config = tmp_path / "s3.yaml"
    config.write_text(yaml.safe_dump(experiment("http://127.0.0.1:9/v1")))
    synthesize(read_config("demo", ["haystacks=1", "topics=[railway]"]), f"{s3_url}/bench")
    places = {"bench": f"{s3_url}/bench", "out": f"{s3_url}/run", "ledger": f"{s3_url}/ledger"}
    places[wrong] = f"s3://no-such-bucket/{wrong}"
    options = [word for name, url in places.items() for word in (f"--{name}", url)]
    capsys.readouterr()  # the settings that the benchmark was made with

    assert main([str(config), *options]) == 1

    said = capsys.readouterr()
    assert f"s3://no-such-bucket/{wrong}: cannot be reached: there is no such bucket; make it" in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""
    assert not Folder(f"{s3_url}/run").exists()


def test_wrong_secret_ends_the_command_before_any_work(
    s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "s3.yaml"
    config.write_text(json.dumps(experiment("http://127.0.0.1:9/v1")))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")

    assert main([str(config), "--bench", f"{s3_url}/bench", "--out", f"{s3_url}/run"]) == 1

    said = capsys.readouterr().err
    assert "the secret is not the access key's; set AWS_SECRET_ACCESS_KEY" in said
    assert len(said.strip().splitlines()) == 1
