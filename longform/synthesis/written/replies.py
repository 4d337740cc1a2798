"""The forms of replies: one JSON object each, with exactly the fields that were asked for."""

from __future__ import annotations

import json
import re
from typing import Annotated, TypeVar

from pydantic import JsonValue, StringConstraints, ValidationError

from longform.settings.strict import Strict

_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Form(Strict):
    """The form of a reply."""


class NamedSubtopic(Form):
    name: Words
    description: Words


class SubtopicList(Form):
    subtopics: tuple[NamedSubtopic, ...]


class InsightList(Form):
    insights: tuple[Words, ...]


class Pair(Form):
    """Two numbers of a list whose second thing repeats the first."""

    number: int
    repeats: int


class Pairs(Form):
    pairs: tuple[Pair, ...]


class Category(Form):
    subtopic: int  # 0: none of them


class QueryText(Form):
    query: Words


class Article(Form):
    title: Words
    text: Words


class Chapter(Form):
    text: Words


class Present(Form):
    present: tuple[int, ...]


class FactList(Form):
    facts: tuple[Words, ...]


class Classified(Form):
    subtopic: int  # 0: none of them
    insights: tuple[int, ...]


FORMS: dict[str, type[Form]] = {
    "synthesize_subtopics": SubtopicList,
    "synthesize_overlaps": Pairs,
    "synthesize_insights": InsightList,
    "synthesize_duplicates": Pairs,
    "synthesize_categorize": Category,
    "synthesize_query": QueryText,
    "synthesize_article": Article,
    "synthesize_remove": Article,
    "synthesize_add": Article,
    "synthesize_chapter": Chapter,
    "synthesize_classify": Classified,
    "synthesize_find": Present,
    "synthesize_answer": FactList,
}
"""Prompt -> the form of its reply."""

Read = TypeVar("Read", bound=Form)


def schema_of(form: type[Form]) -> dict[str, JsonValue]:
    """Return the JSON schema of a form, in the subset that strict providers take: they refuse least lengths."""
    return _without_lengths(form.model_json_schema())


def _without_lengths(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: _inner(value) for name, value in schema.items() if name != "minLength"}


def _inner(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _without_lengths(value)
    return [_inner(one) for one in value] if isinstance(value, list) else value


class UnreadableReplyError(Exception):
    """A reply that is not the form that was asked for."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_form(reply: str, form: type[Read]) -> Read:
    """
    The *form* in a reply, bare or in a ```json fence.

    Raises:
        UnreadableError: `invalid_json`, or `wrong_form` for JSON with other fields or types.
    """
    text = reply.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableReplyError(reason="invalid_json") from error
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise UnreadableReplyError(reason="wrong_form") from error
