"""Prints for people: all text of a command goes through here."""

from __future__ import annotations

from typing import TextIO

from longform.text.visible import visible


def say(text: str, *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print *text*; control characters in it are shown and not obeyed. *file* is standard output unless it is named."""
    print(visible(text), file=file, flush=flush)
