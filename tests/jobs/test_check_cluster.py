"""The check stage on several nodes, and the study of positional bias when its command is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.configs import read_experiment
from jobs.results.write import read_results
from jobs.runs.stage_order import stages_of
from jobs.stages.cluster import Cluster
from jobs.stages.items import Worker
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.stages.stage import Site
from longform.rehearsal.settings import FakeSettings
from longform.settings.experiment import Experiment
from tests.actors.local_models.tiny_checkpoints import save_bert
from tests.jobs.killing import CONCURRENCY, MOST_LEASED, WORKERS, Command, Fake, Nodes, Place, bill, until
from tests.jobs.planted_bench import N_DOCUMENTS, bench, prepared
from tests.jobs.run_content import TABLES, assert_same_tables, sorted_content
from tests.soak import ONLY_IN_SOAK

pytestmark = pytest.mark.slow

N_QUERIES = 8  # a task each
N_NODES = 2


# ---------------------------------------------------------------- several nodes


def do_check(*, address: str | None, workers: int, url: str, bench_url: str, model: str, seen: Path | None) -> None:
    """
    The check stage with a checkpoint.

    Where *seen* is a folder, each task leaves its node's name there, and waits until tasks have begun on every node.
    """
    benchmark, run = Benchmark(bench_url), Folder(url)
    settings = {"kind": "checkpoint", "model": model, "supported_label": 1}
    experiment = read_experiment("positional_bias", [f"support_judges={{checker: {settings}}}"])
    made = prepared(run, benchmark, "checker")
    calling = Calling("test", ledger=f"{url}-ledger")
    site = Site(url, bench_url, 1, calling)
    (stage,) = (one for one in stages_of(experiment, site) if one.judged_by == "checker")
    given = stage.tasks(run, made.items)
    tasks = [Task(work_ids=tuple(one.work_id for one in of), payload={"place": n}) for n, of in enumerate(given)]
    made_by = noting(stage.opened, given, None if seen is None else str(seen))
    ran = PlainStage(name=stage.name, table=stage.table, make_worker=made_by, holds_model=True)
    with Cluster(address=address, workers=workers) as cluster:
        report = run_stage(run, ran, len(made.items), tasks, cluster=cluster)
    assert report.rows == made.n_cells == N_QUERIES * N_DOCUMENTS * N_DOCUMENTS


def do_check_and_leave(**given: Any) -> None:
    """`do_check` as a process of its own, which ends as a command does: before Ray's destructors, which may abort."""
    do_check(**given)
    os._exit(0)


def noting(make_worker: Callable[[], Worker], given: Sequence[Any], seen: str | None) -> Callable[[], Worker]:
    """
    The worker of what is *given*, a task each, by its place.

    Where *seen* names a folder, its tasks note where they are; a closure, because nodes know no tests.
    """

    def make() -> Worker:
        import time
        from pathlib import Path

        import ray

        worker = make_worker()
        if seen is None:
            return lambda payload: worker(given[payload["place"]])
        folder, here = Path(seen), ray.get_runtime_context().get_node_id()

        def noted(payload: Any) -> Any:
            (folder / here).touch()
            ends = time.monotonic() + 300
            while len(list(folder.iterdir())) < 2 and time.monotonic() < ends:
                time.sleep(0.02)
            return worker(given[payload["place"]])

        return noted

    return make


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_bert(tmp_path_factory.mktemp("checker") / "bert", n_labels=2)


@pytest.mark.nodes
def test_four_workers_on_two_nodes_find_what_one_finds(tmp_path: Path, checker: str) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    (tmp_path / "nodes").mkdir()
    both: dict[str, Any] = {"bench_url": bench(tmp_path, n=N_QUERIES), "model": checker}
    do_check(address=None, workers=0, url=str(tmp_path / "by1"), seen=None, **both)
    with Nodes(tmp_path / "nodes", n=N_NODES, cpus=2) as nodes:
        given = both | {"address": nodes.address, "workers": 4, "url": str(tmp_path / "by4"), "seen": seen}
        process = multiprocessing.get_context("spawn").Process(target=do_check_and_leave, kwargs=given)
        process.start()
        process.join()
        assert process.exitcode == 0

    assert len(list(seen.iterdir())) == N_NODES
    exact, floats = sorted_content(Folder(str(tmp_path / "by1")), "verdicts")
    other, other_floats = sorted_content(Folder(str(tmp_path / "by4")), "verdicts")
    assert exact == other
    one, four = (np.array(found["probability"].to_pylist()) for found in (floats, other_floats))
    assert np.abs(one - four).max() <= 1e-4
    assert one.std() > 1e-3  # else equal answers would say nothing


# ---------------------------------------------------------------- killed


N_EXAMPLES = 5  # so many that a kill leaves more to do than workers have leased
METHODS = ("plain", "incremental")
N_WRITING = N_EXAMPLES * (1 + N_DOCUMENTS)  # calls: one, or one a document
MOMENTS = {"summarize": 3, "check": 5}  # calls of a stage before a kill that meets it


def experiment(url: str) -> dict[str, Any]:
    model = (
        f"{{provider: openai, model: fake, base_url: '{url}', concurrency: {CONCURRENCY}, requests_per_minute: 2400}}"
    )
    grid = f"{{retriever: full, budget_tokens: null, method: [{', '.join(METHODS)}], summarizer: chat}}"
    changes = [f"model={model}", f"support_judge={model}", f"systems=[{grid}]", "resamples=100"]
    made: Experiment = read_experiment("positional_bias", changes)
    return made.model_dump(mode="json")


class Undisturbed(NamedTuple):
    place: Place
    fake: Fake
    packed: Path
    run: Folder
    n_calls: int


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    """A provider, and a run that nobody disturbs: what the others are to end like."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with fake_process(FakeSettings(delay_s=0.4, slow_share=0)) as url:
        fake, place = Fake(url), Place.make(folder, bench(folder, n=N_EXAMPLES), experiment(url))
        with Command(place, folder, workers=0) as command:
            assert command.wait() == 0, command.said()
        n_calls = fake.counters()["accepted"]
        assert fake.served_again() == []
        assert n_calls > N_WRITING + MOMENTS["check"] + WORKERS * MOST_LEASED, "a kill must leave something to do"
        yield Undisturbed(place, fake, folder, Folder(f"{folder}/run"), n_calls)


def written_parts(run: Folder) -> set[str]:
    return {part.path for table in TABLES for part in run.parts(table)}


@ONLY_IN_SOAK
def test_study_that_was_killed_twice_goes_on_with_the_same_command(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Finished parts stay, and nothing is asked again but what was in flight when a command died."""
    fake, run = undisturbed.fake, Folder(f"{tmp_path}/run")
    fake.reset()
    kept: set[str] = set()
    for stage, moment in MOMENTS.items():
        with Command(undisturbed.place, tmp_path) as command:
            if stage == "check":  # which calls were lost with the first command is chance, so that none are counted
                until(lambda: bool(run.parts("summaries")), "summaries are written")
            command.reach(fake, fake.counters()["accepted"] + moment)
            command.signal(signal.SIGKILL)
            command.gone()
            until(lambda: fake.counters()["in_flight"] == 0, "the provider sees that nobody waits for replies")
        assert kept <= written_parts(run)
        kept = written_parts(run)
        assert fake.counters()["accepted"] < undisturbed.n_calls
        assert bool(run.parts("summaries")) == (stage == "check")

    with Command(undisturbed.place, tmp_path) as again:
        assert again.wait() == 0, again.said()

    found = bill(fake, tmp_path)
    assert kept <= written_parts(run)
    assert found.n_again <= min(found.ledger.open, len(MOMENTS) * WORKERS * CONCURRENCY)
    assert fake.counters()["accepted"] - found.n_again == found.ledger.answered == undisturbed.n_calls
    assert_same_results(run, undisturbed.run)


def assert_same_results(run: Folder, expected: Folder) -> None:
    assert_same_tables(run, expected)
    found, wanted = (read_results(one)["tables"] for one in (run, expected))
    names = ["cells", *(name for name in wanted if name.startswith("faithfulness"))]
    assert {name: found.get(name) for name in names} == {name: wanted[name] for name in names}
