"""
The HTTP application over any backends: embeddings, rerank, score, judge, chat, and their descriptions.

It knows no Ray: `serve.deployments` puts deployment handles behind it, a test puts its own.
"""

from __future__ import annotations

import asyncio
import base64
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from fastapi import FastAPI
from fastapi.routing import APIRoute
from numpy.typing import ArrayLike
from pydantic import Field, JsonValue, WithJsonSchema, create_model
from starlette.responses import JSONResponse, PlainTextResponse, Response

from actors.serving.messages import About, ApiError, QueueFullError, Replies, UnavailableError, judge_answer, usage
from longform import __version__
from longform.settings.strict import Strict
from serve.engine import Backend, ChatItem, Item, JudgeItem, PairsItem, TextsItem, Value
from serve.http.access import OPEN_PATH, Access
from serve.http.answers import (
    check_windows,
    completion,
    item_of,
    object_answer,
    scored,
    tei_answer,
    tei_score_kind,
)
from serve.http.errors import add_error_answers, error_answer, read_items
from serve.http.guard import Counts, Guard, in_time, metrics_text
from serve.http.schemas import (
    DEEPEST,
    CompletionRequest,
    EmbeddingRequest,
    ErrorAnswer,
    JudgeAnswer,
    RerankRequest,
    ScoreRequest,
)
from serve.settings import Limits

Named = TypeVar("Named")

RERANK_PATHS = ("/rerank", "/v1/rerank", "/v2/rerank")
_DESCRIBE_S = 5.0
"""Seconds that `/info` waits for a model that may be starting."""


class JudgeRequest(Strict):
    """A request to a judge; the published schema has the types of all items."""

    judge: str | None = None
    items: Annotated[list[dict[str, JsonValue]], Field(min_length=1)]


class ServedJudge(NamedTuple):
    """A judge and the type of one item of its requests."""

    backend: Backend[JudgeItem]
    item: type[Strict]


@dataclass(frozen=True, kw_only=True)
class Backends:
    """Served models, by name; the first of a kind answers requests that name none."""

    embeddings: Mapping[str, Backend[TextsItem]] = field(default_factory=dict)
    rerankers: Mapping[str, Backend[PairsItem]] = field(default_factory=dict)
    judges: Mapping[str, ServedJudge] = field(default_factory=dict)
    chats: Mapping[str, Backend[ChatItem]] = field(default_factory=dict)

    @property
    def kinds(self) -> dict[str, str]:
        """Name -> kind, of all."""
        kinds = {"embedding": self.embeddings, "rerank": self.rerankers, "judge": self.judges, "chat": self.chats}
        return {name: kind for kind, named in kinds.items() for name in named}

    @property
    def every(self) -> dict[str, Backend[Any]]:
        judges: dict[str, Backend[Any]] = {name: judge.backend for name, judge in self.judges.items()}
        return {**self.embeddings, **self.rerankers, **judges, **self.chats}


def make_app(backends: Backends, access: Access) -> FastAPI:
    """The application. Its counts are its own; CORS is off, since no browser page is meant to ask."""
    app = FastAPI(
        title="longform",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={"default": {"model": ErrorAnswer, "description": "What is wrong, and what to do"}},
    )
    counts = Counts()
    add_error_answers(app)
    _add_models(app, backends, access.limits, counts)
    if backends.judges:
        _add_judges(app, backends.judges, access.limits, counts)
    if backends.chats:
        _add_completions(app, backends.chats, access.limits, counts)
    _add_descriptions(app, backends, counts)
    paths = {route.path for route in app.routes if isinstance(route, APIRoute)} | {"/openapi.json"}
    app.add_middleware(Guard, access=access, counts=counts, paths=paths)
    return app


def _add_models(app: FastAPI, backends: Backends, limits: Limits, counts: Counts) -> None:
    """The paths of vectors and scores."""

    @app.post("/v1/embeddings")
    async def embeddings(request: EmbeddingRequest) -> Response:
        name, backend = _chosen(backends.embeddings, request.model, "embedding")
        item: TextsItem = {"texts": list(request.input)}
        found = await _asked(name, backend, [item], limits, counts)
        return JSONResponse(_embedding_answer(request, found))

    async def rerank(request: RerankRequest) -> Response:
        name, backend = _chosen(backends.rerankers, request.model, "rerank")
        item: PairsItem = {"query": request.query, "texts": request.all_texts}
        found = await _asked(name, backend, [item], limits, counts)
        answers, about = found.answers[0], found.about
        check_windows(request, answers, about)
        if request.texts is not None:
            kind = {"X-Score-Kind": str(tei_score_kind(request, about))}
            return JSONResponse(tei_answer(request, answers, about), headers=kind)
        return JSONResponse(object_answer(request, answers, about, _new_id("rerank")))

    for path in RERANK_PATHS:
        app.post(path, name=path.strip("/").replace("/", "_"))(rerank)

    @app.post("/score")
    async def score(request: ScoreRequest) -> Response:
        name, backend = _chosen(backends.rerankers, request.model, "rerank")
        items: list[PairsItem] = [{"query": first, "texts": [second]} for first, second in request.pairs]
        return JSONResponse(_score_answer(await _asked(name, backend, items, limits, counts)))


def _add_judges(app: FastAPI, judges: Mapping[str, ServedJudge], limits: Limits, counts: Counts) -> None:
    request_type = _judge_request(judges)

    async def judge(request: JudgeRequest) -> Response:
        name, served = _chosen(judges, request.judge, "judge")
        items = read_items(name, served.item, request.items)
        found = await _asked(name, served.backend, items, limits, counts)
        return JSONResponse({"id": _new_id("judge"), **judge_answer(found)})

    judge.__annotations__["request"] = request_type
    app.post("/v1/judge", response_model=JudgeAnswer)(judge)


def _add_completions(app: FastAPI, chats: Mapping[str, Backend[ChatItem]], limits: Limits, counts: Counts) -> None:
    @app.post("/v1/chat/completions")
    async def completions(request: CompletionRequest) -> Response:
        name, backend = _chosen(chats, request.model, "chat")
        found = await _asked(name, backend, [item_of(request)], limits, counts)
        return JSONResponse(completion(found.answers[0][0], name))


def _add_descriptions(app: FastAPI, backends: Backends, counts: Counts) -> None:
    """Add the paths that describe the models and their state."""
    started = int(time.time())

    @app.get(OPEN_PATH)
    async def health() -> Response:
        """Return the bare status: the caller needs no token."""
        problems = await asyncio.gather(*(backend.problem() for backend in backends.every.values()))
        if not any(problems):
            return JSONResponse({"status": "ok"})
        return error_answer(503, "a model does not work; /info says which", retry_after_s=10)

    @app.get("/v1/models")
    async def models() -> Response:
        of = {"object": "model", "created": started, "owned_by": "longform"}
        return JSONResponse({"object": "list", "data": [{"id": n, **of, "kind": k} for n, k in backends.kinds.items()]})

    @app.get("/info")
    async def info() -> Response:
        kinds = backends.kinds
        described = await asyncio.gather(*(_described(n, kinds[n], one) for n, one in backends.every.items()))
        return JSONResponse({"version": __version__, "models": dict(zip(backends.every, described, strict=True))})

    @app.get("/metrics")
    async def metrics() -> Response:
        return PlainTextResponse(metrics_text(counts), media_type="text/plain; version=0.0.4")


async def _asked(name: str, backend: Backend[Item], items: Sequence[Item], limits: Limits, counts: Counts) -> Replies:
    check_texts(items, limits)
    async with in_time() as left_s:
        found = await backend.ask(items, within_s=left_s)
    counts.add(name, (answer for of in found.answers for answer in of))
    return found


def check_texts(items: Sequence[Value], limits: Limits) -> None:
    """
    Raises:
        ApiError: A text is too long or cannot be encoded, there are too many, or they are nested too deep.
    """
    texts = _texts(items)
    if len(texts) > limits.texts:
        raise ApiError(413, f"expected at most {limits.texts} texts in a request, found {len(texts)}; send several")
    longest = max(map(len, texts), default=0)
    if longest > limits.text_chars:
        raise ApiError(413, f"expected texts of at most {limits.text_chars} characters, found one of {longest}")
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError:
        raise ApiError(422, "expected texts of Unicode characters, found half of a surrogate pair") from None


def _texts(value: Value, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > DEEPEST:
        raise ApiError(422, f"expected values nested at most {DEEPEST} deep")
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [text for part in parts for text in _texts(part, depth + 1)]


def _chosen(named: Mapping[str, Named], name: str | None, kind: str) -> tuple[str, Named]:
    """Return the one that is called *name*, the first without a name."""
    if name in named or (name is None and named):
        chosen = next(iter(named)) if name is None else name
        return chosen, named[chosen]
    expected = f"expected one of {list(named)}" if named else "none is served"
    raise ApiError(404, f"no such {kind} model here; {expected}")


def _judge_request(judges: Mapping[str, ServedJudge]) -> type[JudgeRequest]:
    """Return the request's type with the schemas of all items."""
    schemas = {served.item.__name__: served.item.model_json_schema() for served in judges.values()}
    schema = {"type": "array", "minItems": 1, "items": {"anyOf": list(schemas.values())}}
    items = Annotated[list[dict[str, JsonValue]], Field(min_length=1), WithJsonSchema(schema)]
    return create_model("JudgeRequest", __base__=JudgeRequest, items=(items, ...))


def _embedding_answer(request: EmbeddingRequest, found: Replies) -> dict[str, JsonValue]:
    answers, about = found.answers[0], found.about
    if request.dimensions not in (None, about.dimensions):
        raise ApiError(422, f"dimensions: expected none or {about.dimensions}, which this model has")
    return {
        "object": "list",
        "model": about.name,
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": _vector(answer.content, request.encoding_format),
                "truncated": answer.truncated,
            }
            for index, answer in enumerate(answers)
        ],
        "usage": usage(answers),
    }


def _vector(vector: ArrayLike, encoding: str) -> JsonValue:
    values = np.asarray(vector, dtype="<f4")
    stated: JsonValue = base64.b64encode(values.tobytes()).decode() if encoding == "base64" else values.tolist()
    return stated


def _score_answer(found: Replies) -> dict[str, JsonValue]:
    answers, kind = [of[0] for of in found.answers], found.about.score_kind
    return {
        "id": _new_id("score"),
        "object": "list",
        "created": int(time.time()),
        "model": found.about.name,
        "score_kind": kind,
        "data": [{"index": i, "object": "score", **scored("score", answer, kind)} for i, answer in enumerate(answers)],
        "usage": usage(answers),
    }


async def _described(name: str, kind: str, backend: Backend[Any]) -> dict[str, JsonValue]:
    """
    Return the model's description of itself, and its problem; all null, with the `reason`, if it
    cannot be asked now.
    """
    problem = await backend.problem()
    try:
        about = await asyncio.wait_for(backend.about(), _DESCRIBE_S)
    except (TimeoutError, QueueFullError, UnavailableError):
        unknown = {**dict.fromkeys(About._fields), "name": name, "kind": kind}
        return {**unknown, "problem": problem, "reason": "it did not answer in time; it may be starting"}
    return {**about._asdict(), "problem": problem, "reason": None}


def _new_id(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex}"
