"""The Ray of a command: begun beside other work, once, and only if stages are sure to run on it."""

from __future__ import annotations

import pytest

from jobs.stages.cluster import Cluster
from jobs.stages.starting_ray import ClusterError


@pytest.fixture(autouse=True, scope="module")
def ray_where_marked() -> None:
    """Nothing: it is looked at here what starts one."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Cluster]:
    """Every cluster that was started."""
    seen: list[Cluster] = []

    def start(cluster: Cluster) -> None:
        seen.append(cluster)

    monkeypatch.setattr(Cluster, "_start", start)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return seen


@pytest.mark.parametrize(
    ("address", "workers"),
    [(None, 0), (None, None), ("10.0.0.1:6379", 2), ("10.0.0.1:6379", None)],
    ids=["in process", "measured", "elsewhere", "elsewhere, not told"],
)
def test_nothing_is_begun_if_it_may_not_be_wanted(
    address: str | None, workers: int | None, started: list[Cluster]
) -> None:
    with Cluster(address=address, workers=workers) as cluster:
        cluster.prepare()
    assert started == []


def test_what_was_begun_is_started_once(started: list[Cluster]) -> None:
    with Cluster(address=None, workers=2) as cluster:
        cluster.prepare()
        cluster.prepare()
        cluster.start()
        cluster.start()
        assert started == [cluster]


@pytest.mark.parametrize(("workers", "n_starts"), [(0, 0), (None, 1), (2, 1)])
def test_calls_of_a_command_without_workers_start_no_ray(
    workers: int | None, n_starts: int, started: list[Cluster]
) -> None:
    with Cluster(address=None, workers=workers) as cluster:
        cluster.start_for_calls()
    assert len(started) == n_starts


def test_its_failure_is_told_when_ray_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Cluster) -> None:
        raise ClusterError("Ray did not start")

    monkeypatch.setattr(Cluster, "_start", fails)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with Cluster(address=None, workers=2) as cluster:
        cluster.prepare()
        with pytest.raises(ClusterError, match="did not start"):
            cluster.start()


@pytest.mark.parametrize(
    ("rest_s", "workers", "cores", "sooner"),
    [
        (1000, 4, 1, True),  # 250 s there
        (1000, 4, 2, True),  # 500 s here, 250 s there
        (1000, 2, 2, False),  # as many cores here as workers there
        (1000, 2, 8, False),
        (10, 4, 1, False),  # the start takes longer
    ],
)
def test_work_goes_to_workers_if_that_ends_it_sooner(rest_s: float, workers: int, cores: int, sooner: bool) -> None:
    with Cluster(address=None, workers=workers) as cluster:
        assert cluster.ends_sooner(rest_s, cores=cores) is sooner
