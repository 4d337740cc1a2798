"""Bodies that no client should send: whatever comes, the answer is never a failure of ours."""

from __future__ import annotations

import json
import random
from typing import Any

import httpx
import pytest

from tests.serve.served import client, local_app

PATHS = ("/v1/embeddings", "/rerank", "/v1/rerank", "/v2/rerank", "/score", "/v1/judge", "/v1/chat/completions")

GOOD: dict[str, dict[str, Any]] = {
    "/v1/embeddings": {"input": ["a b", "c"], "encoding_format": "float"},
    "/score": {"text_1": "a b", "text_2": ["c", "a"]},
    "/v1/judge": {"judge": "length", "items": [{"text": "a b", "most_words": 2}]},
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "a b"}], "max_tokens": 3},
} | {path: {"query": "a b", "documents": ["c", "a"], "top_n": 1} for path in PATHS if "rerank" in path}


def nested(depth: int) -> Any:
    """Return a value nested as deep as a parser still reads."""
    value: Any = "a"
    for _ in range(depth):
        value = {"a": value}
    return value


ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1.5,
    10**30,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\x00",
    "\ud800",
    "\udfff\ud800",
    "🦊" * 50,
    "a" * 5000,
    [],
    [[]],
    [None],
    [""],
    ["\ud800"],
    {},
    {"text": 1},
    {"text": "\ud800"},
    {"": ""},
    [{"text": "a"}, "b"],
    [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
    {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "a"}}},
    nested(400),
]

KEYS = [
    "model",
    "judge",
    "items",
    "texts",
    "top_n",
    "raw_scores",
    "dimensions",
    "max_tokens_per_doc",
    "messages",
    "response_format",
    "stop",
    "\ud800",
    "x" * 300,
]

RAW = [b"", b"{", b"null", b"\xff\xfe", b'"a"', b"[" * 100_000, b'{"query": ' + b"9" * 6000 + b"}", b"NaN", b"\x00"]


def mutated(generator: random.Random, value: Any) -> Any:
    """*value* with something odd at a random place."""
    if generator.random() < 0.3 or not isinstance(value, dict | list) or not value:
        return generator.choice(ODD)
    if isinstance(value, list):
        place = generator.randrange(len(value))
        return [mutated(generator, one) if index == place else one for index, one in enumerate(value)]
    key = generator.choice([*value, generator.choice(KEYS)])
    if key in value and generator.random() < 0.2:
        return {other: one for other, one in value.items() if other != key}
    return {**value, key: mutated(generator, value.get(key))}


def body(generator: random.Random, path: str) -> bytes:
    if generator.random() < 0.1:
        return generator.choice(RAW)
    changed: Any = GOOD[path]
    for _ in range(generator.randint(1, 3)):
        changed = mutated(generator, changed)
    return json.dumps(changed).encode()


async def sent(asked: httpx.AsyncClient, generator: random.Random) -> httpx.Response:
    path = generator.choice(PATHS)
    kind = generator.choice(["application/json", "application/json", "text/plain", ""])
    return await asked.post(path, content=body(generator, path), headers={"content-type": kind})


@pytest.mark.parametrize(
    ("seed", "n_bodies"), [pytest.param(7, 500, id="few"), pytest.param(11, 6000, id="many", marks=pytest.mark.slow)]
)
async def test_malformed_bodies_are_no_failure_of_ours(seed: int, n_bodies: int) -> None:
    generator = random.Random(seed)
    async with client(local_app()) as asked:
        responses = [await sent(asked, generator) for _ in range(n_bodies)]
        for path, good in GOOD.items():
            assert (await asked.post(path, json=good)).status_code == 200, path
    statuses = {response.status_code for response in responses}
    assert max(statuses) < 500, [r.text for r in responses if r.status_code >= 500][:3]
    assert {200, 422} <= statuses
    assert all(response.json()["error"]["message"] for response in responses if response.status_code != 200)
