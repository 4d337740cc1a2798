"""The answers to rerank requests, in the words of each dialect, and chat completions, in OpenAI's form."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Sequence

from pydantic import JsonValue

from actors.serving.messages import About, Answered, ApiError, ScoreKind, best_first, usage
from serve.engine import ChatItem
from serve.http.schemas import CompletionRequest, RerankRequest

# ---------------------------------------------------------------- ranked texts


_DOCUMENTS_A_SEARCH = 100
"""Cohere bills a search unit for a query with up to 100 documents."""


def check_windows(request: RerankRequest, answers: Sequence[Answered], about: About) -> None:
    """
    Raises:
        ApiError: Something was cut that the caller does not want cut, or cannot have cut so.
    """
    most, window = request.max_tokens_per_doc, about.window
    if most is not None and window is not None and most < window:
        raise ApiError(422, f"max_tokens_per_doc: expected none, or at least the model's window of {window}")
    cut = [index for index, answer in enumerate(answers) if answer.truncated]
    if request.texts is not None and cut and not request.truncate:
        raise ApiError(
            413,
            f"texts {cut[:10]}: longer than the model's window of {about.window} tokens with the query; "
            "send shorter ones, or `truncate: true`",
        )


def tei_answer(request: RerankRequest, answers: Sequence[Answered], about: About) -> list[dict[str, JsonValue]]:
    """Return a bare list, best first; ties by index."""
    kind = tei_score_kind(request, about)
    return [
        {
            "index": index,
            **scored("score", answers[index], kind),
            **({"text": request.all_texts[index]} if request.return_text else {}),
        }
        for index in _order(request, answers)
    ]


def tei_score_kind(request: RerankRequest, about: About) -> ScoreKind | None:
    """TEI's callers say what they want; a cosine stays one, and so does a number of a reranker's own."""
    if about.score_kind in ("cosine", "own"):
        return about.score_kind
    return "logit" if request.raw_scores else "probability"


def object_answer(
    request: RerankRequest, answers: Sequence[Answered], about: About, answer_id: str
) -> dict[str, JsonValue]:
    """Return one object that Cohere's, Jina's and vLLM's callers read, each their part."""
    return {
        "id": answer_id,
        "model": about.name,
        "object": "rerank",
        "score_kind": about.score_kind,
        "results": [
            {
                "index": index,
                **scored("relevance_score", answers[index], about.score_kind),
                **({"document": {"text": request.all_texts[index]}} if request.return_documents else {}),
            }
            for index in _order(request, answers)
        ],
        "usage": usage(answers),
        "meta": {
            "api_version": {"version": "2"},
            "billed_units": {"search_units": math.ceil(len(answers) / _DOCUMENTS_A_SEARCH)},
        },
    }


def scored(name: str, answer: Answered, kind: ScoreKind | None) -> dict[str, JsonValue]:
    """A model's score as a *kind*; a text without one has the reason, null if nobody scored it."""
    if answer.content is None:
        return {name: None, "truncated": answer.truncated, "failure": answer.failure}
    score = _sigmoid(answer.content) if kind == "probability" else answer.content
    return {name: score, "truncated": answer.truncated}


def _order(request: RerankRequest, answers: Sequence[Answered]) -> list[int]:
    return best_first(answers)[: request.top_n or None]


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


# ---------------------------------------------------------------- completions


def item_of(request: CompletionRequest) -> ChatItem:
    """Return the part of a request that the model reads."""
    stated = {"temperature", "top_p", "seed", "stop", "logprobs", "top_logprobs", "response_format"}
    item: ChatItem = request.model_dump(mode="json", by_alias=True, exclude_none=True, include=stated)
    if (most := request.max_completion_tokens or request.max_tokens) is not None:
        item["max_tokens"] = most
    messages = [{"role": message.role, "content": message.text} for message in request.messages]
    return {"shared": request.prompt_cache_key or "", "messages": messages, **item}


def completion(answer: Answered, model: str) -> dict[str, JsonValue]:
    """Return the answer's body; ApiError: the model gave no reply."""
    if error := answer.content.get("error"):
        raise ApiError(error["status"], error["message"])
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": answer.content["choices"],
        "usage": answer.content["usage"],
        "from_cache": answer.from_cache,
    }
