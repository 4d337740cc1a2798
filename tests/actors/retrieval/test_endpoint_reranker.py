"""Any endpoint of Cohere's or Jina's dialect gives an order, or says what is wrong with its answer."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from starlette.responses import JSONResponse

from actors.retrieval.reranker import KIND, EndpointReranker, Means
from actors.serving.endpoint import token_of
from longform.errors import LongformError, UsageError
from longform.records import Document, Query
from longform.settings.retrievers import EndpointRerankerSettings
from serve.http.access import Access, Tokens
from serve.http.app import make_app
from tests.serve.served import small_backends
from tests.serving import Overloaded, running

TEXTS = ["a fox", "the bank of the rate", "the bank", "rain", "a bank", "the fed"]
QUERY = "the bank rate"
TOKEN = "a-secret-of-a-caller-that-is-long-enough"


def settings(url: str, **more: Any) -> EndpointRerankerSettings:
    return EndpointRerankerSettings.model_validate(
        {"kind": "endpoint", "url": url, "model": "words", "depth": 5, **more}
    )


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/rerank"])
async def test_order_of_the_real_application_through_overload(path: str) -> None:
    """Cohere's path and Jina's; two refusals are waited out."""
    app = Overloaded(make_app(small_backends(), Access(bind="127.0.0.1")), 2)
    query, documents = Query("q", "h", QUERY), [Document(text, "h", 0, None, text) for text in TEXTS]
    with running(app) as url:
        found = await EndpointReranker(settings(f"{url}{path}"), Means()).order(query, documents)

    assert app.refused == 2
    assert [one.place for one in found] == [1, 2, 4, 0, 3, 5]  # by words shared; ties as they came; the last unscored
    assert [one.score is None for one in found] == [False] * 5 + [True]
    assert [one.score for one in found[:5]] == sorted((one.score for one in found[:5]), reverse=True)


async def test_token_is_sent_and_its_lack_found_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    monkeypatch.setenv("RIGHT", TOKEN)
    app = make_app(small_backends(), Access(bind="0.0.0.0", tokens=Tokens({"jobs": TOKEN})))
    with running(app) as url:
        with pytest.raises(UsageError, match="expected its token in MY_TOKEN, which is unset"):
            token_of(KIND, settings(url, api_key_env="MY_TOKEN"))
        found = await EndpointReranker(settings(f"{url}/v1/rerank", api_key_env="RIGHT"), Means()).rerank(QUERY, TEXTS)
        with pytest.raises(LongformError, match=r"reranker 'words' at http.* answered 401"):
            await EndpointReranker(settings(f"{url}/v1/rerank"), Means()).rerank(QUERY, TEXTS)
    assert len(found) == len(TEXTS)


async def test_answer_in_another_dialect_is_refused() -> None:
    app = FastAPI()

    @app.post("/v1/rerank")
    async def rerank() -> JSONResponse:
        return JSONResponse({"data": [{"index": 0, "relevance_score": 1.0}]})

    with running(app) as url, pytest.raises(LongformError, match="expected results with index and relevance_score"):
        await EndpointReranker(settings(f"{url}/v1/rerank"), Means()).rerank(QUERY, TEXTS)


@pytest.mark.parametrize(
    "url", ["ftp://host/rerank", "http://me:secret@host/v1/rerank", "host:8000", "http://h/r?key=1"]
)
def test_urls_hold_no_secrets(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        settings(url)


def test_how_it_is_asked_makes_no_work_anew() -> None:
    one, other = (
        settings("http://h/v1/rerank"),
        settings("http://h/v1/rerank", in_flight=2, api_key_env="X", attempts=1),
    )
    assert one.identity == other.identity != settings("http://h/v2/rerank").identity
