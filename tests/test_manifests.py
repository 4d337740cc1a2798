"""The manifests of docs/kubernetes have what KubeRay's resources require, and name what the project has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from serve.deployments import KINDS
from serve.settings import parse_settings
from tests.places import ROOT

FOLDER = ROOT / "docs" / "kubernetes"
CLUSTER_UNDER = {"RayJob": "rayClusterSpec", "RayService": "rayClusterConfig"}
SPEC_KEYS = {
    "RayJob": {
        "entrypoint", "submissionMode", "backoffLimit", "activeDeadlineSeconds", "shutdownAfterJobFinishes",
        "ttlSecondsAfterFinished", "rayClusterSpec",
    },
    "RayService": {"serveConfigV2", "rayClusterConfig"},
}  # fmt: skip
CLUSTER_KEYS = {"rayVersion", "enableInTreeAutoscaling", "authOptions", "headGroupSpec", "workerGroupSpecs"}
GROUP_KEYS = {"groupName", "minReplicas", "maxReplicas", "replicas", "rayStartParams", "template"}
CRDS = "LONGFORM_KUBERAY_CRDS"
CRD_FILE = {"RayJob": "ray.io_rayjobs.yaml", "RayService": "ray.io_rayservices.yaml"}
QUANTITY = re.compile(r"\d+(\.\d+)?(m|Ki|Mi|Gi|Ti)?")


def manifest(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / f"{name}.yaml").read_text()))


def pods(cluster: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        yield group["template"]["spec"]


def ray_version() -> str:
    (version,) = re.findall(r"^ray==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    return version


@pytest.fixture(params=["rayjob", "rayservice"])
def found(request: pytest.FixtureRequest) -> dict[str, Any]:
    return manifest(request.param)


def test_resource_has_the_fields_that_kuberay_requires_and_no_others(found: dict[str, Any]) -> None:
    assert found["apiVersion"] == "ray.io/v1"
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,45}[a-z0-9])?", found["metadata"]["name"])
    assert found["spec"].keys() == SPEC_KEYS[found["kind"]]
    cluster = found["spec"][CLUSTER_UNDER[found["kind"]]]
    assert cluster.keys() == CLUSTER_KEYS
    assert cluster["rayVersion"] == ray_version()
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["headGroupSpec"].keys() == {"rayStartParams", "template"}
    for group in cluster["workerGroupSpecs"]:
        assert group.keys() == GROUP_KEYS
        assert 0 <= group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    starts = [group["rayStartParams"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]
    assert all(isinstance(value, str) for start in starts for value in start.values()), "KubeRay takes strings only"
    assert starts[0]["num-cpus"] == "0"


def crd_schema(kind: str) -> dict[str, Any]:
    """Return KubeRay's own definition of *kind*, with every unknown field refused."""
    if CRDS not in os.environ:
        pytest.skip(f"{CRDS} is unset: expected a folder with {' and '.join(CRD_FILE.values())} of KubeRay")
    definition = yaml.safe_load((Path(os.environ[CRDS]) / CRD_FILE[kind]).read_text())
    (version,) = [one for one in definition["spec"]["versions"] if one["name"] == "v1"]
    return dict(closed(version["schema"]["openAPIV3Schema"]))


def closed(schema: Any) -> Any:
    """A structural schema that refuses unknown fields; what has no `properties`, or says it keeps others, is open."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(part) for name, part in schema.items()}
    is_open = "additionalProperties" in schema or schema.get("x-kubernetes-preserve-unknown-fields")
    if schema.get("type") == "object" and "properties" in schema and not is_open:
        found["additionalProperties"] = False
    return found


def misfits(resource: Any, schema: dict[str, Any]) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(resource)]


def test_resource_fits_kuberays_own_schema(found: dict[str, Any]) -> None:
    """The definitions are KubeRay's and are not shipped here: docs/operations.md says where they are."""
    assert misfits(found, crd_schema(found["kind"])) == []


def test_a_field_that_the_schema_does_not_know_is_a_misfit() -> None:
    group = {"type": "object", "properties": {"name": {"type": "string"}, "type": {"type": "string"}}}
    labels = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = closed({"type": "object", "properties": {"groups": {"type": "array", "items": group}, "labels": labels}})
    assert misfits({"groups": [{"name": "cpu", "type": "a"}], "labels": {"any": "thing"}}, schema) == []
    (said,) = misfits({"groups": [{"nmae": "cpu"}]}, schema)
    assert said.startswith("$.groups[0]: ")
    assert "nmae" in said
    assert len(misfits({"groups": [{"name": 1}], "labels": {"any": 1}}, schema)) == 2


def test_pods_have_images_sizes_and_volumes_and_no_keys(found: dict[str, Any]) -> None:
    for pod in pods(found["spec"][CLUSTER_UNDER[found["kind"]]]):
        (container,) = pod["containers"]
        assert container["name"]
        assert re.search(r":[\w.-]+$", container["image"])
        assert not container["image"].endswith(":latest")
        sizes = container["resources"]
        assert sizes["requests"] == sizes["limits"], "Ray counts limits, Kubernetes places by requests"
        assert all(QUANTITY.fullmatch(size) for size in sizes["limits"].values())
        mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
        assert mounted <= {volume["name"] for volume in pod.get("volumes", [])}
        assert pod["serviceAccountName"] == "longform"
        for variable in container.get("env", []):
            assert "KEY" not in variable["name"] or "secretKeyRef" in variable["valueFrom"]


NODES = {4: 16, 8: 16}
"""CPUs -> GiB of the nodes that cluster.yaml names: m6i.xlarge and g5.xlarge, c6i.2xlarge."""


def room_left(pod: dict[str, Any]) -> tuple[float, float]:
    """CPUs and GiB that the smallest node for the pod keeps for the system."""
    sizes = pod["containers"][0]["resources"]["requests"]
    cpus, gib = float(sizes["cpu"]), float(sizes["memory"].removesuffix("Gi"))
    n_cpus = min(n for n in NODES if n >= cpus)
    return n_cpus - cpus, NODES[n_cpus] - gib


def test_pods_leave_a_node_room_for_the_system(found: dict[str, Any]) -> None:
    """EKS keeps 0.1 CPU and 1 GiB, the hypervisor a 16th of the memory; the autoscaler stands beside the head."""
    for pod in pods(found["spec"][CLUSTER_UNDER[found["kind"]]]):
        cpus, gib = room_left(pod)
        assert cpus >= 0.75
        assert gib >= 2.5


def test_head_of_the_service_has_the_ports_that_kuberay_looks_for() -> None:
    """It submits the application to the dashboard's, and finds it by name; of a head that names some, only these."""
    (container,) = manifest("rayservice")["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]["containers"]
    named = {port["name"] for port in container.get("ports", [])}
    assert not named or {"gcs-server", "dashboard", "client", "serve"} <= named


def test_job_is_a_command_of_the_project_that_may_be_tried_again() -> None:
    from jobs.command_line import VERBS

    spec = manifest("rayjob")["spec"]
    python, dash_m, module, *arguments = spec["entrypoint"].split()
    assert (python, dash_m) == ("python", "-m")
    assert module.removeprefix("jobs.") in VERBS
    assert {"--out", "--ledger", "--max-cost"} <= set(arguments)
    assert all(word.startswith("s3://") for word in arguments if "my-bucket" in word)
    assert spec["submissionMode"] in {"K8sJobMode", "HTTPMode", "SidecarMode"}
    assert spec["shutdownAfterJobFinishes"] is True  # without it a time to live is refused


def test_service_is_an_application_that_serve_takes_and_asks_for_tokens() -> None:
    from ray.serve.schema import ServeDeploySchema

    spec = manifest("rayservice")["spec"]
    (application,) = ServeDeploySchema.model_validate(yaml.safe_load(spec["serveConfigV2"])).applications
    settings = parse_settings(application.args)
    named = {f"{kind}-{entry}" for kind in KINDS for entry in getattr(settings, kind)} | {"ingress"}
    assert {deployment.name for deployment in application.deployments} == named
    assert settings.access.tokens_file == "/etc/longform/serve-tokens"
    for pod in pods(spec["rayClusterConfig"]):
        assert pod["containers"][0]["volumeMounts"][0]["mountPath"] == "/etc/longform"
        assert pod["volumes"][0]["secret"]["items"][0]["path"] == "serve-tokens"


def test_image_has_the_ray_of_the_project_and_its_packages() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    assert f"FROM rayproject/ray:{ray_version()}-py311-cpu" in text
    copied = re.findall(r"^COPY --chown=ray:users (\w+) \1$", text, re.MULTILINE)
    assert copied == ["longform", "actors", "jobs", "serve"]
    (torch,) = re.findall(r"^torch==\S+$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert torch in text
