"""
The heartbeat of a command that works on a run: a small file, written every few seconds, that other processes read.

    RUN/progress/<command>.json     the stages of the command, how far the one under way is, and how it ended

A second command is refused by them. Nothing else depends on these files: they may be deleted, and a command that cannot
write one goes on without. A later command deletes those of commands that have ended. A file that is not written any
more is of a command that was killed.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Self

from actors.ledger.entry import Session, process_lives, this_host, this_session
from actors.secret_values import redacted
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from jobs.command import DONE, FAILED
from jobs.command.interrupts import Interrupted, exit_code
from jobs.stages.stage import Plan, Stage
from longform.errors import LongformError, UsageError

FOLDER = "progress"
EVERY_S = 5.0
STALE_S = 30.0
"""A command whose last heartbeat is older counts as killed: it missed six of them."""
_FORMAT = 2
_SIGINT = 2


Heard = dict[str, Any]
"""
A heartbeat as it stands in its file; times are seconds since 1970.

    stages   of the command, in its order: `name`, `table`, `unit`, `wanted` (work ids that it is to have in the end),
             and `done` of them, those committed, which is absent before the command has come to the stage
    now      stage -> `todo` when it began, `done` since, `began_at`: those of the stream that is under way
    ended    `at`, `exit_code` and `reason`, the words of an error; null: the command goes on, or was killed
"""
_KEYS = {"format", "command", "verb", "session", "began_at", "written_at", "stages", "now", "ended"}


def sizes_of(plan: Plan) -> list[dict[str, Any]]:
    """Return the stages of a plan with the work ids they want."""
    return [
        {"name": stage.name, "table": stage.table, "unit": stage.unit, "wanted": len(plan.items(stage))}
        for stage in plan.stages
    ]


class Heartbeat:
    """
    Writes how far a command is, from `begin` to the end of the `with`; without `begin` it writes nothing.

    The file goes by the *command*'s name in the run's record, and is written again after *every_s* seconds.
    """

    def __init__(self, command: str, verb: str, *, every_s: float = EVERY_S) -> None:
        self.command = command
        self._name, self._every = f"{FOLDER}/{command}.json", every_s
        now = time.time()
        self._heard: Heard = {
            "format": _FORMAT, "command": command, "verb": verb, "session": list(this_session()), "began_at": now,
            "written_at": now, "stages": [], "now": {}, "ended": None,
        }  # fmt: skip
        self._run: Folder | None = None
        self._exit_code = DONE
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._run is None:
            return
        self._over.set()
        self._thread.join()
        reason = redacted(str(error)) if isinstance(error, LongformError) else None
        code = self._exit_code if error is None else _code(error)
        self._heard["ended"] = {"at": time.time(), "exit_code": code, "reason": reason}
        if not self._write():  # a full disk has room for it in place of the last one
            with suppress(StorageError):
                self._run.delete(self._name)
            self._write()

    def ends_with(self, code: int) -> None:
        """State the exit code of the command, if no error ends it."""
        self._exit_code = code

    def begin(self, run: Folder, stages: Sequence[Mapping[str, Any]]) -> None:
        """Start to write to *run*, if no other command does; a second call, with further stages, goes on."""
        check_alone(run, self.command)
        with self._lock:
            done = {stage["name"]: {"done": stage["done"]} for stage in self._heard["stages"] if "done" in stage}
            self._heard["stages"] = [{**stage, **done.get(stage["name"], {})} for stage in stages]
        if self._run is None:
            self._run = run
            with suppress(StorageError, OSError):
                _forget_ended(run)
            self._write()
            self._thread.start()

    def __call__(self, stage: Stage[Any], *, wanted: int, todo: int, done: int, kept: int, since: float) -> None:
        """Take how far *stage* is; what is newly *kept* is written at once, all else by a thread of its own."""
        found = {"wanted": wanted, "done": wanted - todo + kept}
        with self._lock:
            self._heard["now"][stage.name] = {"todo": todo, "done": done, "began_at": since}
            if done == todo:
                del self._heard["now"][stage.name]
            (of_stage,) = (one for one in self._heard["stages"] if one["name"] == stage.name)
            is_new = kept and of_stage.get("done") != found["done"]
            of_stage.update(found)
        if is_new:
            self._write()

    def _keep_writing(self) -> None:
        while not self._over.wait(self._every):
            self._write()

    def _write(self) -> bool:
        """Write the file, and return whether that went well; a full disk ends the command where rows are lost."""
        assert self._run is not None
        with self._lock, suppress(StorageError, OSError):
            self._heard["written_at"] = time.time()
            self._run.write_bytes(self._name, json.dumps(self._heard).encode())
            return True
        return False


def _code(error: BaseException) -> int:
    """Return the exit code of a command that *error* ends."""
    if isinstance(error, KeyboardInterrupt):
        return exit_code(error.number if isinstance(error, Interrupted) else _SIGINT)
    return error.exit_code if isinstance(error, LongformError) else FAILED


def _forget_ended(run: Folder) -> None:
    for heard in heartbeats(run):
        if heard["ended"] is not None or _is_gone(heard):
            run.delete(f"{FOLDER}/{heard['command']}.json")


# ---------------------------------------------------------------- what other processes hear


def heartbeats(run: Folder) -> list[Heard]:
    """Return the heartbeats that stand in a run, the one written last first; unreadable files are left out."""
    found: list[Heard] = []
    for name in run.names(FOLDER):
        with suppress(StorageError, OSError, ValueError):  # deleted meanwhile, or another's
            heard = json.loads(run.read_bytes(f"{FOLDER}/{name}"))
            if isinstance(heard, dict) and heard.get("format") == _FORMAT and heard.keys() >= _KEYS:
                found.append(heard)
    return sorted(found, key=lambda heard: -heard["written_at"])


def lives(heard: Heard, *, now: float) -> bool:
    """Return whether the command of a heartbeat is at work; *now* is in seconds since 1970."""
    return heard["ended"] is None and now - heard["written_at"] <= STALE_S and not _is_gone(heard)


def check_alone(run: Folder, command: str) -> None:
    """
    Make sure that no command but *command* is at work on a run: each writes what it did into one record.

    Raises:
        UsageError: One is; the message says who, and since when.
    """
    now, others = time.time(), list[Heard]()
    with suppress(StorageError):  # a folder that cannot be listed cannot be written either: the record tells it
        others = [one for one in heartbeats(run) if one["command"] != command and lives(one, now=now)]
    for heard in others:
        host, pid, _ = heard["session"]
        raise UsageError(
            f"{run.url}: {heard['command']} is at work here, process {pid} of {host.partition(' ')[0]}, since "
            f"{datetime.fromtimestamp(heard['began_at'], UTC):%Y-%m-%d %H:%M:%S} UTC, and was heard of "
            f"{now - heard['written_at']:.0f} s ago; nothing has been done. Wait until it has ended, or end it, and "
            f"give this command again, or name another folder. Who is not heard of for {STALE_S:.0f} s counts as ended"
        )


def _is_gone(heard: Heard) -> bool:
    """Return whether its process is known to be gone; nobody can look into another machine."""
    session = Session(*heard["session"])
    return session.host == this_host() and not process_lives(session)
