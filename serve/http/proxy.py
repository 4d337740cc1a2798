"""
Stands in Ray's HTTP proxies before everything else; Ray itself has no setting for any of this.

    RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH=serve.http.proxy.middlewares

in the environment of every node before its Ray starts. A body is then received in the proxy, so that one that never
ends takes no place in an ingress; `/-/routes` and `/-/healthz` answer this machine only; and a request that Ray gives
up, as it does when an ingress dies under it, is answered 503 with `Retry-After`. Headers that never end are not seen.
"""

from __future__ import annotations

import os

from pydantic import ValidationError
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longform.errors import UsageError
from serve.http.access import is_loopback
from serve.http.errors import error_answer
from serve.http.intake import Intake, head_fault, replayed
from serve.settings import Limits

LIMITS_ENV = "LONGFORM_SERVE_LIMITS"
"""Limits as a JSON object, where those of the application differ from the defaults: a proxy knows no application."""

_OF_RAY = "/-/"
_FOR_RAY = (b"x-request-timeout-seconds", b"x-request-disconnect-disabled")
"""Headers that switch off Ray's time limit, and its notice of callers who left."""

_AGAIN_S = 1.0


def middlewares() -> list[Middleware]:
    """Return what Ray puts before its proxy; UsageError: the environment's limits cannot be read."""
    try:
        limits = Limits.model_validate_json(os.environ.get(LIMITS_ENV) or "{}")
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise UsageError(f"{LIMITS_ENV}: expected a JSON object of limits; {faults}") from None
    return [Middleware(ProxyGuard, limits=limits)]


class ProxyGuard:
    """Hands whole requests on to Ray's proxy."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._intake = Intake(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if scope["path"].startswith(_OF_RAY) and not is_loopback((scope.get("client") or [None])[0]):
            return await error_answer(404, "no such path here")(scope, receive, send)
        if refusal := head_fault(scope, self._limits):
            return await refusal(scope, receive, send)
        body = await self._intake.body(scope, receive)
        if isinstance(body, bytes):
            headers = [(name, value) for name, value in scope["headers"] if name not in _FOR_RAY]
            await self._answered({**scope, "headers": headers}, replayed(body, receive), send)
        elif body is not None:
            await body(scope, receive, send)
        return None

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ray's answer, or 503: of an error of its own it sends nothing, of which the server would make a bare 500."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        await self._app(scope, receive, watched)
        if not begun:
            again = error_answer(503, "the application cannot be reached now; ask again", retry_after_s=_AGAIN_S)
            await again(scope, receive, send)
