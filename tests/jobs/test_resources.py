"""Local models ask the cluster for GPUs: their workers are scheduled with them, and a cluster without is told of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.stages.cluster import Cluster
from jobs.stages.runner import PlainStage, Task, run_stage
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.settings.judges import CheckpointJudgeSettings
from longform.settings.retrievers import CrossEncoderRerankerSettings, EncoderRetrieverSettings
from longform.settings.strict import ResourcesSettings, together
from tests.made.demo import one_haystack


def test_resources_are_no_part_of_an_identity() -> None:
    asked = ResourcesSettings(num_gpus=0.5)
    judge = CheckpointJudgeSettings(kind="checkpoint", task="support", model="m")
    for plain in (
        judge,
        CrossEncoderRerankerSettings(kind="cross_encoder", model="m"),
        EncoderRetrieverSettings(kind="encoder", model="m", pooling="whole"),
        ChatSettings(provider="llama_cpp", model="m"),
    ):
        with_gpu = type(plain).model_validate({**plain.model_dump(), "resources": asked.model_dump()})
        assert with_gpu.identity == plain.identity
    assert judge.model_copy(update={"resources": asked}).stated == judge.stated
    assert "resources" not in ChatSettings(model="m").model_dump()


def test_a_worker_with_several_models_asks_for_the_most() -> None:
    found = together([ResourcesSettings(num_gpus=0.25), None, ResourcesSettings(num_gpus=1, num_cpus=3)])
    assert found == ResourcesSettings(num_gpus=1, num_cpus=3)
    assert together([None]) is None


@pytest.mark.parametrize("gpus", [-1, 1.5])
def test_shares_are_of_one_gpu(gpus: float) -> None:
    with pytest.raises(ValidationError):
        ResourcesSettings(num_gpus=gpus)


def test_a_model_elsewhere_asks_for_nothing_here() -> None:
    with pytest.raises(ValidationError, match="provider llama_cpp"):
        ChatSettings(model="m", resources=ResourcesSettings(num_gpus=1))


def test_without_a_gpu_nothing_is_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = one_haystack()
    judge = {
        "kind": "checkpoint",
        "task": "support",
        "model": "shipped:checker",
        "family": "word_classifier",
        "resources": {"num_gpus": 1},
    }
    content = {
        "name": "gpus",
        "seed": 1,
        "retrievers": {"oracle": {"kind": "oracle"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"checker": judge},
        "systems": [{"retriever": "oracle", "budget_tokens": 1000, "summarizer": "offline"}],
    }
    path = tmp_path / "gpus.yaml"
    path.write_text(json.dumps(content))
    assert main([str(path), "--bench", bench, "--out", str(tmp_path / "run"), "--workers", "0"]) == 2
    assert "check checker asks for num_gpus 1, and this process sees 0 GPUs" in capsys.readouterr().err
    assert not (tmp_path / "run" / "rankings").exists()


def _assigned() -> Any:
    def made(_payload: Any) -> list[dict[str, Any]]:
        import ray

        found = ray.get_runtime_context().get_assigned_resources()
        return [{"summary_id": json.dumps(found), "query_id": "q", "haystack_id": "h"}]

    return made


@pytest.mark.ray
@pytest.mark.parametrize("asynchronous", [False, True])
def test_workers_are_scheduled_with_what_their_model_asks_for(
    ray_session: None, tmp_path: Path, *, asynchronous: bool
) -> None:
    def made() -> Any:
        answer = _assigned()

        async def waits(payload: Any) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = answer(payload)
            return rows

        return waits if asynchronous else answer

    run = Folder(str(tmp_path))
    cluster = Cluster(address=None, workers=4)
    asked = ResourcesSettings(num_gpus=0.5, num_cpus=1)
    stage = PlainStage(
        name="s", table="summaries", make_worker=made, holds_model=True, asynchronous=asynchronous,
        slots=1, resources=asked,
    )  # fmt: skip
    cluster.check_gpus(0.5, "s")
    tasks = [Task(work_ids=(f"w{n}",), payload={"n": n}) for n in range(4)]
    run_stage(run, stage, 4, tasks, cluster=cluster)

    assert cluster.n_with_gpus(0.5) == 2
    assigned = [json.loads(row["summary_id"]) for row in run.read("summaries").to_pylist()]
    assert len(assigned) == 4
    assert all(one["GPU"] == 0.5 and one["CPU"] == 1 for one in assigned)
    with pytest.raises(UsageError, match=r"num_gpus 2, and no node of this cluster has as many: it has 4 CPU, 1 GPU"):
        cluster.check_gpus(2, "check checker")


def _sees(_payload: Any) -> list[dict[str, Any]]:
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [{"summary_id": json.dumps(seen), "query_id": "q", "haystack_id": "h"}]


async def _sees_waiting(payload: Any) -> list[dict[str, Any]]:
    return _sees(payload)


@pytest.mark.ray
@pytest.mark.parametrize(("gpus", "asynchronous", "seen"), [(None, False, ""), (None, True, ""), (0.5, False, "0")])
def test_a_worker_that_asks_for_no_gpu_sees_none(
    ray_session: None, tmp_path: Path, gpus: float | None, *, asynchronous: bool, seen: str
) -> None:
    def made() -> Any:
        return _sees_waiting if asynchronous else _sees

    stage = PlainStage(
        name="s", table="summaries", make_worker=made, asynchronous=asynchronous, slots=1,
        resources=ResourcesSettings(num_gpus=gpus) if gpus else None,
    )  # fmt: skip
    run = Folder(str(tmp_path))
    run_stage(run, stage, 1, [Task(work_ids=("w",), payload={"n": 0})], cluster=Cluster(address=None, workers=1))
    (row,) = run.read("summaries").to_pylist()
    assert json.loads(row["summary_id"]) == seen
