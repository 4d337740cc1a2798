"""
Canonical runs that are killed at random moments: the same command again ends with the numbers of an undisturbed run.

    python -m tests.soak_kills [--kills 10] [--seed 1] [--only chat ...] [--victims node ...] [--workers 1 2 4]

Each kill draws a run of `tests/made/canonical.py`, a victim and a moment of the commands that evaluate it. Victims are
a command in one process, a driver, a worker of its Ray, and one of two simulated nodes with its disk. In place of the
scripted models fake providers are asked, which count: only what was in flight at a kill may be served again, and the
ledger calls it unsettled. `--workers` first compares undisturbed runs on so many workers with one in process. Each
result is printed when it is there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from actors.rehearsal.fake_provider import fake_process
from longform.rehearsal.settings import FakeSettings
from tests.compare_results import Number, numbers_apart
from tests.jobs.killing import CONCURRENCY, WORKERS, Command, Fake, Nodes, bill, titled, until
from tests.made.canonical import CANONICAL
from tests.made.store import PRODUCT
from tests.yardstick import numbers_in, possible, verbs

VICTIMS = {"process": 0, "driver": WORKERS, "worker": WORKERS, "node": WORKERS}
"""Victim -> workers of the command."""
SCRIPTS = ("obedient", "misbehaving", "profile-u")
"""Scripted models of canonical runs. Each has a provider of its own, where equal prompts are equal calls."""
_MAKE, _EVALUATE = {"synthesize", "synthesize-models", "ingest"}, {"evaluate", "judge"}
_TOLERANCE = 1e-9
_OF_A_CLOCK = "seconds"
_OF_A_KILL = {"calls", "open", "n_unsettled_unknown_usd"}
"""Columns that count the calls in flight at a kill, too."""
_SHOWN = 10  # lines of what is apart


class Verb(NamedTuple):
    """A verb that evaluates, without its `--workers`."""

    words: tuple[str, ...]

    def command(self, folder: Path, until: str) -> list[str]:
        return ["longform", *self.words]


class Kill:
    """
    A victim, the command of a run that is struck, and the moment; `killed` says what died.

    Args:
        seconds: The seconds of each command that evaluates; the moment is one of them.
        nodes: The cluster that the run joins, if a node of it is the victim.
    """

    def __init__(self, victim: str, rng: random.Random, seconds: Sequence[float], nodes: Nodes | None) -> None:
        self.place = rng.choices(range(len(seconds)), weights=seconds)[0]
        self.at_s = rng.random() * seconds[self.place]
        self.nodes = nodes
        self.killed = ""
        self._victim, self._rng = victim, rng

    def strike(self, command: Command) -> None:
        """Wait for the moment and for a victim to be there, and kill it, unless the command ends first."""
        moment = time.monotonic() + self.at_s
        until(lambda: not command.is_running() or (time.monotonic() > moment and self._kills(command)), "the moment")

    def _kills(self, command: Command) -> bool:
        if self.nodes is not None:
            node = self._rng.choice(self.nodes.with_process(""))
            self.nodes.kill(node)
            self.killed = node.folder.name
        elif self._victim == "worker":
            self._kill_worker(command.processes())
        else:
            command.signal(signal.SIGKILL)
            self.killed = "it" if command.wait() == -signal.SIGKILL else ""
            command.gone()
        return bool(self.killed)

    def _kill_worker(self, processes: Sequence[psutil.Process]) -> None:
        others = titled(processes, "DashboardAgent", "RuntimeEnvAgent", "IDLE")
        workers = [process for process in titled(processes, "") if process not in others]
        with suppress(psutil.NoSuchProcess, IndexError):  # there is none, or it ends just now
            worker = self._rng.choice(workers)
            title = " ".join(worker.cmdline()).strip()
            worker.kill()
            self.killed = title


class Commands:
    """
    Runs the verbs of a canonical run; those that evaluate on *workers*, and one of them is struck by *kill*.

    What makes a benchmark is left out if the folder has one. `seconds` has what each command took that evaluates, and
    `end` the exit code of a killed one.
    """

    def __init__(self, folder: Path, urls: Mapping[str, str], *, workers: int, kill: Kill | None = None) -> None:
        self.folder = folder
        self.seconds: list[float] = []
        self.end: int | None = None
        self.kill = kill
        self._urls, self._workers = urls, workers

    def __call__(self, *words: str | Path, out: Path | None = None, ends: Sequence[int] = (0,)) -> None:
        verb = str(words[0])
        if verb in _EVALUATE:
            self._evaluate(self._served(list(map(str, words))), ends)
        elif verb not in _MAKE or not (self.folder / "bench").exists():
            verbs(PRODUCT)(*words, out=out, ends=ends)

    def _served(self, words: list[str]) -> Verb:
        """Return the verb, its configuration asking providers in place of scripted models."""
        place = words.index("--workers")
        if words[0] == "evaluate":
            config = Path(words[1])
            config.write_text(json.dumps(json.loads(config.read_text(), object_hook=self._provider)))
        return Verb((*words[:place], *words[place + 2 :]))

    def _provider(self, given: dict[str, Any]) -> dict[str, Any]:
        if "script" not in given:
            return given
        name = given["script"]
        return {"provider": "openai", "model": name, "base_url": self._urls[name], "concurrency": CONCURRENCY}

    def _evaluate(self, verb: Verb, ends: Sequence[int]) -> None:
        kill = self.kill if self.kill and self.kill.place == len(self.seconds) else None
        started = time.monotonic()
        code = self._ended(verb, kill)
        if kill and kill.killed and code not in ends:
            self.end, code = code, self._ended(verb, None)
        self.seconds.append(time.monotonic() - started)
        assert code in ends, f"{' '.join(verb.words)} ended with {code}: {(self.folder / 'said.txt').read_text()}"

    def _ended(self, verb: Verb, kill: Kill | None) -> int:
        address = kill.nodes.address if kill and kill.nodes else None
        with Command(verb, self.folder, address=address, workers=self._workers) as command:
            if kill:
                kill.strike(command)
            return command.wait()


class Undisturbed(NamedTuple):
    folder: Path
    seconds: list[float]


class Soak:
    """Runs, kills and what came of them; *stack* closes the providers and the nodes."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.kills: Counter[str] = Counter()
        self.bad: list[str] = []
        self._folder, self._stack = folder, stack
        self._n_ended_first = 0
        self._nodes: Nodes | None = None
        self._made: dict[tuple[str, int], Undisturbed] = {}
        self._seconds: dict[tuple[str, str], list[float]] = {}
        settings = FakeSettings(delay_s=0.1)
        self._fakes = {name: Fake(stack.enter_context(fake_process(settings))) for name in SCRIPTS}
        self._urls = {name: fake.url for name, fake in self._fakes.items()}

    def undisturbed(self, name: str, workers: int) -> Undisturbed:
        """Return a run that nobody disturbs, made once; one on workers has the numbers of the one in process."""
        if (name, workers) not in self._made:
            folder = self._new(f"{name}-{workers}", bench_of=self.undisturbed(name, 0) if workers else None)
            commands = Commands(folder, self._urls, workers=workers)
            self._made[name, workers] = Undisturbed(folder, commands.seconds)
            found, wrong = self._run(name, commands)
            self._say(f"{name}, {workers} workers, undisturbed: {sum(commands.seconds):.1f} s, {found}", wrong)
        return self._made[name, workers]

    def kill(self, name: str, victim: str, rng: random.Random) -> None:
        """Kill *victim* of a run, and compare what its command made in the end."""
        undisturbed = self.undisturbed(name, VICTIMS[victim])
        seconds = self._seconds.setdefault((name, victim), [*undisturbed.seconds])
        folder = self._new(f"{name}-{victim}", bench_of=undisturbed)
        kill = Kill(victim, rng, seconds, self._cluster() if victim == "node" else None)
        commands = Commands(folder, self._urls, workers=VICTIMS[victim], kill=kill)
        found, wrong = self._run(name, commands)
        if kill.nodes and kill.killed:
            kill.nodes.add()
        if not kill.killed:
            seconds[:] = commands.seconds or seconds  # a machine with less other work by now
            self._n_ended_first += 1
        self.kills[victim] += bool(kill.killed)
        moment = f"{kill.killed or 'ended first'} at {kill.at_s:.1f} s of command {kill.place}"
        after = f"again after exit {commands.end}" if commands.end is not None else "went on"
        took = f"{sum(commands.seconds):.1f} s"
        self._say(f"{self.kills.total()} {name}, {victim}: {moment}, {after}, {took}, {found}", wrong)
        if not wrong:
            shutil.rmtree(folder)

    def summary(self) -> str:
        kills = ", ".join(f"{victim} {n}" for victim, n in self.kills.items())
        told = (
            f"{self.kills.total()} kills ({kills}), {self._n_ended_first} ended first, {len(self.bad)} with differences"
        )
        return "\n".join([told, *(f"  {line}" for line in self.bad)])

    def _cluster(self) -> Nodes:
        if self._nodes is None:
            self._nodes = self._stack.enter_context(Nodes(self._new("nodes"), n=2, cpus=WORKERS))
        return self._nodes

    def _run(self, name: str, commands: Commands) -> tuple[str, list[str]]:
        """Return what is counted, and each line of what is wrong."""
        for fake in self._fakes.values():
            fake.reset()
        try:
            CANONICAL[name](commands.folder, commands)
        except (AssertionError, SystemExit, pytest.fail.Exception) as error:
            return "FAILED", [str(error)]
        folders = self._made[name, 0].folder, commands.folder
        before, after = (dict(_compared(folder, is_killed=commands.kill is not None)) for folder in folders)
        apart = [*numbers_apart(before, after, tolerance=_TOLERANCE)]
        apart += [f"{number}: is new" for number in after.keys() - before.keys()]
        calls, wrong = self._calls(commands.folder)
        return f"{len(after):,} numbers, {len(apart):,} apart{calls}", [*apart, *wrong]

    def _calls(self, folder: Path) -> tuple[str, list[str]]:
        bills = [bill(fake, folder) for fake in self._fakes.values() if fake.counters()["accepted"]]
        if not bills:
            return "", []
        n_let_in, n_again = sum(one.n_let_in for one in bills), sum(one.n_again for one in bills)
        ledger = bills[0].ledger
        told = f"{n_let_in} served, {n_again} of them again; ledger: {ledger.calls}, unsettled {ledger.open}"
        return f"; {told}", [] if n_let_in <= ledger.calls and n_again <= ledger.open else [told]

    def _new(self, name: str, bench_of: Undisturbed | None = None) -> Path:
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._folder))
        if bench_of is not None:
            shutil.copytree(bench_of.folder / "bench", folder / "bench")
        return folder

    def _say(self, what: str, wrong: Sequence[str]) -> None:
        print("\n  ".join([what, *wrong[:_SHOWN]]), flush=True)
        self.bad += [what] if wrong else []


def _compared(folder: Path, *, is_killed: bool) -> Iterator[tuple[Number, float]]:
    for number, value in numbers_in(folder):
        if _OF_A_CLOCK not in number.key and not (is_killed and number.column in _OF_A_KILL):
            yield number, value


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=sorted(CANONICAL), default=possible())
    parser.add_argument("--victims", nargs="+", choices=VICTIMS, default=list(VICTIMS))
    parser.add_argument("--workers", nargs="+", type=int, default=[])
    given = parser.parse_args(argv)
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    rng = random.Random(given.seed)
    with ExitStack() as stack:
        soak = Soak(Path(tempfile.mkdtemp(prefix="soak-kills-")), stack)
        stack.callback(lambda: print(soak.summary(), flush=True))
        for name in given.only:
            for workers in given.workers:
                soak.undisturbed(name, workers)
        while soak.kills.total() < given.kills:
            soak.kill(rng.choice(given.only), rng.choice(given.victims), random.Random(rng.random()))
    return int(bool(soak.bad))


if __name__ == "__main__":
    sys.exit(main())
