"""The main job beside servers that are gone, refuse every call or stop to take the key."""

from __future__ import annotations

import json
import random
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.evaluate import main
from longform.rehearsal.settings import FakeSettings
from tests.made.demo import two_haystacks

QUICK: dict[str, Any] = {"delay_s": 0.0, "slow_share": 0.0}
N_SUMMARIES = 24


class Command:
    """One command line, to be given again and again."""

    def __init__(
        self, folder: Path, bench: str, port: int, capfd: pytest.CaptureFixture[str], *, workers: int = 0, **chat: Any
    ) -> None:
        self.port = port
        self.run, self._capfd = Folder(str(folder / "run")), capfd
        self.url = f"http://127.0.0.1:{port}/v1"
        model = {"kind": "chat", "chat": {"model": "fake", "base_url": self.url, **chat}}
        config = {
            "name": "gone",
            "seed": 1,
            "retrievers": {"oracle": {"kind": "oracle"}, "random": {"kind": "random", "seed": 1}},
            "summarizers": {"m": model},
            "judges": {"j": model},
            "systems": [{"retriever": ["oracle", "random"], "budget_tokens": 600, "summarizer": "m"}],
            "resamples": 100,
        }
        (folder / "config.yaml").write_text(json.dumps(config))
        self._words = [str(folder / "config.yaml"), "--bench", bench, "--out", self.run.url, "--workers", f"{workers}"]

    def __call__(self, *more: str) -> tuple[int, str, str]:
        """Return the exit code, and what was said on standard output and standard error."""
        self._capfd.readouterr()
        code = main([*self._words, *more])
        said = self._capfd.readouterr()
        return code, said.out, said.err

    def failures(self) -> dict[str | None, int]:
        """Return the reasons of the summaries, None for those that are there -> how many."""
        return dict(Counter(row["failure"] for row in self.run.read("summaries").to_pylist()))


@pytest.fixture(scope="module")
def bench() -> str:
    return two_haystacks()


@pytest.fixture
def port() -> int:
    """A port that nobody has, below those that connections are given: Ray opens many before a server begins there."""
    for found in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", found))
            return found
    raise AssertionError("no free port in 100")


@pytest.fixture
def make(tmp_path: Path, bench: str, port: int, capfd: pytest.CaptureFixture[str]) -> Callable[..., Command]:
    """Makes a command whose models are asked for at a port where nothing listens."""
    return partial(Command, tmp_path, bench, port, capfd)


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_a_server_that_is_not_there_is_named_and_the_same_command_goes_on(make: Callable[..., Command]) -> None:
    command = make(workers=2)
    code, out, err = command()
    assert (code, out) == (1, ""), err
    last = err.strip().splitlines()[-1]
    assert last.startswith(f"longform evaluate: {command.url} could not be reached: connection refused; 0 of ")
    assert f"0 of {N_SUMMARIES} summaries are done" in last
    assert "ServerGoneError" not in err  # a traceback would end with it

    with fake_process(FakeSettings(**QUICK), port=command.port):
        assert command("--until", "summarize")[0] == 0
    assert command.failures() == {None: N_SUMMARIES}


def test_few_calls_without_a_server_end_the_command_too_and_are_made_again(make: Callable[..., Command]) -> None:
    command = make(attempts=1)
    code, _, err = command("--limit", "1")
    assert code == 1
    assert f"{command.url} could not be reached: connection refused; 0 of 2 calls" in err.strip().splitlines()[-1]
    assert command.failures() == {"connection": 2}

    with fake_process(FakeSettings(**QUICK), port=command.port):
        assert command("--limit", "1", "--until", "summarize")[0] == 0
    assert command.failures() == {None: 2}


def test_a_key_that_expires_in_the_middle_is_said_first_and_a_new_one_goes_on(make: Callable[..., Command]) -> None:
    command = make()
    with fake_process(FakeSettings(unauthorized_after=10, **QUICK), port=command.port):
        code, out, _ = command()
    assert code == 3
    assert out.startswith(f"{command.url}: ")
    assert "attempts of model 'fake' failed: http_401 " in out.splitlines()[0]
    failures = command.failures()
    assert sum(failures.values()) == N_SUMMARIES
    assert 0 < failures[None] <= 10, "those that were judged meanwhile took some of the key's calls"

    with fake_process(FakeSettings(**QUICK), port=command.port):
        assert command("--until", "summarize")[0] == 0
    assert command.failures() == {None: N_SUMMARIES}


def test_a_provider_that_refuses_everything_is_said_while_it_lasts_and_in_the_end(
    make: Callable[..., Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.stages.progress._LINE_INTERVAL_S", 0.2)
    command = make(patience_s=3.0)
    with fake_process(FakeSettings(refused_after=0, retry_after="missing", **QUICK), port=command.port):
        code, _, err = command()
    assert code == 1
    assert f"{command.url} refuses: " in err
    assert "times in the last minute" in err
    last = err.strip().splitlines()[-1]
    assert last.startswith(f"longform evaluate: {command.url} has refused every call of model 'fake' for")
