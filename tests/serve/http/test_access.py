"""Access and limits of callers, and the answers to refused ones."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute
from prometheus_client.parser import text_string_to_metric_families

from longform.errors import UsageError
from serve.http.access import Access, Tokens, is_loopback, read_tokens
from serve.http.app import make_app
from serve.http.errors import error_answer
from serve.http.guard import BY_HANDLE, post_by_handle
from serve.settings import AccessSettings, Limits
from tests.serve.served import client, local_app, small_backends

ALICE, BOB = "alice-has-this-token", "bob-has-another-token"


def open_access(**limits: int) -> Access:
    return Access(bind="0.0.0.0", tokens=Tokens({"alice": ALICE, "bob": BOB}), limits=Limits(**limits))


async def test_every_path_but_health_wants_a_token_beyond_loopback() -> None:
    """The application's own list has them, so that a path added later is in it; unknown paths tell nothing either."""
    app = make_app(small_backends(), open_access())
    paths = {route.path for route in app.routes if isinstance(route, APIRoute)}
    assert {
        "/v1/embeddings",
        "/rerank",
        "/v2/rerank",
        "/score",
        "/v1/judge",
        "/v1/chat/completions",
        "/info",
        "/metrics",
    } <= paths
    async with client(app) as asked:
        for path in sorted({*paths, "/openapi.json", "/nowhere", "/health/", "//health", "/docs"} - {"/health"}):
            for method in ("GET", "POST", "OPTIONS", "HEAD", "DELETE"):
                response = await asked.request(method, path)
                assert response.status_code == 401, (method, path)
        assert (await asked.get("/health")).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("Bearer wrong-token-of-some-length", id="wrong"),
        pytest.param(f"Basic {ALICE}", id="other-scheme"),
        pytest.param(ALICE, id="no-scheme"),
        pytest.param(f"Bearer {ALICE}x", id="longer"),
        pytest.param(f"Bearer {ALICE[:-1]}", id="shorter"),
        pytest.param("Bearer", id="empty"),
        pytest.param("Bearer \xe9\xff", id="not-ascii"),
    ],
)
async def test_a_header_without_a_known_token_is_refused(header: str) -> None:
    async with client(make_app(small_backends(), open_access())) as asked:
        response = await asked.get("/v1/models", headers=[(b"Authorization", header.encode("latin-1"))])
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"


async def test_each_holder_is_let_in_and_counted_by_name() -> None:
    app = make_app(small_backends(), open_access())
    async with client(app, Authorization=f"bearer {ALICE}") as alice, client(app, Authorization=f"Bearer {BOB}") as bob:
        assert (await alice.get("/v1/models")).status_code == 200
        metrics = (await bob.get("/metrics")).text
    (requests,) = (found for found in text_string_to_metric_families(metrics) if found.name == "longform_requests")
    assert [sample.labels for sample in requests.samples] == [
        {"path": "/v1/models", "status": "200", "caller": "alice"}
    ]
    assert ALICE not in metrics


async def test_who_has_the_handle_needs_no_token_and_no_header_says_so() -> None:
    app = make_app(small_backends(), open_access())
    body = json.dumps({"query": "a bank", "documents": ["a fox", "the bank"]}).encode()
    found = await post_by_handle(app, "/v1/rerank", body)
    wrong = await post_by_handle(app, "/v1/rerank", b"{}")
    async with client(app, **{BY_HANDLE: "true"}) as asked:
        from_outside = await asked.post("/v1/rerank", content=body)
    assert (found.status, wrong.status, from_outside.status_code) == (200, 422, 401)
    assert len(json.loads(found.body)["results"]) == 2


async def test_loopback_wants_none_unless_told() -> None:
    async with client(local_app()) as asked:
        assert (await asked.get("/v1/models")).status_code == 200
    told = Access(bind="127.0.0.1", tokens=Tokens({"alice": ALICE}), on_loopback=True)
    async with client(make_app(small_backends(), told)) as asked:
        assert (await asked.get("/v1/models")).status_code == 401


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.5", False),
        ("localhost.example.org", False),
        ("", False),
        (None, False),
    ],
)
def test_what_loopback_is(host: str | None, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize("bind", ["0.0.0.0", None])
def test_an_open_address_without_tokens_does_not_start(bind: str | None) -> None:
    with pytest.raises(UsageError, match="LONGFORM_SERVE_TOKENS"):
        Access(bind=bind)


@pytest.mark.parametrize(("bind", "on_loopback"), [("0.0.0.0", False), ("127.0.0.1", True), (None, True)])
def test_an_application_that_wants_tokens_and_has_none_is_not_built(
    bind: str | None, on_loopback: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Serve states errors of its own kind at once; after others it builds again, and says DEPLOYING meanwhile."""
    from ray.serve.exceptions import RayServeException

    from serve import deployments

    monkeypatch.setattr(deployments, "bind_address", lambda: bind)
    arguments = {
        "judges": {"j": {"task": "support", "judge": {"kind": "offline"}}},
        "access": {"on_loopback": on_loopback},
    }
    with pytest.raises(UsageError, match="LONGFORM_SERVE_TOKENS") as refused:
        deployments.build(arguments)
    assert isinstance(refused.value, RayServeException)


def test_tokens_come_from_the_environment_and_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# who may ask\nbob = {BOB}\n")
    settings = AccessSettings(tokens_env="ASKERS", tokens_file=str(file))
    tokens = read_tokens(settings, {"ASKERS": f"alice={ALICE}, carol=carol-asks-with-a=sign"})
    assert tokens is not None
    for name, token in (("alice", ALICE), ("bob", BOB), ("carol", "carol-asks-with-a=sign")):
        assert tokens.holder(f"Bearer {token}".encode()) == name
    assert ALICE not in repr(tokens)
    assert read_tokens(AccessSettings(), {}) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("my-very-secret-token", "entry 1: expected NAME=TOKEN", id="no-name"),
        pytest.param("alice=my-secret", "at least 16 characters", id="short"),
        pytest.param(f"alice={ALICE}\nalice={BOB}", "stands twice", id="name-twice"),
        pytest.param(f"alice={ALICE}\nbob={ALICE}", "a token of its own", id="token-twice"),
    ],
)
def test_tokens_that_cannot_be_read_are_not_shown(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        read_tokens(AccessSettings(), {"LONGFORM_SERVE_TOKENS": text})
    assert not any(secret in str(refused.value) for secret in ("secret", ALICE, BOB))


def test_a_token_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_tokens(AccessSettings(tokens_file="/no/such/file"), {})


async def test_limits_are_413() -> None:
    app = make_app(small_backends(), Access(bind="127.0.0.1", limits=Limits(body_bytes=500, texts=4, text_chars=50)))
    async with client(app) as asked:
        too_many = await asked.post("/rerank", json={"query": "a", "texts": ["b"] * 4})
        too_long = await asked.post("/v1/embeddings", json={"input": "a" * 51})
        too_big = await asked.post("/rerank", json={"query": "a", "texts": ["b" * 600]})
        fits = await asked.post("/rerank", json={"query": "a", "texts": ["b"] * 3})
        judged = await asked.post("/v1/judge", json={"items": [{"text": "a" * 51, "most_words": 1}]})
    statuses = [response.status_code for response in (too_many, too_long, too_big, fits, judged)]
    assert statuses == [413, 413, 413, 200, 413]
    assert "at most 4 texts in a request, found 5" in too_many.json()["error"]["message"]
    assert "at most 500 bytes" in too_big.json()["error"]["message"]


async def test_a_body_of_unstated_size_is_measured_as_it_comes() -> None:
    """A chunked body states no length, and must not fill the memory."""
    sent = 0

    async def endless() -> object:
        nonlocal sent
        for _ in range(1000):
            sent += 1
            yield b"x" * 100

    app = make_app(small_backends(), Access(bind="127.0.0.1", limits=Limits(body_bytes=500)))
    async with client(app) as asked:
        response = await asked.post("/rerank", content=endless())
    assert response.status_code == 413
    assert sent < 10


async def test_an_error_inside_says_nothing_of_the_inside() -> None:
    async with client(local_app()) as asked:
        response = await asked.post("/rerank", json={"query": "broken", "texts": ["a"]})
    assert response.status_code == 500
    assert not any(word in response.text for word in ("secret", "weights", "Traceback", "RuntimeError", "token"))


async def test_a_malformed_request_is_named_by_field_and_not_repeated() -> None:
    async with client(local_app()) as asked:
        response = await asked.post("/v1/embeddings", json={"input": ["fine", 7], "secret_option": "my-secret"})
    assert response.status_code == 422
    message = response.json()["error"]["message"]
    assert "body.input.1" in message
    assert "secret_option" in message
    assert "my-secret" not in response.text


def test_a_message_that_holds_half_a_character_can_be_sent() -> None:
    assert b"half \\\\ud800" in error_answer(422, "half \ud800").body


async def test_no_page_of_another_origin_may_read_answers() -> None:
    async with client(local_app(), Origin="https://example.org") as asked:
        responses: list[httpx.Response] = [
            await asked.get("/v1/models"),
            await asked.options("/v1/models", headers={"Access-Control-Request-Method": "GET"}),
        ]
    for response in responses:
        assert not [name for name in response.headers if name.startswith("access-control")]
