"""Units of a summary, by which it is judged: its statements, or what a benchmark's release counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from longform.text.answers import VERSION, cited_sentences, statements
from longform.text.citations import Bullet, bullets
from longform.text.refusals import without_refusals

UnitKind = Literal["statements", "bullets", "sentences"]
"""Statements as `longform.text.answers` reads them; lines, as SummHay's release counts; or sentences of each line."""

VERSIONS: Mapping[UnitKind, str] = {"statements": VERSION, "bullets": "lines@1", "sentences": "sentences@2"}

READINGS: Mapping[UnitKind, str] = {
    "statements": "statements: sentences of prose, items of lists and rows of tables",
    "bullets": "bullets: every line that is not empty, as SummHay's release counts",
    "sentences": "sentences of each line",
}
"""The units in words, for people."""


def units_of(text: str, kind: UnitKind) -> list[Bullet]:
    """
    Return the units of a summary's text, in order.

    A refusal is no statement: it has no verdict, and covers nothing. Releases count them, so that bullets and sentences
    hold them.
    """
    if kind == "statements":
        return without_refusals(statements(text))
    return bullets(text) if kind == "bullets" else cited_sentences(text)


def lined(text: str, kind: UnitKind) -> str:
    """Return a text with the same statements, a line each; lines of a text that is split otherwise stay."""
    return "\n".join(f"- {unit.text}" for unit in statements(text)) if kind == "statements" else text


def versioned(version: str, kind: UnitKind) -> str:
    """Return the version of what is made of units; that of what counted lines and sentences stays as it was."""
    return f"{version}+{VERSION}" if kind == "statements" else version
