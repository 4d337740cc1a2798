"""`python -m serve deploy` ends when the applications run, or with the reason why they cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from longform.errors import LongformError
from serve.__main__ import deploy, main

CONFIG: dict[str, Any] = {"applications": [{"name": "one"}, {"name": "two"}]}


class Cluster:
    """Says of its applications what it was told, one after the other; time passes while somebody waits."""

    def __init__(self, *said: dict[str, Any]) -> None:
        self.said = list(said)
        self.sent: list[dict[str, Any]] = []
        self.now = 0.0

    def deploy_applications(self, config: dict[str, Any]) -> None:
        self.sent.append(config)

    def get_serve_details(self) -> dict[str, Any]:
        return {"applications": self.said.pop(0) if len(self.said) > 1 else self.said[0]}

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def deploys(self) -> str:
        return deploy(CONFIG, self, timeout_s=30, clock=self.clock, sleep=self.sleep)


def states(one: dict[str, Any], two: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"one": {"deployments": {}, **one}, "two": {"deployments": {}, **(two or {"status": "RUNNING"})}}


def test_it_waits_until_all_run() -> None:
    cluster = Cluster({}, states({"status": "DEPLOYING"}), states({"status": "RUNNING"}))
    assert cluster.deploys() == "one, two: running"
    assert cluster.sent == [CONFIG]


def test_an_application_that_cannot_be_built_ends_it_with_the_last_line() -> None:
    cluster = Cluster(
        states({"status": "DEPLOY_FAILED", "message": "Deploying app 'one' failed:\nno tokens are set\n"})
    )
    with pytest.raises(LongformError, match=r"^application 'one': no tokens are set$"):
        cluster.deploys()


def test_a_model_that_cannot_be_loaded_is_named() -> None:
    deployments = {
        "ingress": {"status": "HEALTHY", "message": ""},
        "judges-a": {"status": "DEPLOY_FAILED", "message": "trace\nUsageError: expected a folder"},
    }
    cluster = Cluster(states({"status": "DEPLOY_FAILED", "message": "see below", "deployments": deployments}))
    with pytest.raises(LongformError, match=r"^application 'one': judges-a: UsageError: expected a folder$"):
        cluster.deploys()


def test_what_does_not_start_in_time_is_said_with_its_state() -> None:
    with pytest.raises(LongformError, match=r"not running after 30 s: \{'one': 'DEPLOYING', 'two': 'RUNNING'\}"):
        Cluster(states({"status": "DEPLOYING"})).deploys()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("applications: 3", "applications: Input should be a valid list", id="no-list"),
        pytest.param("{", "cannot be read", id="no-yaml"),
        pytest.param(None, "cannot be read", id="no-file"),
        pytest.param(
            yaml.safe_dump(
                {
                    "applications": [
                        {
                            "name": "a",
                            "import_path": "serve.deployments:build",
                            "args": {"embeddings": {"m": {"modle": "x"}}},
                        }
                    ]
                }
            ),
            "embeddings.m.model",
            id="settings",
        ),
    ],
)
def test_a_wrong_file_is_wrong_usage_and_asks_no_cluster(
    text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yaml"
    if text is not None:
        path.write_text(text)
    assert main(["deploy", str(path), "--address", "http://127.0.0.1:9"]) == 2
    assert said in capsys.readouterr().err


def test_a_cluster_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deploy", "serve/config.yaml", "--address", "http://127.0.0.1:9"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "no cluster answers at http://127.0.0.1:9" in line


@contextmanager
def dashboard(status: int, body: bytes) -> Iterator[str]:
    """A dashboard that tells its version, and answers everything else so; one that wants a token tells nothing."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = status != 401
            self.send_response(200 if known else status)
            self.end_headers()
            self.wfile.write(b'{"version": "4", "ray_version": "2.60.0", "ray_commit": ""}' if known else body)

        def do_PUT(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "said"), [(401, "wants a token: set RAY_AUTH_MODE=token"), (500, "did not take it; the answer: ")]
)
def test_a_cluster_that_wants_a_token_or_fails_is_one_line(
    status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with dashboard(status, b"no") as address:
        assert main(["deploy", "serve/config.yaml", "--address", address]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"python -m serve: the cluster at {address} {said}")
