"""A search endpoint: what it is sent, and what is done while it is gone."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from actors.serving.client import Reply, Send
from actors.serving.endpoint import ATTEMPTS, SearchEndpoints
from actors.serving.messages import HeldBack
from longform.errors import LongformError, UsageError
from longform.given import Json

FIELDS = {"query": "Why a bridge?", "n": "3", "api_key_env": ""}
HITS = [{"id": "a", "text": "A bridge."}]


class Endpoint:
    """Answers with the given replies, the last of them again and again; keeps what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.sent: list[tuple[str, str | None, Mapping[str, Json]]] = []
        self.waits: list[float] = []

    def opened(self, url: str, *, token: str | None, timeout_s: float) -> Send:
        async def send(_path: str, body: Mapping[str, Json], _held: HeldBack) -> Reply:
            self.sent.append((url, token, body))
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

        return send

    async def search(self, fields: Mapping[str, str] = FIELDS) -> str:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return await SearchEndpoints(self.opened, sleep=sleep).search("http://one", fields)


async def test_it_is_sent_the_query_and_how_many_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_KEY", "abcdefgh-not-a-secret")
    endpoint = Endpoint(Reply(200, HITS))
    assert json.loads(await endpoint.search(FIELDS | {"api_key_env": "SEARCH_KEY"})) == HITS
    assert endpoint.sent == [("http://one", "abcdefgh-not-a-secret", {"query": "Why a bridge?", "n": 3})]


async def test_one_that_is_gone_for_a_while_is_asked_again() -> None:
    endpoint = Endpoint(Reply(503, "gone"), Reply(429, "slow down", 2.0), Reply(200, HITS))
    assert json.loads(await endpoint.search()) == HITS
    assert (len(endpoint.sent), endpoint.waits) == (3, [0.5, 2.0])


async def test_one_that_stays_away_or_refuses_ends_the_command_with_its_name() -> None:
    gone, refusing = Endpoint(Reply(503, "gone")), Endpoint(Reply(404, "no such path"))
    with pytest.raises(LongformError, match=r"search endpoint http://one: .*503 after 6 attempts.*goes on from here"):
        await gone.search()
    assert len(gone.sent) == ATTEMPTS
    with pytest.raises(LongformError, match=r"search endpoint http://one: .*404"):
        await refusing.search()
    assert len(refusing.sent) == 1


async def test_a_token_that_is_not_there_is_named_before_anything_is_sent() -> None:
    endpoint = Endpoint(Reply(200, HITS))
    with pytest.raises(UsageError, match="http://one: expected its token in NO_SUCH_KEY"):
        await endpoint.search(FIELDS | {"api_key_env": "NO_SUCH_KEY"})
    assert not endpoint.sent
