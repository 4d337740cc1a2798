"""
The application on Ray Serve: one deployment a model, and an ingress before them.

    python -m serve deploy serve/config.yaml

A deployment is a thin wrapper of the classes that `serve.http.app` and the jobs use. Callers wait inside a replica, in
a queue that refuses, not in Serve's router, which slows down far below the replicas' rate once they are full.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI
from pydantic import JsonValue
from ray import serve
from ray.serve.config import BackpressureConfig, RequestRouterConfig
from ray.serve.deployment import Application, Deployment
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError
from ray.serve.handle import DeploymentHandle

from actors.serving.endpoint import HandleAnswer
from actors.serving.messages import (
    About,
    ApiError,
    HeldBack,
    QueueFullError,
    Refusal,
    Replies,
    UnavailableError,
    ray_board,
    shared_text,
)
from longform.errors import UsageError
from longform.settings.strict import imported
from serve.backlog import BACKLOG
from serve.door import CannotBuildError
from serve.engine import Backend, Engine, InLedger, Item, Worker
from serve.http.access import Access, read_tokens
from serve.http.app import Backends, ServedJudge, make_app
from serve.http.errors import read_items
from serve.http.guard import HELD_BACK, post_by_handle
from serve.judges.workers import item_type, load_judge, load_other
from serve.routing import ROUTER
from serve.settings import RerankerOfAJob, ServedOther, Settings, asks_a_chat, parse_settings

Arguments = Mapping[str, JsonValue]
"""The `args:` of the configuration."""

KINDS = ("embeddings", "rerankers", "judges", "chats")
"""The sections of the settings; the deployment of an entry is called `KIND-NAME`."""

_PLACES = 2000
"""
Callers that Serve lets into a replica at once, and that may be on their way to it. Both are high because a router
neither counts time nor knows when to come again; the replica does, and refuses at once.
"""

_PATIENCE: dict[str, float] = {"initial_backoff_s": 0.01, "backoff_multiplier": 1.5, "max_backoff_s": 0.05}


@serve.deployment(
    max_ongoing_requests=_PLACES,
    max_queued_requests=_PLACES,
    request_router_config=RequestRouterConfig(request_router_class=ROUTER, **_PATIENCE),
    max_constructor_retry_count=3,
    graceful_shutdown_timeout_s=60,
    ray_actor_options={"num_cpus": 0.25},
)
class Replica:
    """One model in memory. UsageError: it cannot be loaded; Serve states the reason after three tries."""

    def __init__(self, arguments: Arguments, kind: str, name: str) -> None:
        self._deployment = f"{kind}-{name}"
        self._name = name
        settings = parse_settings(arguments)
        self._item = item_type(name, settings.judges) if kind == "judges" else None
        self._engine = load_engine(settings, kind, name)

    async def ask(
        self, items: Sequence[Mapping[str, JsonValue]], within_s: float | None = None, held: HeldBack | None = None
    ) -> Replies | Refusal:
        """Return the answers, or the refusal."""
        if held is not None:
            ray_board().publish.remote(self._deployment, held)  # nobody waits for it
        try:
            # who asks by a handle has not passed the ingress, which reads them, too
            asked = items if self._item is None else read_items(self._name, self._item, items)
            return await self._engine.ask(asked, within_s=within_s)
        except ApiError as error:
            return error.refusal

    async def about(self) -> About:
        return await self._engine.about()

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """Return the numbers by which Serve scales replicas; `serve.backlog` reads them."""
        return {BACKLOG: float(await ray_board().waiting.remote(self._deployment))}

    def check_health(self) -> None:
        self._engine.check_health()


@serve.deployment(
    max_ongoing_requests=_PLACES,
    max_queued_requests=_PLACES,
    backpressure_config=BackpressureConfig(status_code=429, retry_after_s=1),
    request_router_config=RequestRouterConfig(**_PATIENCE),
    max_constructor_retry_count=3,
    graceful_shutdown_timeout_s=60,
    ray_actor_options={"num_cpus": 0.1},
)
@serve.ingress()
class Ingress:
    """The HTTP application; *handles* of deployments by kind and name. UsageError: wanted tokens are missing."""

    def __init__(self, arguments: Arguments, handles: Mapping[str, Mapping[str, DeploymentHandle]]) -> None:
        self._settings = parse_settings(arguments)
        self._handles = handles

    def __serve_build_asgi_app__(self) -> FastAPI:
        access = _access(self._settings, bind_address())
        found = {
            kind: {name: HandleBackend(f"{kind}-{name}", handle) for name, handle in self._handles[kind].items()}
            for kind in KINDS
        }
        self._app = make_app(backends(self._settings, found), access)
        return self._app

    async def post(
        self, path: str, body: bytes, timeout_s: float | None = None, held: HeldBack | None = None
    ) -> HandleAnswer:
        """The answer to a caller of this cluster, as over HTTP; `serve://APPLICATION/PATH` asks here."""
        return await post_by_handle(self._app, path, body, timeout_s, held)


class HandleBackend:
    """A `Backend` behind a deployment's handle, of items of any kind."""

    def __init__(self, deployment: str, handle: DeploymentHandle) -> None:
        self._deployment = deployment
        self._handle = handle

    async def about(self) -> About:
        with _as_ours(self._deployment):
            about: About = await self._handle.about.remote()
        return about

    async def problem(self) -> str | None:
        """
        Return the finding of Serve's own health checks; replicas are not asked, which would wake
        those that sleep.
        """
        status = await asyncio.to_thread(serve.status)
        for application in status.applications.values():
            deployment = application.deployments.get(self._deployment)
            if deployment is not None and deployment.status in ("UNHEALTHY", "DEPLOY_FAILED"):
                return f"Serve says {deployment.status}"
        return None

    async def ask(self, items: Sequence[Item], *, within_s: float | None = None) -> Replies:
        handle = self._handle.options(session_id=shared_text(items))
        with _as_ours(self._deployment):
            found: Replies | Refusal = await handle.ask.remote(list(items), within_s, HELD_BACK.get())
        if isinstance(found, Refusal):
            raise ApiError(*found)
        return found


@contextmanager
def _as_ours(deployment: str) -> Iterator[None]:
    """Turn Ray's errors about a full or absent *deployment* into the application's."""
    from ray.exceptions import RayActorError

    try:
        yield
    except BackPressureError as error:
        raise QueueFullError(error.retry_after_s or 1.0) from error
    except (RayActorError, DeploymentUnavailableError) as error:
        raise UnavailableError(f"{deployment}: {type(error).__name__}") from error


def build(arguments: Arguments) -> Application:
    """
    Return the application that *arguments*, the `args:` of the configuration, describe.

    Raises:
        CannotBuildError: The settings are wrong, or tokens are wanted and there are none; nothing was started.
    """
    try:
        _check_access(parse_settings(arguments))
        return application(arguments, {})
    except UsageError as error:
        raise CannotBuildError(str(error)) from error


def _check_access(settings: Settings) -> None:
    """Raise UsageError if the ingress would not start for want of tokens; its address may not be known yet."""
    if (bind := bind_address()) is not None or settings.access.on_loopback:
        _access(settings, bind)


def _access(settings: Settings, bind: str | None) -> Access:
    tokens = read_tokens(settings.access, os.environ)
    return Access(bind=bind, tokens=tokens, on_loopback=settings.access.on_loopback, limits=settings.limits)


def application(arguments: Arguments, options: Mapping[str, Mapping[str, JsonValue]]) -> Application:
    """Return the same, with options of Serve for deployments, as `deployments:` gives them; UsageError: as above."""
    settings = parse_settings(arguments)
    replica: Deployment = Replica  # the decorator makes a deployment of the class, which types do not tell
    ingress: Deployment = Ingress

    def bound(kind: str, name: str) -> Application:
        deployment = f"{kind}-{name}"
        return replica.options(name=deployment, **options.get(deployment, {})).bind(arguments, kind, name)

    handles = {kind: {name: bound(kind, name) for name in getattr(settings, kind)} for kind in KINDS}
    return ingress.options(name="ingress", **options.get("ingress", {})).bind(arguments, handles)


def load_engine(settings: Settings, kind: str, name: str) -> Engine[Any, Any]:
    """Return the model of an entry with its queue, and with the answers it gave before; raise as `load_worker`."""
    entry = getattr(settings, kind)[name]
    wanted = kind == "judges" and not asks_a_chat(entry)  # calls of a chat model are in the ledger anyway
    kept = InLedger(settings.ledger, name) if settings.ledger and wanted else None
    return Engine(load_worker(settings, kind, name), entry.batching, kept)


def load_worker(settings: Settings, kind: str, name: str) -> Worker[Any, Any]:
    """Return the model of an entry, loaded; UsageError: it cannot be."""
    if kind == "judges":
        return load_judge(name, settings.judges, threads=settings.threads, ledger=settings.ledger)
    entry = getattr(settings, kind)[name]
    if isinstance(entry, ServedOther):
        return load_other(name, entry, threads=settings.threads)
    more = {"ledger": settings.ledger} if isinstance(entry, RerankerOfAJob) else {}
    worker: Worker[Any, Any] = imported(entry.worker)(name, entry, threads=settings.threads, **more)
    return worker


def backends(settings: Settings, found: Mapping[str, Mapping[str, Backend[Any]]]) -> Backends:
    """Return the models behind the application, with the type of each judge's items."""
    judges = {name: ServedJudge(backend, item_type(name, settings.judges)) for name, backend in found["judges"].items()}
    return Backends(embeddings=found["embeddings"], rerankers=found["rerankers"], judges=judges, chats=found["chats"])


def bind_address() -> str | None:
    """
    Return the address that Serve's proxies listen on, as its controller says; None if unknown.

    There is no public way to ask, and a setting of our own could contradict what Serve really does.
    """
    import ray
    from ray.serve import context

    if not ray.is_initialized():  # to ask would start one
        return None
    try:
        return str(context._get_global_client(raise_if_no_controller_running=False).http_config.host)  # noqa: SLF001
    except AttributeError:
        return None
