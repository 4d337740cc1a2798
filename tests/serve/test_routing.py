"""Requests of one text meet at one replica."""

from __future__ import annotations

from collections import Counter
from typing import Any

import httpx
import pytest

from actors.serving.messages import shared_text
from serve.routing import CROWD, ranking
from tests.bench.served_load import on_serve

IDLE = {"a": 0, "b": 0, "c": 0}
KEYS = [f"text {number}" for number in range(300)]


def test_a_key_has_an_order_of_its_own_and_keys_are_spread() -> None:
    found = Counter(ranking(key, IDLE)[0] for key in KEYS)
    assert min(found[replica] for replica in IDLE) > 70  # of 100 each
    assert [ranking(key, IDLE) for key in KEYS] == [ranking(key, dict(reversed(IDLE.items()))) for key in KEYS]


def test_a_replica_that_goes_moves_its_own_texts_only() -> None:
    before = {key: ranking(key, IDLE)[0] for key in KEYS}
    after = {key: ranking(key, {"a": 0, "b": 0})[0] for key in KEYS}
    assert {key for key in KEYS if before[key] != after[key]} == {key for key in KEYS if before[key] == "c"}


def test_a_crowded_replica_is_tried_last() -> None:
    key = next(key for key in KEYS if ranking(key, IDLE)[0] == "a")
    assert ranking(key, IDLE | {"a": CROWD})[0] == "a"
    assert ranking(key, IDLE | {"a": CROWD + 1})[-1] == "a"
    assert ranking(key, {"a": 500, "b": 490, "c": 499})[0] == "a"


def test_what_requests_share() -> None:
    judged = [{"document": "d", "sentences": ["s"]}]
    assert shared_text(judged) == shared_text([{"document": "d", "sentences": ["t", "u"]}])
    assert shared_text(judged) != shared_text([{"document": "e", "sentences": ["s"]}])
    assert shared_text([{"query": "q", "texts": ["a"]}]) == shared_text([{"query": "q", "texts": ["b"]}])
    assert (shared_text([{"texts": ["a"]}]), shared_text([])) == ("", "")


def test_conversations_share_what_they_begin_with_or_say_they_share() -> None:
    def key(text: str, shared: str = "") -> str:
        return shared_text([{"shared": shared, "messages": [{"role": "user", "content": text}]}])

    document = "long " * 2000
    assert key(document + "first question") == key(document + "second question")
    assert key("one") != key("two")
    assert key("one", "mine") == key("two", "mine")


@pytest.mark.slow
@pytest.mark.ray
def test_two_replicas_know_what_they_were_asked(ray_session: None) -> None:
    """Asked twice for each of 24 texts, everything comes from memory; by chance half of it would."""
    from ray import serve

    from serve.deployments import application

    items = [{"text": f"text {number}", "most_words": 9} for number in range(24)]
    arguments: dict[str, Any] = {"judges": {"place": {"make": "tests.serve.served:PlaceJudge"}}}
    with on_serve() as url:
        serve.run(application(arguments, {"judges-place": {"num_replicas": 2}}), name="routed", route_prefix="/")
        with httpx.Client(base_url=url, timeout=600) as asked:
            rounds = [[asked.post("/v1/judge", json={"items": [item]}).json() for item in items] for _ in "ab"]
    assert [[answer["from_cache"] for answer in answers] for answers in rounds] == [[False] * 24, [True] * 24]
    assert len({answer["results"][0]["verdicts"][0]["answer"] for answer in rounds[0]}) == 2
