"""
Any process of a command may be killed at any moment: the same command again ends with the tables of an undisturbed run,
and no finished call is paid twice.

`LONGFORM_SOAK` sets the number of moments for each victim (`make soak`: twenty).
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.stages.last_word import WORDS
from jobs.synthesis.haystacks import read_config, synthesize
from longform.rehearsal.settings import FakeSettings
from tests.jobs.killing import (
    CONCURRENCY,
    MOST_LEASED,
    N_MOMENTS,
    WORKERS,
    Command,
    Fake,
    Nodes,
    Place,
    bill,
    kill_all,
    moments,
    stages,
    until,
)
from tests.jobs.run_content import assert_same_tables, copy_runs

pytestmark = pytest.mark.slow

CALLS_A_MINUTE = 2400
N_SUMMARIES = 24  # 6 queries x 4 systems; their 5 insights each are up to 120 calls more
FIRST, LAST = 5, 60  # calls; more are left then than are leased
TITLES = {"worker": "MapWorker", "governor": "MachineGovernor", "keeper": "LedgerKeeper"}


def experiment(url: str) -> dict[str, Any]:
    chat = {
        "provider": "openai",
        "model": "fake",
        "base_url": url,
        "concurrency": CONCURRENCY,
        "requests_per_minute": CALLS_A_MINUTE,
    }
    return {
        "name": "killed",
        "seed": 1,
        "retrievers": {"oracle": {"kind": "oracle"}, "bm25": {"kind": "bm25"}},
        "summarizers": {"chat": {"kind": "chat", "chat": chat}},
        "judges": {"chat": {"kind": "chat", "chat": chat}},
        "systems": [
            {"retriever": ["oracle", "bm25"], "budget_tokens": 800, "order": ["given", "random"], "summarizer": "chat"}
        ],
        "resamples": 100,
    }


@pytest.fixture(scope="module")
def provider() -> Iterator[Fake]:
    """One for all runs, because its address is part of what a run asks."""
    with fake_process(FakeSettings(requests_per_minute=CALLS_A_MINUTE, delay_s=0.5)) as url:
        yield Fake(url)


@pytest.fixture(scope="module")
def place(provider: Fake, tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("place")
    bench = str(folder / "bench")
    synthesize(read_config("demo", ["haystacks=1"]), bench)
    return Place.make(folder, bench, experiment(provider.url))


@pytest.fixture(scope="module")
def packed(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run up to its first call, which every test goes on from."""
    folder = tmp_path_factory.mktemp("packed")
    with Command(place, folder, until="pack", workers=0) as command:
        assert command.wait() == 0, command.said()
    return folder


class Undisturbed(NamedTuple):
    run: Folder
    n_calls: int


@pytest.fixture(scope="module")
def undisturbed(place: Place, packed: Path, provider: Fake, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Checked to be worth comparing with: every call made once and answered."""
    folder = tmp_path_factory.mktemp("undisturbed")
    copy_runs(packed, folder)
    provider.reset()
    with Command(place, folder, workers=0) as command:
        assert command.wait() == 0, command.said()
    n_calls = provider.counters()["accepted"]
    let_in, again, _, ledger = bill(provider, folder)
    assert (let_in, again, ledger.answered, ledger.open) == (n_calls + ledger.refused, 0, n_calls, 0)
    assert n_calls > LAST + WORKERS * MOST_LEASED
    return Undisturbed(Folder(f"{folder}/run"), n_calls)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One run that will be disturbed, up to its first call."""

    place: Place
    folder: Path
    fake: Fake
    undisturbed: Undisturbed

    def command(self, address: str | None = None, *, workers: int = WORKERS) -> Command:
        return Command(self.place, self.folder, address=address, workers=workers)

    def assert_ends(self) -> None:
        """The same command again ends well; in one process, which writes what workers do."""
        with self.command(workers=0) as again:
            assert again.wait() == 0, again.said()

    def assert_nothing_left_to_do(self) -> None:
        before = self.fake.counters()["accepted"]
        self.assert_ends()
        assert all(stage["rows"] == 0 and stage["found"] == stage["wanted"] > 0 for stage in stages(self.folder))
        for stage in Folder(f"{self.folder}/run").read_json("run.json")["stages"]:
            assert stage["pieces"] + stage["pieces_untold"] == stage["wanted"], "no work is lost from the record"
        assert self.fake.counters()["accepted"] == before

    def assert_same_tables(self) -> None:
        assert_same_tables(Folder(f"{self.folder}/run"), self.undisturbed.run)

    def assert_in_the_books(self, *, most_in_flight: int) -> None:
        """All that was served is recorded, and what was served again is among what the ledger calls unsettled."""
        found = bill(self.fake, self.folder)
        print(f"served again: {found.n_again}; unsettled: {found.ledger.open}; refused: {found.ledger.refused}")
        assert found.n_let_in <= found.ledger.calls
        assert found.n_again <= min(found.ledger.open, most_in_flight)
        assert found.again_usd <= found.ledger.unsettled_usd
        assert found.ledger.answered == self.undisturbed.n_calls


@pytest.fixture
def trial(place: Place, packed: Path, provider: Fake, undisturbed: Undisturbed, tmp_path: Path) -> Trial:
    copy_runs(packed, tmp_path)
    provider.reset()
    return Trial(place=place, folder=tmp_path, fake=provider, undisturbed=undisturbed)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A head without room for workers, and two nodes with room for all of them."""
    with Nodes(tmp_path_factory.mktemp("nodes"), n=2, cpus=WORKERS) as nodes:
        yield nodes


def rounds() -> list[list[tuple[int, str]]]:
    """Return the processes to kill in each run and their moments, in order."""
    drawn = {victim: moments(victim, first=FIRST, last=LAST) for victim in TITLES}
    return [sorted((drawn[victim][number], victim) for victim in TITLES) for number in range(N_MOMENTS)]


@pytest.mark.nodes
@pytest.mark.parametrize("kills", rounds(), ids=str)
def test_command_goes_on_when_its_processes_are_killed(
    kills: list[tuple[int, str]], nodes: Nodes, trial: Trial
) -> None:
    """A worker takes its calls in flight with it; the governor and the keeper take none."""
    with trial.command(nodes.address) as command:
        for moment, victim in kills:
            command.reach(trial.fake, moment)
            random.Random(moment).choice(nodes.titled(TITLES[victim])).kill()
        assert command.wait() == 0, command.said()

    trial.assert_same_tables()
    trial.assert_in_the_books(most_in_flight=CONCURRENCY)


@pytest.mark.parametrize("moment", moments("driver", first=FIRST, last=LAST))
def test_workers_stop_calling_when_their_driver_is_killed(moment: int, trial: Trial) -> None:
    """At most what was leased leaves afterwards, no process stays, and the same command ends the run."""
    with trial.command() as command:
        command.reach(trial.fake, moment)
        let_in = trial.fake.counters()["accepted"]
        command.signal(signal.SIGKILL)
        command.gone()
        until(lambda: trial.fake.counters()["in_flight"] == 0, "the provider sees that nobody waits for replies")
    accepted = trial.fake.counters()["accepted"]
    print(f"served after the driver's death: {accepted - let_in}")

    assert accepted - let_in <= WORKERS * MOST_LEASED
    assert accepted < trial.undisturbed.n_calls
    trial.assert_ends()
    trial.assert_same_tables()
    trial.assert_in_the_books(most_in_flight=WORKERS * CONCURRENCY)


def test_interrupted_command_ends_and_keeps_what_is_finished(trial: Trial) -> None:
    """Ctrl-C ends it on workers, and `kill` when it goes on without any."""
    n_calls = trial.undisturbed.n_calls
    signals = [(signal.SIGINT, 130, n_calls // 3, WORKERS), (signal.SIGTERM, 143, 2 * n_calls // 3, 0)]
    for number, code, moment, workers in signals:
        with trial.command(workers=workers) as command:
            command.reach(trial.fake, moment)
            command.signal(number)
            assert command.wait() == code, command.said()
            command.gone()
        assert 0 < bill(trial.fake, trial.folder).ledger.answered < n_calls
        kept = {table: Folder(f"{trial.folder}/run").read(table).num_rows for table in ("summaries", "verdicts")}
        assert 0 < kept["summaries"] <= N_SUMMARIES
    assert kept["verdicts"] > 0, "summaries are judged while others are written"

    trial.assert_ends()
    trial.assert_same_tables()
    trial.assert_in_the_books(most_in_flight=len(signals) * WORKERS * CONCURRENCY)


@pytest.mark.nodes
@pytest.mark.parametrize("moment", moments("node", first=FIRST, last=LAST))
def test_command_goes_on_when_a_node_dies_with_its_disk(moment: int, nodes: Nodes, trial: Trial) -> None:
    """The ledger and the run are beside the driver; what a node kept for itself is gone."""
    with trial.command(nodes.address) as command:
        command.reach(trial.fake, moment)
        assert not nodes.with_process(TITLES["governor"]), "it stays on the head"
        nodes.kill(random.Random(moment).choice(nodes.with_process(TITLES["worker"])))
        assert command.wait() == 0, command.said()
    nodes.add()

    trial.assert_same_tables()
    trial.assert_in_the_books(most_in_flight=WORKERS * CONCURRENCY)
    trial.assert_nothing_left_to_do()


@pytest.mark.parametrize("victim", ["raylet", "gcs_server"])
def test_a_command_whose_ray_dies_says_so_and_the_same_command_goes_on(victim: str, trial: Trial) -> None:
    """Ray's native code ends the process after a while, and says nothing itself."""
    with trial.command() as command:
        command.reach(trial.fake, FIRST)
        kill_all([one for one in command.processes() if one.name() == victim])
        assert command.wait() == 1, command.said()
        until(lambda: WORDS in command.said(), "its last word")
    trial.assert_ends()
    trial.assert_same_tables()


def test_a_command_whose_ray_dies_before_it_has_started_says_so(trial: Trial) -> None:
    with trial.command() as command:
        until(lambda: any(one.name() == "gcs_server" for one in command.processes()), "the start of Ray")
        kill_all([one for one in command.processes() if one.name() == "gcs_server"])
        assert command.wait() == 1, command.said()
        until(lambda: WORDS in command.said() or "Ray did not start" in command.said(), "its last word")
