"""`longform synthesize` over workers: the same bytes whoever wrote which haystack, and what a killed one leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.stages import runner as stages
from jobs.stages.cluster import Cluster
from jobs.stages.engines import Blocks, Place, receipts
from jobs.stages.operators import Operator
from jobs.stages.runner import a_block
from jobs.stages.stations import TaskReceipt
from jobs.synthesis.haystacks import make_benchmark, read_config, synthesize
from jobs.synthesis.model_synthesis import read_config as read_models_config
from longform.errors import UsageError

TWO_TOPICS = ["topics=[railway, orchard]", "haystacks=3", "seed=5"]
N_TOPICS = 20


def contents(bench: Path) -> dict[str, bytes]:
    return {str(file.relative_to(bench)): file.read_bytes() for file in sorted(bench.rglob("*")) if file.is_file()}


@pytest.mark.slow
@pytest.mark.ray
def test_one_process_and_two_workers_write_the_same_bytes(ray_session: None, tmp_path: Path) -> None:
    """Three haystacks of two topics, with a chat model's prose; nothing is left of the work but the benchmark."""
    config = read_config("prose", TWO_TOPICS)
    for name, cluster in (("here", None), ("workers", Cluster(address=None, workers=2))):
        calling = Calling("test", ledger=f"{tmp_path}/ledger-{name}")
        make_benchmark(config, f"{tmp_path}/{name}", cluster=cluster, calling=calling)

    here, workers = contents(tmp_path / "here"), contents(tmp_path / "workers")
    assert here == workers
    assert len([name for name in here if name.startswith("haystacks/")]) == 3
    assert not [name for name in here if name.startswith("synthesis/")]


class Elsewhere(Cluster):
    """No Ray: tasks are done here, the last one first."""

    def start(self) -> None:
        """There is nothing to start."""


def last_first(run: Folder, chain: Sequence[Operator], blocks: Blocks, place: Place) -> Iterator[TaskReceipt]:
    return receipts(run, chain, blocks[::-1], Place(place.cluster, here=True))


def test_who_finishes_first_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "receipts", last_first)
    config = read_config("prose", [*TWO_TOPICS, "prose=null"])
    make_benchmark(config, f"{tmp_path}/here")
    make_benchmark(config, f"{tmp_path}/elsewhere", cluster=Elsewhere(address=None, workers=2))

    assert contents(tmp_path / "here") == contents(tmp_path / "elsewhere")


@pytest.mark.parametrize(("n", "size"), [(1, 1), (16, 1), (17, 2), (100, 7), (1000, 8)])
def test_many_tasks_go_in_blocks_of_few(n: int, size: int) -> None:
    assert a_block(n, workers=2) == size


def test_a_command_that_died_goes_on_with_the_haystacks_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies after its first haystack, then after two audits; the third command does the rest, and no trace stays."""
    config, cluster = read_config("prose", [*TWO_TOPICS, "prose=null"]), Elsewhere(address=None, workers=2)
    done: list[str] = []

    def counted(run: Folder, chain: Sequence[Operator], blocks: Blocks, place: Place) -> Iterator[TaskReceipt]:
        for receipt in last_first(run, chain, blocks, place):
            done.append(receipt["stage"])
            yield receipt
            if len(done) in (1, 5):
                raise KeyboardInterrupt

    monkeypatch.setattr(stages, "receipts", counted)
    with pytest.raises(KeyboardInterrupt):
        make_benchmark(config, f"{tmp_path}/died", cluster=cluster)
    assert not (tmp_path / "died" / "benchmark.json").exists()
    with pytest.raises(KeyboardInterrupt):
        make_benchmark(config, f"{tmp_path}/died", cluster=cluster)
    assert not (tmp_path / "died" / "audit.json").exists()
    make_benchmark(config, f"{tmp_path}/died", cluster=cluster)
    assert done == ["synthesize"] * 3 + ["audit"] * 3
    make_benchmark(config, f"{tmp_path}/here")

    assert contents(tmp_path / "here") == contents(tmp_path / "died")


@pytest.mark.ray
def test_sizes_that_one_haystack_cannot_meet_are_wrong_usage_and_leave_nothing(
    ray_session: None, tmp_path: Path
) -> None:
    config = read_config("full", ["haystacks=1", "documents=[60, 40]", "words=280", "insights_per_document=5"])

    with pytest.raises(UsageError, match="ask for 53 documents"):
        synthesize(config, f"{tmp_path}/bench", cluster=Cluster(address=None, workers=2))
    assert not (tmp_path / "bench").exists()


def test_twenty_haystacks_of_one_configuration_differ(tmp_path: Path) -> None:
    changes = ["prose=null", "topics=[railway, orchard]", f"haystacks={N_TOPICS}"]
    manifest = synthesize(read_config("prose", changes), str(tmp_path))
    hashes = {
        Folder(str(tmp_path)).read_bytes(f"haystacks/{name}") for name in Folder(str(tmp_path)).names("haystacks")
    }

    assert manifest["n_haystacks"] == len(hashes) == N_TOPICS


def test_twenty_topics_of_chat_models_stand_in_one_configuration() -> None:
    topics = ", ".join(f"{{domain: news, title: Town {number}}}" for number in range(N_TOPICS))

    assert len(read_models_config("rehearsal", [f"topics=[{topics}]"]).topics) == N_TOPICS
