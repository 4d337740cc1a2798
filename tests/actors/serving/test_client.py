"""Callers wait out what passes, and are told at once what does not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from actors.serving.client import RefusedError, Reply, ServedClient, over_handle, over_http, read_answer
from actors.serving.messages import (
    About,
    Answered,
    DeadlineError,
    HeldBack,
    QueueFullError,
    Refusal,
    Replies,
    TooLargeError,
    shared_text,
)
from longform.errors import LongformError
from tests.any_values import ANY_VALUE


class Server:
    """Gives the replies it was told, and notes what it was asked and how long callers waited."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.held: list[HeldBack] = []
        self.waits: list[float] = []

    async def __call__(self, path: str, body: Mapping[str, Any], held: HeldBack) -> Reply:
        self.asked.append((path, body))
        self.held.append(held)
        await asyncio.sleep(0)  # others come meanwhile
        return self.replies.pop(0)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def client(self, **options: Any) -> ServedClient:
        return ServedClient(self, sleep=self.sleep, **options)


HELD = HeldBack("0" * 32, 3)
RANKED = Reply(200, {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]})


async def test_a_list_is_one_request() -> None:
    server = Server(RANKED)
    assert await server.client().rerank("m", "q", ["a", "b"]) == [(1, 0.9, None), (0, 0.1, None)]
    assert server.asked == [("/v1/rerank", {"model": "m", "query": "q", "documents": ["a", "b"]})]
    assert await server.client().rerank("m", "q", []) == []


async def test_each_request_states_what_waits_behind_it_and_the_last_ones_nothing() -> None:
    server = Server(*[RANKED] * 6)
    client = server.client(in_flight=2)
    await asyncio.gather(*(client.rerank("m", "q", ["a", "b"]) for _ in range(6)))
    assert [held.n_requests for held in server.held] == [4, 4, 2, 2, 0, 0]
    assert len({held.caller for held in server.held}) == 1


def test_a_client_is_asked_from_one_event_loop_after_another() -> None:
    server = Server(*[RANKED] * 6)
    client = server.client(in_flight=1)

    async def three() -> None:
        await asyncio.gather(*(client.rerank("m", "q", ["a", "b"]) for _ in range(3)))

    asyncio.run(three())
    asyncio.run(three())
    assert [held.n_requests for held in server.held] == [2, 1, 0] * 2


async def test_overload_and_dead_replicas_are_waited_out_up_to_a_cap() -> None:
    server = Server(Reply(429, "full", 3.0), Reply(503, "gone"), Reply(500, "died"), Reply(429, "full", 900.0), RANKED)
    await server.client(most_wait_s=10).rerank("m", "q", ["a", "b"])
    assert server.waits == [3.0, 1.0, 2.0, 10.0]


async def test_refusals_are_bounded_in_time_and_not_in_number() -> None:
    """A server that says when to come again is there; how often it says so tells only how many others ask."""
    server = Server(*[Reply(429, "busy", 20.0)] * 20, RANKED)
    assert await server.client(attempts=2).rerank("m", "q", ["a", "b"]) == [(1, 0.9, None), (0, 0.1, None)]
    server = Server(*[Reply(429, "busy", 20.0)] * 5)
    with pytest.raises(LongformError, match="429 4 times in 70 s: busy"):
        await server.client(patience_s=70).rerank("m", "q", ["a", "b"])
    assert server.waits == [20.0] * 3


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422])
async def test_a_wrong_request_is_not_repeated(status: int) -> None:
    server = Server(Reply(status, "what is wrong"))
    with pytest.raises(LongformError, match="what is wrong"):
        await server.client().judge("j", [{}])
    assert (len(server.asked), server.waits) == (1, [])


async def test_patience_ends() -> None:
    server = Server(*[Reply(503, "nobody there")] * 3)
    with pytest.raises(LongformError, match="503 after 3 attempts: nobody there"):
        await server.client(attempts=3).judge("j", [{}])
    assert len(server.waits) == 2


class Remote:
    """A deployment's handle, as far as clients use one."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.ask = self

    def options(self, *, session_id: str) -> Remote:
        self.session_id = session_id
        return self

    async def remote(self, items: Any, within_s: float | None, held: HeldBack) -> Any:
        self.items, self.within_s, self.held = items, within_s, held
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def test_a_handle_answers_as_a_server_does() -> None:
    from ray.exceptions import ActorDiedError

    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    answer = Answered([{"answer": "supported", "call_id": None}], 5, False, True, "key")
    found = Replies(About("j", "judge", "1", card="good"), [[answer]])
    remote = Remote(QueueFullError(4.0).refusal, ActorDiedError(), found)
    items = [{"document": "d", "sentences": ["s"]}]
    judged = await ServedClient(over_handle(remote), sleep=sleep).judge("j", items)
    (verdict,) = judged["results"][0]["verdicts"]
    assert verdict == {"answer": "supported", "call_id": "key", "from_cache": True, "from_ledger": False}
    assert remote.session_id == shared_text(items)
    assert (judged["card"], remote.items, waits) == ("good", items, [4.0, 1.0])


@pytest.mark.parametrize(
    ("outcome", "status", "said"),
    [
        pytest.param(TooLargeError().refusal, 413, "split it", id="too-large"),
        pytest.param(Refusal(422, "items.0.document: is missing"), 422, "is missing", id="wrong"),
    ],
)
async def test_a_wrong_request_by_a_handle_is_refused_as_by_a_url(outcome: Any, status: int, said: str) -> None:
    with pytest.raises(RefusedError, match=said) as refused:
        await ServedClient(over_handle(Remote(outcome))).judge("j", [{}])
    assert refused.value.status == status


async def test_a_handle_is_told_how_long_its_caller_waits_and_says_when_that_passed() -> None:
    remote = Remote(DeadlineError().refusal)
    reply = await over_handle(remote, timeout_s=7.0)("/v1/judge", {"items": [{}]}, HELD)
    assert (reply.status, remote.within_s, remote.held) == (504, 7.0, HELD)


async def test_a_model_that_fails_behind_a_handle_says_nothing_of_the_inside() -> None:
    from ray.exceptions import RayTaskError

    reply = await over_handle(Remote(RayTaskError("ask", "/secret/path", ValueError("/secret/path"))))(
        "/v1/judge", {"items": [{}]}, HELD
    )
    assert (reply.status, "ValueError" in reply.body, "secret" in reply.body) == (500, True, False)


async def test_a_handle_of_a_reranker_ranks_with_ties_by_index() -> None:
    answers = [Answered(score, 1, False, False, str(score)) for score in (0.5, 2.0, 0.5)]
    remote = Remote(Replies(About("r", "rerank", "1", score_kind="logit"), [answers]))
    assert await ServedClient(over_handle(remote)).rerank("r", "q", ["a", "b", "c"]) == [
        (1, 2.0, None),
        (0, 0.5, None),
        (2, 0.5, None),
    ]
    assert remote.items == [{"query": "q", "texts": ["a", "b", "c"]}]


@pytest.mark.parametrize(
    ("status", "body", "reply"),
    [
        (200, b'{"results": []}', Reply(200, {"results": []})),
        (200, b"<html>", Reply(502, "a body that is no JSON (JSONDecodeError)")),
        (200, b"[" * 200_000, Reply(502, "a body that is no JSON (RecursionError)")),
        (307, b"", Reply(307, "http_307, a redirect to http://other, which is not followed")),
        (429, b"\xff", Reply(429, "\ufffd", 7.0)),
    ],
)
def test_any_answer_is_a_reply(status: int, body: bytes, reply: Reply) -> None:
    headers = {"location": "http://other/v1?key=secret", "retry-after": "7"}
    assert read_answer(status, headers, body, "http://host/v1/judge") == reply


async def test_nothing_is_posted_where_a_redirect_points_to(unused_tcp_port: int) -> None:
    asked = []

    async def moved(request: web.Request) -> web.Response:
        asked.append(request.path)
        raise web.HTTPTemporaryRedirect("/elsewhere")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", moved)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    with pytest.raises(RefusedError, match=r"a redirect to http://127\.0\.0\.1"):
        await ServedClient(over_http(f"http://127.0.0.1:{unused_tcp_port}")).judge("j", [{}])
    await runner.cleanup()
    assert asked == ["/v1/judge"]


_INDEX = st.integers(-1, 2) | ANY_VALUE


@given(
    st.lists(st.fixed_dictionaries({"index": _INDEX, "relevance_score": ANY_VALUE}), max_size=3),
    st.lists(st.fixed_dictionaries({"index": _INDEX, "embedding": st.lists(ANY_VALUE, max_size=2)}), max_size=3),
)
async def test_rows_of_an_answer_are_finite_numbers_one_for_each_that_was_asked_about(
    ranked: list[dict[str, Any]], embedded: list[dict[str, Any]]
) -> None:
    for asked in (
        Server(Reply(200, {"results": ranked})).client().rerank("m", "q", ["a", "b"]),
        Server(Reply(200, {"data": embedded})).client().embed("m", ["a", "b"]),
    ):
        (rows,) = await asyncio.gather(asked, return_exceptions=True)
        if isinstance(rows, BaseException):
            assert isinstance(rows, LongformError)
            assert "answered 200: expected " in str(rows)
            continue
        assert sorted(row[0] for row in rows) == [0, 1]
        assert all(np.isfinite(np.array(row[1])).all() for row in rows)
        assert not any(isinstance(row[1], bool | str) for row in rows)


async def test_a_text_without_a_score_has_the_reason_and_null_alone_is_none() -> None:
    rows = [{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": None, "failure": "no_score"}]
    found = await Server(Reply(200, {"results": rows})).client().rerank("m", "q", ["a", "b"])
    assert found == [(1, 0.5, None), (0, None, "no_score")]
    del rows[1]["failure"]
    with pytest.raises(LongformError, match="found null without `failure`"):
        await Server(Reply(200, {"results": rows})).client().rerank("m", "q", ["a", "b"])


@pytest.mark.parametrize(
    "places", [pytest.param([0, 0], id="twice"), pytest.param([0], id="none"), pytest.param([0, 2], id="another")]
)
async def test_an_answer_that_is_no_order_is_refused(places: list[int]) -> None:
    results = [{"index": place, "relevance_score": 0.5} for place in places]
    with pytest.raises(LongformError, match="of each of 2 once, found indices"):
        await Server(Reply(200, {"results": results})).client().rerank("m", "q", ["a", "b"])


@pytest.mark.parametrize("body", [None, {}, [], {"results": [{"index": 1}]}, {"results": 5}])
async def test_an_answer_of_another_form_is_named(body: Any) -> None:
    with pytest.raises(LongformError, match="/v1/rerank answered 200: expected results with index and relev"):
        await Server(Reply(200, body)).client().rerank("m", "q", ["a"])
