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
            case ast.AnnAssign(target=ast.Name(id=name)):
                if text := _comment(lines, here) or _text_below(after):
                    yield name, text


def _comment(lines: list[str], field: ast.AnnAssign) -> str | None:
    assert field.end_lineno is not None, "nodes of parsed source have an end"
    rest = lines[field.end_lineno - 1].encode()[field.end_col_offset :].decode()
    _, mark, text = rest.partition("#")
    return text.strip() if mark and not text.lstrip().startswith(("noqa", "type:")) else None


def _text_below(after: ast.stmt | None) -> str | None:
    match after:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return _MARKUP.sub(" ", text).strip()
    return None
