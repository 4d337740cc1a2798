"""The clients that people have: openai's and litellm's parse our answers, and so does our own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from actors.serving.client import ServedClient, over_http
from longform.errors import LongformError
from serve.http.access import Access, Tokens
from serve.http.app import make_app
from tests.serve.served import small_backends
from tests.serving import running

TOKEN = "a-token-for-tests-only"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Our application on a real socket, where tokens are wanted; its URL."""
    access = Access(bind="127.0.0.1", tokens=Tokens({"tests": TOKEN}), on_loopback=True)
    with running(make_app(small_backends(), access)) as url:
        yield url


def test_openai_reads_embeddings(server: str) -> None:
    """It asks for base64 unless told otherwise."""
    import openai

    asked = openai.OpenAI(base_url=f"{server}/v1", api_key=TOKEN)
    found = asked.embeddings.create(model="vectors", input=["a b c", "a"])
    assert [row.embedding for row in found.data] == [[0.5, 3.0], [0.5, 1.0]]
    assert found.usage.total_tokens == 4
    assert [model.id for model in asked.models.list()] == ["vectors", "words", "length", "echo"]
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{server}/v1", api_key="another-token").models.list()


def test_openai_reads_completions(server: str) -> None:
    import openai

    asked = openai.OpenAI(base_url=f"{server}/v1", api_key=TOKEN, max_retries=0)
    parts = [{"type": "text", "text": "a b "}, {"type": "text", "text": "c"}]
    found = asked.chat.completions.create(model="echo", messages=[{"role": "user", "content": parts}], max_tokens=2)
    assert (found.choices[0].message.content, found.choices[0].finish_reason) == ("a b", "stop")
    assert (found.usage.prompt_tokens, found.usage.completion_tokens, found.usage.total_tokens) == (3, 2, 5)
    said = [{"role": "user", "content": "long"}]
    with pytest.raises(openai.BadRequestError, match="longer than the window"):
        asked.chat.completions.create(model="echo", messages=said)
    for unknown in ({"stream": True}, {"n": 2}, {"tools": [{"type": "function", "function": {"name": "f"}}]}):
        with pytest.raises(openai.UnprocessableEntityError):
            asked.chat.completions.create(model="echo", messages=said, **unknown)


@pytest.mark.parametrize("provider", ["cohere", "jina_ai", "hosted_vllm", "huggingface"])
def test_litellm_reads_rankings(server: str, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    base = f"{server}/v2/rerank" if provider == "cohere" else server
    found = litellm.rerank(
        model=f"{provider}/words",
        query="a b",
        documents=["c", "a b", "a"],
        top_n=2,
        api_base=base,
        api_key=TOKEN,
        return_documents=True,
    )
    assert [result["index"] for result in found.results] == [1, 2]
    assert [result["relevance_score"] for result in found.results] == pytest.approx([0.880797, 0.731059], abs=1e-4)


async def test_our_own_client_asks_by_url(server: str) -> None:
    asked = ServedClient(over_http(server, token=TOKEN))
    assert [index for index, *_ in await asked.rerank("words", "a b", ["c", "a b", "a"])] == [1, 2, 0]
    judged = await asked.judge("length", [{"text": "a b", "most_words": 1}])
    assert judged["results"][0]["verdicts"][0]["answer"] == "long"
    with pytest.raises(LongformError, match="answered 401"):
        await ServedClient(over_http(server)).judge("length", [{"text": "a", "most_words": 1}])
    with pytest.raises(LongformError, match="503 after 2 attempts"):
        await ServedClient(over_http("http://127.0.0.1:9"), attempts=2).judge("length", [{}])
