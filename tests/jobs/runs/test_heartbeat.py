"""The heartbeat of a command: what other processes hear of it, and when it counts as killed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from jobs.command.interrupts import Interrupted
from jobs.runs.heartbeat import FOLDER, STALE_S, Heartbeat, check_alone, heartbeats, lives
from longform.errors import BudgetReachedError, UsageError

if TYPE_CHECKING:  # the plugin is to be loaded by pytest
    from tests.small_disk import SmallDisk

pytest_plugins = ["tests.small_disk"]
MakeDisk = Callable[[int], "SmallDisk"]
STAGES = [
    {"name": "judge j", "table": "verdicts", "unit": "summaries", "wanted": 10},
    {"name": "score", "table": "scores", "unit": "summaries", "wanted": 3},
]
STAGE: Any = SimpleNamespace(name="judge j")
ANOTHER: Any = SimpleNamespace(name="score")  # of the same stream


def heard(run: Path) -> Any:
    (found,) = heartbeats(Folder(str(run)))
    return found


def test_a_command_is_heard_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    with Heartbeat("evaluate-1", "evaluate") as heartbeat:
        heartbeat.begin(Folder(str(tmp_path)), STAGES)
        began = heard(tmp_path)
        for done in (0, 2):
            heartbeat(STAGE, wanted=10, todo=6, done=done + 1, kept=done, since=7.0)
            heartbeat(ANOTHER, wanted=3, todo=3, done=done // 2, kept=0, since=8.0)
        kept = heard(tmp_path)
        heartbeat.ends_with(3)

    assert lives(began, now=began["written_at"] + 1)
    assert not lives(began, now=began["written_at"] + STALE_S + 1), "nobody writes it any more"
    assert kept["stages"][0]["done"] == 6, "what is committed is told at once, if the command were killed now"
    ended = heard(tmp_path)
    assert ended["ended"]["exit_code"] == 3
    assert ended["stages"] == [{**STAGES[0], "done": 6}, {**STAGES[1], "done": 0}], "made is not committed"
    assert ended["now"] == {
        "judge j": {"todo": 6, "done": 3, "began_at": 7.0},
        "score": {"todo": 3, "done": 1, "began_at": 8.0},
    }
    assert not lives(ended, now=ended["written_at"])


@pytest.mark.parametrize(
    ("error", "code"),
    [(BudgetReachedError("no more"), 4), (Interrupted(15), 143), (KeyboardInterrupt(), 130), (ValueError("ours"), 1)],
)
def test_the_exit_code_is_that_of_the_error(tmp_path: Path, error: BaseException, code: int) -> None:
    def work() -> None:
        with Heartbeat("evaluate-1", "evaluate") as heartbeat:
            heartbeat.begin(Folder(str(tmp_path)), STAGES)
            raise error

    with pytest.raises(type(error)):
        work()

    ended = heard(tmp_path)["ended"]
    assert (ended["exit_code"], ended["reason"]) == (code, "no more" if code == 4 else None)


def test_a_full_disk_has_room_for_the_last_word(small_disk: MakeDisk) -> None:
    disk = small_disk(40)
    run = Folder(str(disk.folder / "run"))

    def work() -> None:
        with Heartbeat("evaluate-1", "evaluate") as heartbeat:
            heartbeat.begin(run, STAGES)
            for number in count():
                run.write_bytes(f"part-{number}", b"-")

    with pytest.raises(StorageError, match="the disk is full"):
        work()

    (found,) = heartbeats(run)
    assert found["ended"]["exit_code"] == 1
    assert "the disk is full; make room there" in found["ended"]["reason"]


def test_a_command_that_did_not_begin_writes_nothing(tmp_path: Path) -> None:
    with Heartbeat("evaluate-1", "evaluate"):
        pass

    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_gone_does_not_live_and_a_later_command_forgets_it(tmp_path: Path) -> None:
    with Heartbeat("evaluate-1", "evaluate") as heartbeat:
        heartbeat.begin(Folder(str(tmp_path)), STAGES)
        gone = heard(tmp_path)
    host, pid, started = gone["session"]
    gone["session"] = [host, pid, started - 1000]  # the number is another's now
    gone["command"] = "evaluate-0"
    (tmp_path / FOLDER / "evaluate-0.json").write_text(json.dumps(gone))
    (tmp_path / FOLDER / "odd.json").write_text("[")
    assert not lives(gone, now=gone["written_at"])
    with Heartbeat("evaluate-2", "evaluate") as later:
        later.begin(Folder(str(tmp_path)), STAGES)
        assert [one["command"] for one in heartbeats(Folder(str(tmp_path)))] == ["evaluate-2"]


def test_a_second_command_is_refused_until_the_first_has_ended_or_is_gone(tmp_path: Path) -> None:
    run = Folder(str(tmp_path))
    with Heartbeat("evaluate-1", "evaluate") as first:
        first.begin(run, STAGES)
        with (
            pytest.raises(
                UsageError, match=rf"evaluate-1 is at work here, process {os.getpid()} of .* UTC, and was heard"
            ),
            Heartbeat("evaluate-2", "evaluate") as second,
        ):
            second.begin(run, STAGES)
        first.begin(run, STAGES)  # a further order of documents
        assert [one["command"] for one in heartbeats(run)] == ["evaluate-1"], "the second left nothing"
        elsewhere = heard(tmp_path)
    elsewhere["session"][0] = "another machine"
    name = tmp_path / FOLDER / "evaluate-1.json"
    name.write_text(json.dumps(elsewhere))
    with pytest.raises(UsageError, match=r"process \d+ of another, since"):
        check_alone(run, "evaluate-2")
    name.write_text(json.dumps(elsewhere | {"written_at": elsewhere["written_at"] - STALE_S}))
    check_alone(run, "evaluate-2")


def test_a_folder_that_cannot_be_written_costs_the_heartbeat_alone(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("no folder")

    with Heartbeat("evaluate-1", "evaluate") as heartbeat:
        heartbeat.begin(Folder(str(tmp_path)), STAGES)

    assert (tmp_path / FOLDER).read_text() == "no folder"
