"""
The prompts: one Markdown file each, our own wording of the papers' tasks.

A file is a TOML header between two `+++` lines and a text with `{{field}}` in it:

    source   the origin of the task
    changes  how our wording differs
    fields   the names of all fields of the text
    answers  the labels on offer, if the prompt asks for one
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pydantic import BaseModel, ValidationError

from longform.errors import UsageError

_FILE = re.compile(r"\+\+\+\n(.*?)\n\+\+\+\n(.*)", re.DOTALL)
_FIELD = re.compile(r"\{\{(\w+)\}\}")


class _Header(BaseModel, extra="forbid"):
    source: str
    changes: str
    fields: list[str]
    answers: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A text with fields. `version` is name@digest of the whole file: a changed prompt is a changed number."""

    name: str
    version: str
    source: str
    changes: str
    fields: frozenset[str]
    answers: tuple[str, ...]
    text: str

    def render(self, **values: object) -> str:
        """
        The text with every field filled, in one pass: a value that contains `{{query}}` keeps it as it stands.

        Raises:
            ValueError: The names given are not exactly the fields.
        """
        if values.keys() != self.fields:
            raise ValueError(f"prompt {self.name} takes {sorted(self.fields)}, got {sorted(values)}")
        return _FIELD.sub(lambda match: str(values[match[1]]), self.text)


@cache
def prompt_names() -> list[str]:
    """The names of the prompts that ship, sorted."""
    files = (file.name for file in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".md") for name in files if name.endswith(".md"))


def load_prompt(name: str, replacement: str | None = None) -> Prompt:
    """
    The prompt called *name*: ours, or the file content *replacement* in its place.

    A replacement of none of ours is a prompt of a user's own kind.

    Raises:
        UsageError: No prompt has this name, or the replacement is no prompt file or has other fields than ours.
    """
    if name not in prompt_names():
        if replacement is not None:
            return parse_prompt(name, replacement)
        raise UsageError(f"no prompt is called {name!r}; there are {prompt_names()}")
    own = parse_prompt(name, (resources.files(__name__) / f"{name}.md").read_text("utf-8"))
    if replacement is None:
        return own
    replaced = parse_prompt(name, replacement)
    if replaced.fields != own.fields:
        msg = f"prompt file {name}.md: expected the fields {sorted(own.fields)}, found {sorted(replaced.fields)}"
        raise UsageError(msg)
    return replaced


@cache
def parse_prompt(name: str, content: str) -> Prompt:
    """
    A prompt from the content of its file.

    Raises:
        UsageError: The header is missing, is no TOML, lacks a key or has an unknown one, or does not name the text's
            fields.
    """
    content = content.replace("\r\n", "\n")
    header, text = _parted(name, content)
    fields = frozenset(header.fields)
    if fields != (written := frozenset(_FIELD.findall(text))):
        msg = f"prompt file {name}.md: the header names the fields {sorted(fields)}, the text has {sorted(written)}"
        raise UsageError(msg)
    return Prompt(
        name=name,
        version=f"{name}@{hashlib.sha256(content.encode()).hexdigest()[:8]}",
        source=header.source,
        changes=header.changes,
        fields=fields,
        answers=tuple(header.answers),
        text=text.strip() + "\n",
    )


def _parted(name: str, content: str) -> tuple[_Header, str]:
    found = _FILE.fullmatch(content)
    if found is None:
        raise UsageError(f"prompt file {name}.md: expected a TOML header between two lines `+++`, then the text")
    try:
        header = tomllib.loads(found[1])
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"prompt file {name}.md: the header is no TOML: {error}") from error
    try:
        return _Header.model_validate(header), found[2]
    except ValidationError as error:
        keys = {str(one["loc"][0]): one["type"] == "missing" for one in error.errors()}
        missing, wrong = (sorted(key for key, lacks in keys.items() if lacks is which) for which in (True, False))
        msg = f"prompt file {name}.md: header keys missing {missing}, unknown or of a wrong type {wrong}"
        raise UsageError(msg) from error
