"""Ray's notices of a cluster do not stand among the results of a command."""

from __future__ import annotations

import pytest

from jobs.stages.cluster import Cluster
from tests.jobs.killing import until


@pytest.mark.ray
def test_notices_of_the_cluster_are_no_results(ray_session: None, capsys: pytest.CaptureFixture[str]) -> None:
    from ray._private.utils import push_error_to_driver
    from ray._private.worker import global_worker

    said = []

    def heard() -> bool:
        said.append(capsys.readouterr())
        return any("a planted notice" in one.out + one.err for one in said)

    with Cluster(address=None, workers=1) as cluster:
        cluster.start()
        push_error_to_driver(global_worker, "planted", "a planted notice")
        until(heard, "Ray's notice is printed")

    assert "a planted notice" in "".join(one.err for one in said)
    assert "a planted notice" not in "".join(one.out for one in said)
