"""Requests and settings of docs/serving.md are those that the application takes."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from ray.serve.schema import DeploymentSchema

from longform.settings.chat import SummarizerSettings
from longform.settings.judges import JudgeSettings, ServedJudgeSettings
from longform.settings.measures import EmbeddingSimilaritySettings, MeasureSettings
from longform.settings.retrievers import (
    EmbeddingsRetrieverSettings,
    EndpointRerankerSettings,
    RerankerSettings,
    RetrieverSettings,
)
from longform.settings.systems import ImportanceSettings, SimilarityImportanceSettings
from serve.backlog import with_backlog
from serve.http.schemas import RerankRequest
from serve.judges.items import judge_item
from serve.settings import asks_a_chat, parse_settings
from tests.pages import blocks, text_of
from tests.serve.served import local_app

PAGE = "docs/serving.md"


def texts(language: str, kind: str = "") -> list[str]:
    return [block.text for block in blocks(PAGE) if (block.language, block.kind) == (language, kind)]


def bodies() -> dict[str, Any]:
    """Path -> the body that curl sends there."""
    found = re.findall(r"127\.0\.0\.1:8000(/\S+) -H .*? -d '(.*?)'", texts("sh", "served")[0], re.DOTALL)
    return {path: json.loads(body) for path, body in found}


def test_curl_sends_what_the_application_takes() -> None:
    sent = bodies()
    assert sent.keys() == {"/v1/judge", "/v1/rerank"}
    for item in sent["/v1/judge"]["items"]:
        judge_item("support").model_validate(item)
    assert len(RerankRequest.model_validate(sent["/v1/rerank"]).all_texts) == 2


def test_paths_of_the_page_are_those_of_the_application() -> None:
    app = local_app()
    served = {(method, route.path) for route in app.routes if isinstance(route, APIRoute) for method in route.methods}
    rows = re.findall(r"^\| `(GET|POST) (.*?) \|", text_of(PAGE), re.MULTILINE)
    shown = {(method, path) for method, paths in rows for path in re.findall(r"/[\w./]+", paths)}
    assert shown == served | {("GET", "/openapi.json")}


def test_judges_of_the_page_can_be_served() -> None:
    _, judges, *_ = texts("yaml")
    settings = parse_settings(yaml.safe_load(judges))
    asking = [name for name, judge in settings.judges.items() if asks_a_chat(judge)]
    assert asking == ["chat-coverage", "chat-support", "own-support"]


def test_the_scaling_of_the_page_is_serve_s_with_a_policy_of_ours() -> None:
    shown, *_ = texts("yaml")
    (deployment,) = (DeploymentSchema.model_validate(one) for one in yaml.safe_load(shown)["deployments"])
    assert deployment.autoscaling_config["policy"]["policy_function"] == f"{with_backlog.__module__}:with_backlog"


def test_models_of_one_s_own_of_the_page_are_entries() -> None:
    *_, of_jobs, shown, _, _ = texts("yaml")
    settings = parse_settings(yaml.safe_load(shown))
    assert [*settings.rerankers, *settings.judges] == ["mine", "lengths"]
    as_in_jobs = parse_settings(yaml.safe_load(of_jobs))
    assert [*as_in_jobs.judges, *as_in_jobs.rerankers] == ["checks", "ranks", "asked", "passed-on"]


def test_judges_and_the_model_that_the_page_asks_are_settings() -> None:
    _, _, judges, writers, *_ = texts("yaml")
    read = TypeAdapter(dict[str, JudgeSettings]).validate_python(yaml.safe_load(judges)["judges"])
    assert all(isinstance(settings, ServedJudgeSettings) for settings in read.values())
    TypeAdapter(dict[str, SummarizerSettings]).validate_python(yaml.safe_load(writers)["summarizers"])


def test_rerankers_of_the_page_are_endpoints() -> None:
    _, _, _, _, shown, *_ = texts("yaml")
    rerankers = TypeAdapter(dict[str, RerankerSettings]).validate_python(yaml.safe_load(shown)["rerankers"])
    assert all(isinstance(settings, EndpointRerankerSettings) for settings in rerankers.values())


def test_retrievers_of_the_page_are_endpoints() -> None:
    *_, shown, _ = texts("yaml")
    retrievers = TypeAdapter(dict[str, RetrieverSettings]).validate_python(yaml.safe_load(shown)["retrievers"])
    assert all(isinstance(settings, EmbeddingsRetrieverSettings) for settings in retrievers.values())


def test_other_encoders_of_the_page_are_behind_endpoints() -> None:
    *_, shown = texts("yaml")
    read = yaml.safe_load(shown)
    importance = TypeAdapter(ImportanceSettings).validate_python(read["importance"])
    shipped, measure = TypeAdapter(tuple[str, MeasureSettings]).validate_python(read["measures"])
    assert isinstance(importance, SimilarityImportanceSettings)
    assert isinstance(measure, EmbeddingSimilaritySettings)
    assert shipped == "embedding_similarity"
    assert measure.measure == "embedding_similarity_text_embedding_3_large"
    assert importance.endpoint is not None
    assert measure.endpoint is not None
