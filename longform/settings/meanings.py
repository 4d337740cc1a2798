"""
The meanings of settings, as they stand beside them: the comment behind a field, else the text below it.

They are read from the source of the class, so that they stand in one place. Where no source is, there are no meanings.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel

_MARKUP = re.compile(r"\s+")
_COMMENT = re.compile(r"[^#]*#\s*(?!noqa|type:)(.*?)\s*")


@cache
def meanings(model: type[BaseModel]) -> Mapping[str, str]:
    """Return field -> its meaning in one line, for the fields of *model* and of its bases that have one."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if not base.__module__.startswith(("pydantic", "builtins")):
            found |= dict(_of_class(base))
    return {name: text for name, text in found.items() if name in model.model_fields}


def first_sentence(text: str | None) -> str | None:
    """Return the first sentence of a docstring, in one line; None if there is none."""
    if not text:
        return None
    paragraph = _MARKUP.sub(" ", dedent(text).strip().split("\n\n")[0]).strip()
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph)[0].rstrip(".")


def summary_of(model: type[object]) -> str | None:
    """Return the first sentence of the class's own docstring; None if it has none."""
    return first_sentence(model.__dict__.get("__doc__"))


def _of_class(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    try:
        source = dedent(inspect.getsource(model))
    except (OSError, TypeError):  # no source beside the code
        return
    lines = source.splitlines()
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef), "the source of a class is one class"
    for here, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        match here:
            case ast.AnnAssign(target=ast.Name(id=name), end_lineno=int(line), end_col_offset=int(column)):
                comment = _COMMENT.fullmatch(lines[line - 1].encode()[column:].decode())
                if text := comment[1] if comment else _text_below(after):
                    yield name, text


def _text_below(after: ast.stmt | None) -> str | None:
    match after:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return _MARKUP.sub(" ", text).strip()
    return None
