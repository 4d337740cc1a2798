"""The known name that is most like one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'X'?` with the one of *known* that is most like *name*; empty if none is like it."""
    near = get_close_matches(name, list(dict.fromkeys(known)), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
