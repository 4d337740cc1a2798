"""The configuration with an open model, as far as a machine without a GPU can check it, and the door to its server."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from actors.chat.model import CallContext
from actors.chat.openai_client import OpenAIChat
from actors.chat.opening import Asking, open_chat
from actors.judges.opening import make_judge
from actors.ledger.ledger import Ledger
from actors.rehearsal.fake_provider import FakeProvider
from actors.retrieval.chat_reranker import ChatReranker
from actors.retrieval.reranker import EndpointReranker, Means
from longform.chat.call import ChatRequest, Message
from longform.judges.kind import Group, Verdict
from longform.records import Document, Query
from longform.rehearsal.settings import FakeSettings
from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings, ServedJudgeSettings
from longform.settings.retrievers import ChatRerankerSettings, EndpointRerankerSettings
from serve.door import CannotBuildError, Door, build
from serve.settings import parse_settings
from tests.places import ROOT
from tests.serve.vllm import MODEL, Vllm

CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "serve" / "config.llm.yaml").read_text())
APPLICATIONS = {application["name"]: application for application in CONFIG["applications"]}


def test_the_file_is_one_that_serve_deploys() -> None:
    from ray.serve.schema import ServeDeploySchema

    read = ServeDeploySchema.model_validate(CONFIG)
    assert [application.name for application in read.applications] == ["longform", "llm", "open-model"]
    assert read.applications[2].route_prefix is None
    parse_settings(APPLICATIONS["longform"]["args"])
    port = CONFIG["http_options"]["port"]
    prefix = APPLICATIONS["llm"]["route_prefix"]
    assert APPLICATIONS["open-model"]["args"]["url"] == f"http://127.0.0.1:{port}{prefix}"


def test_the_scaling_of_the_model_is_serve_s_own() -> None:
    from ray.serve.config import AutoscalingConfig

    (model,) = APPLICATIONS["llm"]["args"]["llm_configs"]
    scaling = AutoscalingConfig(**model["deployment_config"]["autoscaling_config"])
    assert (scaling.min_replicas, scaling.max_replicas) == (0, 4)


@pytest.mark.skipif(
    importlib.util.find_spec("vllm") is None, reason="ray.serve.llm wants vLLM or SGLang to be imported"
)
def test_the_model_is_one_that_ray_s_llm_application_takes() -> None:
    from ray.serve.llm import LLMConfig

    (model,) = APPLICATIONS["llm"]["args"]["llm_configs"]
    assert LLMConfig(**model).model_loading_config.model_id == "open-model"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "expected `url`"),
        ({"url": "serve://llm"}, "expected `url`"),
        ({"url": "http://a", "key": "k"}, r"\['key'\]"),
    ],
)
def test_a_door_to_nowhere_is_not_built(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CannotBuildError, match=message):
        build(arguments)


@pytest.fixture
def on_serve(ray_session: None) -> Iterator[None]:
    from ray import serve

    serve.start(proxy_location="Disabled")
    yield
    serve.shutdown()


@pytest.mark.ray
async def test_a_chat_model_is_asked_through_a_door_as_by_its_url(on_serve: None) -> None:
    from ray import serve

    settings = FakeSettings(delay_s=0.0, slow_share=0.0)
    request = ChatRequest(messages=(Message("user", "Say something."),), max_tokens=20)
    async with FakeProvider(settings) as provider:
        base = provider.url.removesuffix("/v1")
        await asyncio.to_thread(serve.run, build({"url": base}), name="open-model", route_prefix=None)
        replies = []
        for url in (f"{base}/v1", "serve://open-model/v1"):
            model = OpenAIChat(ChatSettings(model="fake", base_url=url))
            replies.append(await model.complete(request))
            await model.close()
    direct, through = replies
    assert through.failure is None
    assert (through.text, through.usage) == (direct.text, direct.usage)
    gone = OpenAIChat(ChatSettings(model="fake", base_url="serve://open-model/v1"))
    assert (await gone.complete(request)).failure == "http_503"


async def test_what_a_server_says_of_limits_passes_a_door(unused_tcp_port: int) -> None:
    told = {"retry-after-ms": "1500", "x-ratelimit-limit-requests": "60", "anthropic-ratelimit-tokens-limit": "40000"}

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=429, headers={**told, "Set-Cookie": "a=b"})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", refuse)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    deployment: Any = Door
    door = deployment.func_or_class(f"http://127.0.0.1:{unused_tcp_port}")
    answer = await door.post("/v1/chat/completions", b"{}")
    await runner.cleanup()
    assert (answer.status, {name: answer.headers[name] for name in told}) == (429, told)
    assert "set-cookie" not in answer.headers


DOCUMENT = "The dam was closed in May. Farmers asked for water. The mayor spoke of trams."
SENTENCES = ("The dam was closed in May.", "Farmers asked for water.", "Swans nest by the harbour.")


SERVED = ServedJudgeSettings(kind="served", task="support", url="serve://judging", judge="own")


def group_of(sentences: Sequence[str]) -> Group:
    return Group("d", (DOCUMENT,), tuple(sentences))


def judged(sentences: Sequence[str]) -> list[Verdict]:
    """Return the verdicts of the served judge, as a job gets them."""
    backend = make_judge("own", {"own": SERVED}).open(CallContext(job="test", stage="judge", ledger=""), 1)
    (verdicts,) = asyncio.run(backend.ask([group_of(sentences)]))
    return list(verdicts)


async def judged_here(judge: dict[str, Any], base_url: str) -> list[Verdict]:
    """Return the verdicts of the same judge, which asks the server from this process."""
    own = ChatJudgeSettings.model_validate({**judge, "task": "support"})
    asking = Asking(chat=open_chat(own.chat.model_copy(update={"base_url": base_url})))
    (verdicts,) = await make_judge("own", {"own": own}).asking(asking).ask([group_of(SENTENCES)])
    return list(verdicts)


@pytest.mark.slow
@pytest.mark.ray
async def test_a_judge_asks_one_s_own_server_for_two_jobs_at_once(on_serve: None, tmp_path: Path) -> None:
    import ray
    from ray import serve

    from serve.deployments import build as build_judges

    chat = {"model": MODEL, "base_url": "serve://open-model/v1", "api_key_env": "", "max_tokens": 100}
    entry = {"task": "support", "paid": False, "judge": {"kind": "chat", "chat": chat}}
    job = ray.remote(num_cpus=0.1)(judged)
    vllm = Vllm()
    async with vllm.serving() as url:
        await asyncio.to_thread(serve.run, build({"url": url}), name="open-model", route_prefix=None)
        judges = build_judges({"judges": {"own": entry}, "ledger": str(tmp_path / "ledger")})
        await asyncio.to_thread(serve.run, judges, name="judging", route_prefix=None)
        first, second = await asyncio.gather(job.remote(SENTENCES[:2]), job.remote(SENTENCES[1:]))
        n_asked = len(vllm.asked)
        here = await judged_here(entry["judge"], f"{url}/v1")
    assert [verdict.answer for verdict in here] == ["supported", "supported", "unsupported"]
    assert [first, second] == [here[:2], here[1:]]
    assert {body["model"] for body in vllm.asked} == {MODEL}
    totals = Ledger.existing(str(tmp_path / "ledger")).totals()
    assert (totals.calls, totals.answered, totals.known_usd) == (n_asked, 3, 0.0)
    assert n_asked == 3, "the pair of both jobs was asked about once"


@pytest.mark.slow
@pytest.mark.ray
async def test_a_reranker_asks_one_s_own_server_as_it_does_in_the_process(on_serve: None, tmp_path: Path) -> None:
    from ray import serve

    from serve.deployments import build as build_rerankers

    chat = {"model": MODEL, "base_url": "serve://open-model/v1", "api_key_env": "", "max_tokens": 100}
    asked = {"kind": "chat", "chat": chat}
    own = ChatRerankerSettings.model_validate(asked)
    through = EndpointRerankerSettings(kind="endpoint", url="serve://ranking/v1/rerank", model="asked")
    vllm = Vllm()
    async with vllm.serving() as url:
        await asyncio.to_thread(serve.run, build({"url": url}), name="open-model", route_prefix=None)
        arguments = {"rerankers": {"asked": {**asked, "paid": False}}, "ledger": str(tmp_path / "ledger")}
        await asyncio.to_thread(serve.run, build_rerankers(arguments), name="ranking", route_prefix=None)
        found = await EndpointReranker(through, Means()).rerank("Who asked for water?", SENTENCES)
        n_asked = len(vllm.asked)
        here = ChatReranker(own, Means(asking=Asking(chat=open_chat(own.chat))))
        documents = [Document(str(place), "h", place, None, text) for place, text in enumerate(SENTENCES)]
        expected = await here.order(Query("q", "h", "Who asked for water?"), documents)
    assert found == expected
    assert found[0].place == 1
    assert n_asked == len(SENTENCES) == Ledger.existing(str(tmp_path / "ledger")).totals().answered
