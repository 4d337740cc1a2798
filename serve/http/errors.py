"""Errors as callers see them: one shape, OpenAI's, without stack traces, paths, secrets or the request's texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from actors.serving.messages import ApiError, UnavailableError
from longform.settings.strict import Strict
from serve.engine import JudgeItem

_LONGEST = 1000
_UNAVAILABLE_S = 1
_MOST_FIELDS = 5

_UNREADABLE = "There was an error parsing the body"
"""FastAPI's words for a body that is not UTF-8, or nested too deep for the parser."""

_EXPECTED = {
    "string_type": "a text",
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "an object"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
}
"""Pydantic's name of an error -> what was expected; other errors are told in its own words."""

_NAMES = {str: "a text", bool: "true or false", int: "a number", float: "a number", dict: "an object"}


def error_answer(status: int, message: str, retry_after_s: float | None = None) -> JSONResponse:
    """
    Return the answer to a request that cannot be met.

    *message* says what was expected, what came and what to do; to ask again does not help if *retry_after_s* is None.
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
    async def refused(_: Request, error: ApiError) -> JSONResponse:
        return error_answer(*error.refusal)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        return error_answer(422, field_faults(error.errors()))

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        answer = error_answer(error.status_code, _in_words(app, request, error))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(UnavailableError)
    async def away(_: Request, error: UnavailableError) -> JSONResponse:  # noqa: ARG001  its message may name a node
        return error_answer(503, "the model cannot be reached now; ask again", retry_after_s=_UNAVAILABLE_S)

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> JSONResponse:  # noqa: ARG001  it stands in the server's log
        return error_answer(500, "the model failed on this request; the server's log says how")


def _in_words(app: FastAPI, request: Request, error: HTTPException) -> str:
    if error.status_code == 404:
        paths = sorted({route.path for route in app.routes if isinstance(route, APIRoute)})
        return f"no such path here; expected one of {paths}"
    if error.status_code == 405:
        return f"expected {(error.headers or {}).get('Allow')} for this path, found {request.method}"
    if error.detail == _UNREADABLE:
        return "body: expected JSON in UTF-8, found what cannot be read, or is nested too deep"
    return str(error.detail)


def field_faults(errors: Sequence[ErrorDetails]) -> str:
    """Name the wrong fields, the expected and the received type of each; no value of them."""
    told = [error for error in errors if not _follows(error, errors)]
    return "; ".join(f"{_place(error)}: {_fault(error)}" for error in told[:_MOST_FIELDS])


def read_items(judge: str, item: type[Strict], given: Sequence[Mapping[str, JsonValue]]) -> list[JudgeItem]:
    """
    The items as *judge* expects them, each of type *item*.

    Raises:
        ApiError: One is not of that type.
    """
    try:
        read: list[Strict] = TypeAdapter(list[item]).validate_python(given)  # type: ignore[valid-type]
    except ValidationError as error:
        faults = field_faults([{**one, "loc": ("items", *one["loc"])} for one in error.errors(include_url=False)])
        raise ApiError(422, f"{faults}; items of judge {judge!r} have {list(item.model_fields)}") from None
    return [one.model_dump() for one in read]


def _follows(error: ErrorDetails, errors: Sequence[ErrorDetails]) -> bool:
    """Return whether pydantic calls a list too short because of an entry that is wrong itself."""
    place = error["loc"]
    inside = (other["loc"][: len(place)] == place and len(other["loc"]) > len(place) for other in errors)
    return error["type"] == "too_short" and any(inside)


def _place(error: ErrorDetails) -> str:
    # of what is no JSON at all pydantic counts characters, which are no fields
    place = ("body",) if error["type"] == "json_invalid" else error["loc"]
    return ".".join(str(part)[:80] for part in place)


def _fault(error: ErrorDetails) -> str:
    given, more = error.get("input"), error.get("ctx", {})
    match error["type"]:
        case "missing":
            fault = "expected a JSON object, found nothing" if error["loc"] == ("body",) else "is missing"
        case "extra_forbidden":
            fault = "is not known here"
        case "json_invalid":
            fault = f"expected JSON: {more.get('error')}, at character {error['loc'][-1]}"
        case _ if isinstance(given, bytes):
            fault = "expected a JSON object; send it with `Content-Type: application/json`"
        case "too_short":
            fault = f"expected at least {more['min_length']} of it, found {more['actual_length']}"
        case kind if kind in _EXPECTED:
            fault = f"expected {_EXPECTED[kind]}, found {_name(given)}"
        case _:
            fault = str(error["msg"]).removeprefix("Value error, ").replace("Input should be", "expected", 1)
    return fault


def _name(given: JsonValue) -> str:
    return "null" if given is None else _NAMES.get(type(given), "a list")


def _kind(status: int) -> str:
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "overloaded_error", 503: "unavailable_error"}
    return kinds.get(status, "invalid_request_error" if status < 500 else "internal_error")
