"""`cluster.yaml` is one that Ray and AWS take, and keeps what must not be lost off nodes that may be taken away."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore.loaders import Loader

from tests.places import ROOT

CONSTRAINTS = (ROOT / "constraints.txt").read_text()
Cluster = dict[str, Any]


def pinned(package: str) -> str:
    (version,) = re.findall(rf"^{package}==(\S+)$", CONSTRAINTS, re.MULTILINE)
    return version


def cluster() -> Cluster:
    return dict(yaml.safe_load((ROOT / "cluster.yaml").read_text()))


@cache
def instance_types() -> frozenset[str]:
    """Return the instance types that the AWS client knows, without a network."""
    model = Loader().load_service_model("ec2", "service-2")
    return frozenset(model["shapes"]["InstanceType"]["enum"])


def faults(found: Cluster) -> list[str]:
    """Return the faults that Ray's own schema does not see."""
    provider, types = found["provider"], found["available_node_types"]
    regions = boto3.Session().get_available_regions("ec2")
    wrong = [] if provider.get("region") in regions else [f"region {provider.get('region')}"]
    zones = provider.get("availability_zone", "").split(",")
    wrong += [f"zone {zone}" for zone in zones if not re.fullmatch(rf"{provider.get('region')}[a-z]", zone)]
    known = instance_types()
    for name, node in types.items():
        kind = node["node_config"].get("InstanceType")
        wrong += [] if kind in known else [f"{name}: instance type {kind}"]
        wrong += [] if "Name" in node["node_config"].get("IamInstanceProfile", {}) else [f"{name}: no profile"]
        least, most = node.get("min_workers", 0), node.get("max_workers", found["max_workers"])
        wrong += [] if least <= most <= found["max_workers"] else [f"{name}: {least} to {most} workers"]
        wrong += [f"{name}: {least} idle workers"] if least else []
    head = types[found["head_node_type"]]
    wrong += ["spot head"] if "InstanceMarketOptions" in head["node_config"] else []
    wrong += ["a head with work"] if head["resources"].get("CPU") != 0 else []
    return wrong


def with_faults() -> list[tuple[str, Callable[[Cluster], Any]]]:
    """Mistakes that Ray's schema accepts."""

    def types(found: Cluster, name: str) -> dict[str, Any]:
        return dict[str, Any](found["available_node_types"])[name]

    return [
        ("region mars", lambda c: c["provider"].update(region="mars")),
        ("zone eu-west-1a", lambda c: c["provider"].update(availability_zone="us-east-1a,eu-west-1a")),
        ("instance type m6i.enormous", lambda c: types(c, "cpu")["node_config"].update(InstanceType="m6i.enormous")),
        ("instance type None", lambda c: types(c, "gpu")["node_config"].pop("InstanceType")),
        ("no profile", lambda c: types(c, "cpu")["node_config"].pop("IamInstanceProfile")),
        ("9 to 8 workers", lambda c: types(c, "cpu").update(min_workers=9)),
        ("0 to 99 workers", lambda c: types(c, "cpu").update(max_workers=99)),
        ("1 idle workers", lambda c: types(c, "gpu").update(min_workers=1)),
        ("spot head", lambda c: types(c, "head")["node_config"].update(InstanceMarketOptions={"MarketType": "spot"})),
        ("a head with work", lambda c: types(c, "head").update(resources={})),
    ]


def validated(found: Cluster) -> Cluster:
    """Return the configuration as Ray reads it before it starts anything."""
    from ray.autoscaler._private.util import prepare_config, validate_config

    prepared = prepare_config(found)
    validate_config(prepared)
    return dict(prepared)


def test_ray_takes_the_file_and_nothing_is_wrong_that_ray_does_not_see() -> None:
    validated(cluster())
    assert faults(cluster()) == []


@pytest.mark.parametrize(("fault", "make"), with_faults(), ids=lambda one: one if isinstance(one, str) else "")
def test_faults_are_found_that_ray_takes(fault: str, make: Callable[[Cluster], Any]) -> None:
    found = copy.deepcopy(cluster())
    make(found)
    validated(copy.deepcopy(found))
    assert any(fault in one for one in faults(found))


def test_every_image_has_the_ray_and_the_python_of_the_project() -> None:
    text = (ROOT / "cluster.yaml").read_text()
    images = re.findall(r"rayproject/ray:(\S+)", text)
    assert len(images) == 2
    assert all(image.startswith(f"{pinned('ray')}-py311-") for image in images)
    assert f"torch=={pinned('torch')}" in text


def test_no_key_stands_in_the_file_and_none_is_needed() -> None:
    text = (ROOT / "cluster.yaml").read_text()
    assert not re.search(r"AKIA|aws_secret|AWS_SECRET|aws_access_key|ssh_private_key|api_key", text, re.IGNORECASE)


def test_ray_wants_a_token_and_its_dashboard_is_on_loopback() -> None:
    found = cluster()
    (head,) = [line for line in found["head_start_ray_commands"] if "ray start" in line]
    (worker,) = [line for line in found["worker_start_ray_commands"] if "ray start" in line]
    assert all(
        "RAY_AUTH_MODE=token ray start" in line.replace(" RAY_USAGE_STATS_ENABLED=0", "") for line in (head, worker)
    )
    assert {"--dashboard-host=127.0.0.1", "--autoscaling-config=~/ray_bootstrap_config.yaml"} <= set(head.split())
    assert found["file_mounts"]["~/.ray/auth_token"] == "~/.ray/auth_token"
    assert found["provider"]["cache_stopped_nodes"] is False


def test_workers_of_calls_are_spot_and_what_they_must_not_take_with_them_is_on_the_head() -> None:
    """The governor asks for a resource that heads alone have; the keeper of the ledger is beside its driver."""
    from actors.chat import governor

    types = cluster()["available_node_types"]
    assert types["cpu"]["node_config"]["InstanceMarketOptions"] == {"MarketType": "spot"}
    assert list(governor._ON_THE_HEAD) == ["node:__internal_head__"]


@pytest.mark.slow
def test_aws_bootstrap_fills_in_what_the_nodes_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against an AWS of our own (moto): the profiles are used as they are, and resources are the instances'."""
    moto = pytest.importorskip("moto", reason="moto is in the test extra")
    from ray.autoscaler._private.aws.config import bootstrap_aws
    from ray.autoscaler._private.aws.node_provider import AWSNodeProvider

    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_SESSION_TOKEN": "test",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with moto.mock_aws():
        made = bootstrap_aws(AWSNodeProvider.fillout_available_node_types_resources(validated(cluster())))

    types = made["available_node_types"]
    assert types["head"]["resources"]["CPU"] == 0
    assert types["cpu"]["resources"]["CPU"] == 8
    assert (types["gpu"]["resources"]["GPU"], types["gpu"]["resources"]["CPU"]) == (1, 4)
    for node in types.values():
        config = node["node_config"]
        assert config["SubnetIds"]
        assert config["SecurityGroupIds"]
        assert config["ImageId"].startswith("ami-")
    profiles = {name: node["node_config"]["IamInstanceProfile"] for name, node in types.items()}
    assert profiles == {"head": {"Name": "longform-head"}, "cpu": {"Name": "longform-worker"}} | {
        "gpu": {"Name": "longform-worker"}
    }
    assert "not-a-real-one" not in json.dumps(made)
