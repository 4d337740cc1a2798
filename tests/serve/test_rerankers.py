"""Rerankers of all kinds that a job has, served: they score as they do in the process that asks them itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from actors.chat.opening import Asking, open_chat
from actors.ledger.ledger import Ledger
from actors.python_class import actor_of
from actors.rehearsal.scripted_chat import SCRIPTS
from actors.retrieval.reranker import EndpointReranker, Means, Reranked, Reranker
from longform.chat.call import ChatReply, ChatRequest
from longform.errors import UsageError
from longform.records import Document, Query
from longform.settings.retrievers import EndpointRerankerSettings, RerankerSettings
from serve.deployments import load_engine
from serve.http.app import Backends
from serve.settings import parse_settings
from tests.serve.served import client, local_app, small_backends
from tests.serve.vllm import MODEL, Vllm
from tests.serving import running

QUERY = "What did the bank do about the rate?"
TEXTS = ["Whales sing at night.", "The bank raised the rate.", "", "A bank was robbed.", "The rate of rain rose."]
ANY: TypeAdapter[Any] = TypeAdapter(RerankerSettings)
SCRIPTED = {"provider": "scripted", "model": "scripted", "script": "obedient", "max_tokens": 100}
CHAT = {"kind": "chat", "chat": SCRIPTED}
OWN = {"kind": "python", "class": "tests.serve.test_rerankers:SharedWords"}


class SharedWords:
    """Scores texts by the share of all words of the query that they have; one without words is not ranked."""

    def rank(self, query: Query, documents: Sequence[Document]) -> list[float | None]:
        wanted = set(query.text.lower().split())
        found = [len(wanted & set(document.text.lower().rstrip(".").split())) for document in documents]
        return [n / sum(found) if document.text else None for n, document in zip(found, documents, strict=True)]


def app_of(entry: dict[str, Any], ledger: Path) -> Any:
    settings = parse_settings({"rerankers": {"ours": entry}, "ledger": str(ledger)})
    return local_app(Backends(rerankers={"ours": load_engine(settings, "rerankers", "ours")}))


async def in_process(entry: dict[str, Any]) -> list[Reranked]:
    settings = ANY.validate_python({name: value for name, value in entry.items() if name not in ("paid", "scores")})
    asking = None if settings.asked_model is None else Asking(chat=open_chat(settings.asked_model))
    reranker = actor_of(settings, Reranker)(settings, Means(1, asking))
    documents = [Document(str(place), "h", place, None, text) for place, text in enumerate(TEXTS)]
    order: list[Reranked] = await reranker.order(Query("q", "h", QUERY), documents)
    return order


async def served(app: Any) -> list[Reranked]:
    """Return the order that a job gets of the application, asked as any endpoint."""
    with running(app) as url:
        how = EndpointRerankerSettings(kind="endpoint", url=f"{url}/v1/rerank", model="ours")
        return await EndpointReranker(how, Means()).rerank(QUERY, TEXTS)


@pytest.fixture
def entry_of(tmp_path: Path, save_cross_encoder: Callable[..., str]) -> Any:
    """Makes the entry of a kind; servers of rerankers and of chat models are at URLs."""

    def entry(kind: str, url: str, of_models: str) -> dict[str, Any]:
        if kind == "cross_encoder":
            return {"kind": kind, "model": save_cross_encoder(tmp_path / "model", n_labels=1), "scores": "logit"}
        endpoint = {"kind": "endpoint", "url": f"{url}/v1/rerank", "model": "words", "paid": False}
        chat = {"model": MODEL, "base_url": f"{of_models}/v1", "api_key_env": "", "max_tokens": 100}
        asked = {"kind": "chat", "chat": chat, "paid": False}
        return {"chat": CHAT, "chat of a server": asked, "python": OWN, "endpoint": endpoint}[kind]

    return entry


@pytest.mark.parametrize("kind", ["cross_encoder", "endpoint", "python", "chat", "chat of a server"])
async def test_served_and_in_the_process_a_reranker_says_the_same(kind: str, entry_of: Any, tmp_path: Path) -> None:
    async with Vllm().serving() as of_models:
        with running(local_app(small_backends())) as url:
            entry = entry_of(kind, url, of_models)
            expected = await in_process(entry)
            assert await served(app_of(entry, tmp_path / "ledger")) == expected
    assert len({one.score for one in expected}) > 1, "else equal scores would say nothing"
    assert [one.place for one in expected] != list(range(len(TEXTS))), "else an order that was kept would say nothing"


async def test_a_text_without_a_score_stands_last_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def mumbling(request: ChatRequest, model: str) -> ChatReply:
        text = "well" if "bank" in request.messages[0].text.split("<document>")[1].split("</document>")[0] else "7"
        return ChatReply(text=text, failure=None, finish_reason="stop", model=model)

    monkeypatch.setitem(SCRIPTS, "obedient", mumbling)
    body = {"query": QUERY, "documents": TEXTS[:2]}
    async with client(app_of(CHAT, tmp_path)) as asked:
        by_documents = (await asked.post("/v1/rerank", json=body)).json()
        by_texts = await asked.post("/rerank", json={"query": QUERY, "texts": TEXTS[:2]})
        pairs = (await asked.post("/score", json={"text_1": QUERY, "text_2": TEXTS[:2]})).json()
    scored, none = by_documents["results"]
    assert (scored["index"], scored["relevance_score"], "failure" in scored) == (0, 7.0, False)
    assert (none["index"], none["relevance_score"], none["failure"]) == (1, None, "no_score")
    assert by_documents["score_kind"] == by_texts.headers["X-Score-Kind"] == pairs["score_kind"] == "own"
    assert [row["score"] for row in by_texts.json()] == [row["score"] for row in pairs["data"]] == [7.0, None]
    in_a_job = await served(app_of(CHAT, tmp_path))
    assert in_a_job == await in_process(CHAT)
    assert in_a_job[-1].failure == "no_score"


async def test_calls_of_a_chat_reranker_are_in_the_ledger_and_are_made_once(tmp_path: Path) -> None:
    """A second replica finds those of the first."""
    first, second = await served(app_of(CHAT, tmp_path)), await served(app_of(CHAT, tmp_path))
    totals = Ledger.existing(str(tmp_path)).totals()
    assert first == second
    assert (totals.calls, totals.answered, totals.known_usd) == (len(TEXTS), len(TEXTS), 0.0)


async def test_so_many_texts_are_scored_as_the_entry_says_and_all_if_it_does_not(tmp_path: Path) -> None:
    many = [f"The bank {place}" for place in range(30)]
    n_scored = []
    for entry in (OWN, OWN | {"depth": 3}):
        async with client(app_of(entry, tmp_path)) as asked:
            rows = (await asked.post("/v1/rerank", json={"query": QUERY, "documents": many})).json()["results"]
        n_scored.append(sum(row["relevance_score"] is not None for row in rows))
    assert n_scored == [30, 3]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"kind": "chat", "chat": {"model": "gpt-4o"}}, "`base_url` and `paid: false`, found openai"),
        (
            {"kind": "chat", "chat": {"model": "m", "base_url": "http://127.0.0.1:1/v1"}},
            "`paid: false`, found openai: what costs money is asked by a job, which has a budget",
        ),
        (
            {"kind": "endpoint", "url": "https://api.jina.ai/v1/rerank", "model": "m"},
            r"one's own server, with `url` and `paid: false`, found https://api\.jina\.ai/v1/rerank: what costs",
        ),
        ({"kind": "listwise"}, r"rerankers\.ours.*'cross_encoder', 'cosine', 'endpoint', 'python', 'chat'"),
        ({"kind": "chat", "chat": SCRIPTED, "scores": "logit"}, r"rerankers\.ours.*scores: Extra inputs"),
    ],
)
def test_an_entry_that_is_none_is_refused_with_what_was_expected(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_settings({"rerankers": {"ours": entry}, "ledger": "ledger"})


def test_a_chat_reranker_wants_a_ledger_and_one_of_one_s_own_server_is_taken() -> None:
    own = {"kind": "chat", "chat": {"model": "m", "base_url": "http://127.0.0.1:1/v1"}, "paid": False}
    assert parse_settings({"rerankers": {"ours": own}, "ledger": "ledger"}).rerankers["ours"]
    with pytest.raises(UsageError, match=r"expected a `ledger` for the calls of \['ours'\]"):
        parse_settings({"rerankers": {"ours": own}})


def test_a_class_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no_such_module:Ranker"):
        app_of({"kind": "python", "class": "no_such_module:Ranker"}, tmp_path)
