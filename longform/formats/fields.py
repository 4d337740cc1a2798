"""
Objects of parsed JSON, read as pydantic models: a wrong field is an error that names file, record and field.

A record's label is its line in a JSON Lines file (`line 17`) or the way to it in a JSON file
(`subtopics[3].insights[0]`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    StringConstraints,
    ValidationError,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from longform.errors import DanglingError, InputError

Way = Sequence[str | int]
"""Names of fields and places in lists, from an object to a value in it."""

ROOT = "(root)"
UNKNOWN_FIELD = "a field of this name"
_SHOWN_CHARACTERS = 60
_SHOWN_NAMES = 12
_TYPE_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object"}
_EXPECTED = {
    "string_type": "a string",
    "string_unicode": "a string without halves of surrogate pairs",
    "string_pattern_mismatch": "a string that is not empty",
    "list_type": "a list",
    "too_short": "a list with at least one entry",
    "dict_type": "an object",
    "model_type": "an object",
}


@dataclass(frozen=True)
class Expected:
    """Names a type of our own in errors, in place of pydantic's words."""

    words: str

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Replace every error of the type by one that says what is expected."""
        return core_schema.custom_error_schema(handler(source), "expected", custom_error_message=self.words)


Text = Annotated[str, StringConstraints(strict=True, min_length=0)]
"""A string that UTF-8 can hold: JSON can escape half of a surrogate pair, Parquet cannot store it."""

Filled = Annotated[str, StringConstraints(strict=True, pattern=r"[^\s\x1c-\x1f]")]
"""A string with more than white space in it."""


def read_as_text(value: object) -> object:
    """Return a whole number as its digits, and any other value as it is: data sets number their rows, and 7 is '7'."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_ID = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"
ID_EXPECTED = "a whole number, or a printable string that is not empty"
Id = Annotated[str, StringConstraints(strict=True, pattern=_ID), BeforeValidator(read_as_text), Expected(ID_EXPECTED)]
"""An id as text; a whole number is read as its digits."""


def is_id(text: str) -> bool:
    """Return whether a text may be an id."""
    return re.fullmatch(_ID, text) is not None


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul", "a text without NUL characters")
    return text


Source = Annotated[Filled, AfterValidator(_without_nul)]
"""The text of a document or a question: NUL is no character of a text, but a sign of a damaged file."""

Int32 = Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31), Expected("an integer of 32 bits")]
"""A whole number as the tables hold it; a boolean is none."""

Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), Expected("a finite number")]


NotNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0), Expected("a finite number of at least 0")]
FromZero = Annotated[int, Field(strict=True, ge=0, lt=2**31), Expected("an integer of 32 bits of at least 0")]
FromOne = Annotated[int, Field(strict=True, ge=1, lt=2**31), Expected("an integer of 32 bits of at least 1")]


class Entry(BaseModel):
    """The base of what a file holds; fields that no reader needs are left out."""


EntryType = TypeVar("EntryType", bound=BaseModel)
Fault = TypeVar("Fault", bound=InputError)


class Record(NamedTuple):
    """A JSON object and its place."""

    content: Mapping[str, JsonValue]
    file: str
    label: str

    def read(self, kind: type[EntryType]) -> EntryType:
        """
        Return the object as an entry.

        Raises:
            InputError: A field is missing, of another type, or unknown to an entry that forbids such fields.
        """
        try:
            return kind.model_validate(self.content)
        except ValidationError:  # the first, or the field that is not known: it is likely a misspelt one
            raise min(self.problems(kind), key=lambda one: one.found != UNKNOWN_FIELD) from None

    def problems(self, kind: type[EntryType]) -> list[InputError]:
        """Return an error for each field that is missing, of another type, or unknown; none if `read` would read it."""
        try:
            kind.model_validate(self.content)
        except ValidationError as error:
            return [self._tell(problem, kind) for problem in error.errors(include_url=False)]
        return []

    def error(self, field: str, *, expected: str, found: str | None = None, way: Way = ()) -> InputError:
        """Return the error to raise about a field; *found* is given if a *way* leads from here to another object."""
        return self._error(InputError, field, expected, found, way)

    def dangling(self, field: str, *, expected: str, found: str | None = None) -> DanglingError:
        """Return the error to raise about a field that refers to a row that is not there."""
        return self._error(DanglingError, field, expected, found)

    def _error(self, kind: type[Fault], field: str, expected: str, found: str | None, way: Way = ()) -> Fault:
        if found is None:
            found = describe(self.content[field]) if field in self.content else nothing(self.content)
        label = _joined(self.label, way)
        return kind(file=self.file, record=label, field=field, expected=expected, found=found)

    def _tell(self, problem: ErrorDetails, kind: type[BaseModel]) -> InputError:
        way = problem["loc"]
        last = max(index for index, step in enumerate(way) if isinstance(step, str))
        field = _joined(ROOT, way[last:])
        return self.error(field, expected=self._expected(problem, kind), found=_found(problem), way=way[:last])

    def _expected(self, problem: ErrorDetails, kind: type[BaseModel]) -> str:
        match problem["type"]:
            case "extra_forbidden":
                return f"only the fields {', '.join(kind.model_fields)}"
            case "literal_error":
                return "one of " + ", ".join(problem["ctx"]["expected"].rsplit(" or ", 1))
            case "missing":
                return self._expected(_if_null(self.content, problem, kind), kind)
            case name:
                return _EXPECTED.get(name, problem["msg"].removeprefix("Input should be "))


def describe(value: object) -> str:
    """Describe a value in few words: its type, and at most 60 characters of it."""
    if value is None:
        return "null"
    shown = ascii(value) if isinstance(value, str) and has_surrogates(value) else repr(value)
    return f"{_TYPE_NAMES.get(type(value), type(value).__name__)} {short(shown)}"


def short(shown: str) -> str:
    """Return at most 60 characters of a text."""
    return shown if len(shown) <= _SHOWN_CHARACTERS else shown[:_SHOWN_CHARACTERS] + "..."


def has_surrogates(value: str) -> bool:
    """Return whether a text holds halves of surrogate pairs, which JSON can escape and UTF-8 cannot hold."""
    return value.encode(errors="ignore") != value.encode(errors="surrogatepass")


def _found(problem: ErrorDetails) -> str:
    match problem["type"]:
        case "extra_forbidden":
            return UNKNOWN_FIELD
        case "missing":
            return nothing(problem["input"])
        case _:
            return describe(problem["input"])


def _if_null(content: Mapping[str, JsonValue], missing: ErrorDetails, kind: type[BaseModel]) -> ErrorDetails:
    """Return the error of the same field if it were null: pydantic says of a value only which type it expects."""
    try:
        kind.model_validate(_with_null(dict(content), missing["loc"]))
    except ValidationError as error:
        return next(one for one in error.errors(include_url=False) if one["loc"] == missing["loc"])
    raise AssertionError(f"{kind.__name__}: {missing['loc']} may be null, so it may be missing, too")


def _with_null(value: JsonValue, way: Way) -> JsonValue:
    match value, way:
        case dict(), [str(step), *rest]:
            return value | {step: _with_null(value.get(step), rest)}
        case list(), [int(step), *rest]:
            return [*value[:step], _with_null(value[step], rest), *value[step + 1 :]]
        case _:
            return None


def _joined(label: str, way: Way) -> str:
    """Return the label of what stands at the end of the way."""
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)
    return label + words if label != ROOT or not words else words.removeprefix(".")


def nothing(content: Collection[str]) -> str:
    """Describe a field that is missing by the names of those that are there."""
    names = [short(name) for name in [*content][:_SHOWN_NAMES]]
    more = ", ..." if len(content) > len(names) else ""
    return f"nothing (the record has {', '.join(names)}{more})" if names else "nothing (the record is empty)"
