"""Errors as callers see them: one shape, OpenAI's, without stack traces, paths, secrets or what was sent."""

from __future__ import annotations

import math
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from actors.served import QueueFullError, TooLargeError, UnavailableError

_LONGEST = 1000
_UNAVAILABLE_S = 1


class ApiError(Exception):
    """What is wrong with a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def error_answer(status: int, message: str, *, retry_after_s: float | None = None) -> JSONResponse:
    """
    The answer to a request that cannot be met.

    Args:
        status: Of HTTP.
        message: What was expected, what came, and what to do.
        retry_after_s: When to ask again; None: asking again would not help.
    """
    headers = {} if retry_after_s is None else {"Retry-After": str(max(1, math.ceil(retry_after_s)))}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    # a lone surrogate, which JSON may hold, cannot be sent
    shown = message[:_LONGEST].encode("utf-8", "backslashreplace").decode()
    return JSONResponse({"error": {"message": shown, "type": _kind(status), "code": status}}, status, headers)


def add_error_answers(app: FastAPI) -> None:
    """Every error of *app* is answered in this shape."""

    @app.exception_handler(ApiError)
    async def wrong(_: Request, error: ApiError) -> JSONResponse:
        return error_answer(error.status, error.message)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        return error_answer(422, "; ".join(_field(one) for one in error.errors()[:5]))

    @app.exception_handler(HTTPException)
    async def unknown(_: Request, error: HTTPException) -> JSONResponse:
        return error_answer(error.status_code, str(error.detail))

    @app.exception_handler(QueueFullError)
    async def full(_: Request, error: QueueFullError) -> JSONResponse:
        return error_answer(429, str(error), retry_after_s=error.retry_after_s)

    @app.exception_handler(TooLargeError)
    async def large(_: Request, error: TooLargeError) -> JSONResponse:
        return error_answer(413, str(error))

    @app.exception_handler(UnavailableError)
    async def away(_: Request, error: UnavailableError) -> JSONResponse:  # noqa: ARG001  its message may name a node
        return error_answer(503, "the model cannot be reached now; ask again", retry_after_s=_UNAVAILABLE_S)

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> JSONResponse:  # noqa: ARG001  it stands in the server's log
        return error_answer(500, "the model failed on this request; the server's log says how")


def _field(error: Any) -> str:
    """Which field is wrong and how; not its value."""
    return f"{'.'.join(str(part)[:80] for part in error['loc'])}: {error['msg']}"


def _kind(status: int) -> str:
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "overloaded_error", 503: "unavailable_error"}
    return kinds.get(status, "invalid_request_error" if status < 500 else "internal_error")
