"""An encoder behind an endpoint: what it accepts as vectors, and what it asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

from actors.retrieval.encoders import EndpointEncoder
from longform.errors import LongformError
from longform.settings.retrievers import EmbeddingsRetrieverSettings
from tests.serving import running


def settings(url: str = "http://127.0.0.1:1/v1/embeddings", **more: Any) -> EmbeddingsRetrieverSettings:
    given = {"kind": "embeddings", "url": url, "model": "m", "pooling": "whole", "batch_texts": 2}
    return EmbeddingsRetrieverSettings.model_validate(given | more)


def test_vectors_of_several_lengths_are_refused() -> None:
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embeddings(request: Request) -> JSONResponse:
        texts = (await request.json())["input"]
        return JSONResponse({"data": [{"index": at, "embedding": [1.0] * len(one)} for at, one in enumerate(texts)]})

    with running(app) as url, pytest.raises(LongformError, match=r"expected vectors of one length, found \[1, 2\]"):
        EndpointEncoder(settings(f"{url}/v1/embeddings")).embed(["a", "bb"])


def test_texts_are_asked_about_in_batches_once_and_vectors_come_to_unit_length() -> None:
    app, asked = FastAPI(), list[list[str]]()

    @app.post("/v1/embeddings")
    async def embeddings(request: Request) -> JSONResponse:
        texts = (await request.json())["input"]
        asked.append(texts)
        return JSONResponse(
            {"data": [{"index": at, "embedding": [3.0, 4.0 * len(text)]} for at, text in enumerate(texts)]}
        )

    with running(app) as url:
        encoder = EndpointEncoder(settings(f"{url}/v1/embeddings"))
        vectors = encoder.embed(["a", "bb", "a", "ccc"])
        encoder.embed(["ccc", "bb"])
    assert sorted(asked) == [["a", "bb"], ["ccc"]]
    assert vectors[0] == pytest.approx([0.6, 0.8], abs=1e-3)
    assert np.array_equal(vectors[0], vectors[2])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-6)


def test_answer_in_another_dialect_is_refused() -> None:
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embeddings() -> JSONResponse:
        return JSONResponse({"embeddings": [[1.0]]})

    with (
        running(app) as url,
        pytest.raises(LongformError, match=r"encoder 'm' at http.*: expected data with index and embedding, .*'data'"),
    ):
        EndpointEncoder(settings(f"{url}/v1/embeddings")).embed(["a"])


@pytest.mark.parametrize("more", [{"pooling": "mean"}, {"pooling": "whole", "chunk_tokens": 9}])
def test_chunks_need_a_size_because_the_window_is_not_known(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="expected chunk_tokens with pooling mean or max, and none with whole"):
        settings(**more)


def test_chunks_are_no_longer_than_asked() -> None:
    encoder = EndpointEncoder(settings())
    text = "The harvest was late. " * 30
    chunks = encoder.chunks(text, max_tokens=20, prefix="passage: ")
    assert " ".join(chunks) == text.strip()
    assert max(encoder._counter.counts([f"passage: {chunk}" for chunk in chunks])) <= 20


def test_how_it_is_asked_makes_no_work_anew() -> None:
    asked = settings(in_flight=2, api_key_env="X", attempts=1, batch_texts=9)
    assert asked.identity == settings().identity != settings("http://h/v2/embeddings").identity
