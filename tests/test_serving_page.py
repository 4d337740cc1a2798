"""What docs/serving.md shows is what the application takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from longform.settings.retrievers import EndpointRerankerSettings, RerankerSettings
from serve.http.schemas import RerankRequest
from serve.judges.items import SupportItem
from serve.settings import asks_a_chat, parse_settings
from tests.places import ROOT
from tests.serve.served import local_app

PAGE = (ROOT / "docs" / "serving.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def bodies() -> dict[str, Any]:
    """Path -> the body that curl sends there."""
    found = re.findall(r"127\.0\.0\.1:8000(/\S+) -H .*? -d '(.*?)'", blocks("sh")[0], re.DOTALL)
    return {path: json.loads(body) for path, body in found}


def test_curl_sends_what_the_application_takes() -> None:
    sent = bodies()
    assert sent.keys() == {"/v1/judge", "/v1/rerank"}
    TypeAdapter(list[SupportItem]).validate_python(sent["/v1/judge"]["items"])
    assert len(RerankRequest.model_validate(sent["/v1/rerank"]).all_texts) == 2


def test_paths_of_the_page_are_those_of_the_application() -> None:
    app = local_app()
    served = {(method, route.path) for route in app.routes if isinstance(route, APIRoute) for method in route.methods}
    rows = re.findall(r"^\| `(GET|POST) (.*?) \|", PAGE, re.MULTILINE)
    shown = {(method, path) for method, paths in rows for path in re.findall(r"/[\w./]+", paths)}
    assert shown == served | {("GET", "/openapi.json")}


def test_judges_of_the_page_can_be_served() -> None:
    judges, _ = blocks("yaml")
    settings = parse_settings(yaml.safe_load(judges))
    asking = [name for name, judge in settings.judges.items() if asks_a_chat(judge)]
    assert asking == ["chat-coverage", "chat-support"]


def test_rerankers_of_the_page_are_endpoints() -> None:
    _, shown = blocks("yaml")
    rerankers = TypeAdapter(dict[str, RerankerSettings]).validate_python(yaml.safe_load(shown)["rerankers"])
    assert all(isinstance(settings, EndpointRerankerSettings) for settings in rerankers.values())


@pytest.mark.slow
def test_client_of_the_page_prints_verdicts() -> None:
    from serve.engine import Engine
    from serve.http.access import Access
    from serve.http.app import Backends, ServedJudge, make_app
    from serve.judges.workers import SupportWorker
    from serve.settings import ServedSupport
    from tests.serving import running

    served = ServedSupport.model_validate({"task": "support", "judge": {"kind": "offline"}})
    engine = Engine(SupportWorker("offline-support", served, threads=1), served.batching)
    backends = Backends(judges={"offline-support": ServedJudge(engine, SupportItem)})
    (program,) = blocks("python")
    with running(make_app(backends, Access(bind="127.0.0.1"))) as url:
        program = program.replace("http://127.0.0.1:8000", url)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    (first, second) = done.stdout.splitlines()
    assert first.startswith("supported")
    assert second.startswith("unsupported")
