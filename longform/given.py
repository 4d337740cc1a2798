"""
Say what providers, servers and users' classes may give: numbers and texts that every table, ledger and JSON can hold.

Pydantic checks values by these types, wherever they come from: a bool is no number, nor is a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError

P = TypeVar("P")
Error = TypeVar("Error", bound=Exception)
Json: TypeAlias = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None
"""A value that JSON can hold."""


def storable(text: str) -> str:
    """Return *text* with `?` for each half of a character, which no file in UTF-8 can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _plain(value: Any) -> Any:
    """Return a number of any library as one of Python's, a whole one as an int; what is none stays as it is."""
    with suppress(AttributeError, OverflowError, ValueError):  # too large for a float, or no number of this kind
        if getattr(value, "ndim", None) == 0:  # of numpy or torch
            value = value.item()
        if isinstance(value, Real | Decimal) and not isinstance(value, bool):
            number = float(value)
            return int(number) if number.is_integer() else number
    return value


_A_NUMBER = BeforeValidator(_plain)
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e30, le=1e30), _A_NUMBER]
Share = Annotated[Number, Field(ge=0, le=1)]
Dollars = Annotated[Number, Field(ge=0, le=1e9)]
Count = Annotated[int, Field(strict=True, ge=0, le=10**9), _A_NUMBER]
"""Tokens, or a place in a list, from 0."""
Text = Annotated[str, Field(strict=True), AfterValidator(storable)]

_form: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def unfit(error: type[Error], where: str, expected: str, found: object) -> Error:
    """Return the *error* that says *where* something else was found than *expected*."""
    told = type(found).__name__
    with suppress(Exception):  # of a class of theirs, or of a number with too many digits
        told = f"{told} {repr(found[:60]) if isinstance(found, str) else str(found)[:60]}"
    return error(f"{where}: expected {expected}, found {told}")


def fitted(kind: type[P], fields: object, error: type[Exception], where: str) -> P:
    """Return a *kind* of *fields*; *error* names the first that does not fit its type."""
    try:
        made: P = _form(kind).validate_python(fields)
    except ValidationError as faults:
        fault = faults.errors()[0]
        expected = f"{fault['msg'].removeprefix('Input should be ')} as {fault['loc'][0]}"
        raise unfit(error, where, expected, fault["input"]) from faults
    return made
