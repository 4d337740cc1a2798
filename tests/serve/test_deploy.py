"""`serve deploy` of the configuration that ships, on a cluster of two nodes: real clients, and a submitted job."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest
import yaml

from actors.serving.client import ServedClient, over_http
from jobs.served_judge import judged
from tests.head import ROOT, Head, command, running_head
from tests.jobs.killing import until
from tests.jobs.test_served_judge import PAIRS, assert_as_expected, in_process

pytestmark = pytest.mark.slow

QUERY = "When does the library open?"
TEXTS = ["Foxes bark at night.", "The library opens at nine.", "It rained."]


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with running_head(cpus=2, further_nodes=1) as found:
        yield found


@pytest.fixture(scope="module")
def config(unused_tcp_port_factory: Any, small_model: str) -> dict[str, Any]:
    """serve/config.yaml with a chat model beside its own, on another port."""
    shipped: dict[str, Any] = yaml.safe_load((ROOT / "serve" / "config.yaml").read_text())
    shipped["http_options"]["port"] = unused_tcp_port_factory()
    shipped["applications"][0]["args"]["chats"] = {"smollm2": {"model": small_model}}
    return shipped


@pytest.fixture(scope="module")
def served(head: Head, config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of the application."""
    path = tmp_path_factory.mktemp("deploy") / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    done = command("python", "-m", "serve", "deploy", str(path), "--address", head.address)
    assert (done.returncode, done.stdout) == (0, "longform: running\n"), done.stderr
    url = f"http://127.0.0.1:{config['http_options']['port']}"
    until(lambda: answers(url), "the first answer of the application")
    return url


def answers(url: str) -> bool:
    try:
        return httpx.post(f"{url}/v1/embeddings", json={"input": "a bank"}, timeout=300).status_code == 200
    except httpx.TransportError:
        return False


def test_openai_gets_vectors_and_a_completion(served: str) -> None:
    import openai

    asked = openai.OpenAI(base_url=f"{served}/v1", api_key="none")
    vectors = asked.embeddings.create(model="minilm", input=TEXTS)
    messages = [{"role": "user", "content": "Say yes."}]
    said = asked.chat.completions.create(model="smollm2", messages=messages, max_tokens=4, temperature=0, logprobs=True)
    assert [len(row.embedding) for row in vectors.data] == [384] * 3
    assert "".join(one.token for one in said.choices[0].logprobs.content) == said.choices[0].message.content != ""
    assert 0 < said.usage.completion_tokens <= 4


@pytest.mark.parametrize("provider", ["cohere", "jina_ai", "hosted_vllm", "huggingface"])
def test_litellm_gets_a_ranking(served: str, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    base = f"{served}/v2/rerank" if provider == "cohere" else served
    found = litellm.rerank(
        model=f"{provider}/minilm-cosine", query=QUERY, documents=TEXTS, top_n=1, api_base=base, api_key="none"
    )
    assert [result["index"] for result in found.results] == [1]


def test_our_client_gets_what_the_judge_finds_in_the_process(served: str) -> None:
    found = asyncio.run(judged(ServedClient(over_http(served)), "offline-support", PAIRS))
    rows = [{"document": d, "sentence": s, **one._asdict()} for (d, s), one in zip(PAIRS, found, strict=True)]
    assert_as_expected(rows, asyncio.run(in_process()))


def test_submitted_job_gets_what_the_judge_finds_in_the_process(served: str, head: Head, tmp_path: Path) -> None:
    """By the deployment's handle, from workers on two nodes."""
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "out"
    pairs.write_text("".join(json.dumps({"document": d, "sentence": s}) + "\n" for d, s in PAIRS))
    asked = ("--judge", "offline-support", "--app", "longform", "--out", str(out), "--workers", "2")
    done = head.submit("-m", "jobs.served_judge", str(pairs), *asked, submission_id="judging")
    assert done.returncode == 0, done.stdout + done.stderr
    assert_as_expected(pq.read_table(out).to_pylist(), asyncio.run(in_process()))


def test_an_application_that_wants_tokens_and_has_none_fails_at_once_with_the_reason(
    head: Head, served: str, config: dict[str, Any], tmp_path: Path
) -> None:
    """Beside the one that runs, which goes on; where Serve listens cannot be changed once it does."""
    locked = {**config["applications"][0], "name": "locked", "route_prefix": "/locked"}
    locked["args"] = {"judges": locked["args"]["judges"], "access": {"on_loopback": True}}
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**config, "applications": [config["applications"][0], locked]}))
    done = command("python", "-m", "serve", "deploy", str(path), "--address", head.address)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith("python -m serve: application 'locked': listening on 127.0.0.1 wants bearer tokens")
    told = yaml.safe_load(command("serve", "status", "--address", head.address).stdout)["applications"]
    assert (told["locked"]["status"], told["longform"]["status"]) == ("DEPLOY_FAILED", "RUNNING")
    assert "Traceback" not in told["locked"]["message"]
    assert answers(served)
