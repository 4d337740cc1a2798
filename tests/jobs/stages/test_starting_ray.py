"""A machine that is too busy for Ray's own deadline gets it started later, and nothing of the earlier tries stays."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psutil
import pytest

from jobs.stages import starting_ray
from jobs.stages.cluster import Cluster
from jobs.stages.starting_ray import ClusterError

LATE = "The current node timed out during startup."


class Init:
    """A `ray.init` that leaves a process behind and misses its deadline *late* times; then it is done."""

    def __init__(self, late: int, message: str = LATE) -> None:
        self._late, self._message = late, message
        self.left: list[psutil.Process] = []

    def __call__(self, **settings: Any) -> None:
        assert settings["address"] == "local"
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.left.append(psutil.Process(process.pid))
        if len(self.left) <= self._late:
            raise RuntimeError(self._message)

    def alive(self) -> list[psutil.Process]:
        return [one for one in self.left if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]

    def end(self) -> None:
        for one in self.alive():
            one.kill()


@pytest.fixture
def starting(monkeypatch: pytest.MonkeyPatch) -> Any:
    import ray

    made: list[Init] = []

    def start(init: Init) -> None:
        made.append(init)
        monkeypatch.setattr(ray, "init", init)
        monkeypatch.setattr(ray, "is_initialized", lambda: False)
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        Cluster(address=None, workers=1).start()

    yield start
    for init in made:
        init.end()


def test_ray_is_started_again_if_it_misses_its_own_deadline(starting: Any, capsys: pytest.CaptureFixture[str]) -> None:
    starting(init := Init(late=2))
    assert len(init.left) == 3
    assert init.alive() == init.left[2:]
    assert capsys.readouterr().err.count("Ray did not start within 30 s") == 2


def test_ray_starts_without_workers_for_which_it_would_wait(starting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them that dies before the driver is connected has `ray.init` wait for ever."""
    monkeypatch.delenv("RAY_prestart_worker_first_driver", raising=False)
    starting(Init(late=0))
    assert ("RAY_prestart_worker_first_driver", "0") in os.environ.items()


def test_a_ray_that_never_starts_is_one_sentence_and_leaves_no_process(starting: Any) -> None:
    init = Init(late=99)
    with pytest.raises(ClusterError, match=r"Ray did not start; .*timed out during startup"):
        starting(init)
    assert len(init.left) == 4
    assert init.alive() == []


def test_another_fault_is_not_tried_again(starting: Any) -> None:
    init = Init(late=99, message="no such option")
    with pytest.raises(ClusterError, match="no such option"):
        starting(init)
    assert len(init.left) == 1


def test_it_is_told_that_ray_still_starts(
    starting: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(starting_ray, "FIRST_WORD_S", 0.001)
    monkeypatch.setattr(starting_ray, "NEXT_WORD_S", 0.001)
    told = threading.Semaphore(0)
    says = starting_ray.say

    def say(text: str, **given: Any) -> None:
        says(text, **given)
        told.release()

    class Slow(Init):
        def __call__(self, **settings: Any) -> None:
            super().__call__(**settings)
            assert all(told.acquire(timeout=60) for _ in range(2))

    monkeypatch.setattr(starting_ray, "say", say)
    starting(Slow(late=0))
    assert capsys.readouterr().err.count("starting Ray with 2 processors, 0 s so far") >= 2


def test_a_server_that_is_no_ray_is_told_at_once() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        with pytest.raises(ClusterError, match=f"the Ray at {address} cannot be joined; .*that is no Ray"):
            Cluster(address=address, workers=1).start()
        server.shutdown()
