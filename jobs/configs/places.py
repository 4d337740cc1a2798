"""The key of a file that an error of pydantic speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_OLDER = {"judges": "support_judges"}
"""Key -> the key of older files whose content is read as its."""


def place_in_file(place: Sequence[int | str], content: Any) -> str:
    """
    Return the key as it stands in *content*, with dots between its parts.

    Pydantic's places hold more than keys: after a component of several kinds comes its kind, and names of functions
    and types may stand between. The last part stays, since a missing key stands nowhere.
    """
    parts: list[str] = []
    here, told_kind = content, False
    for depth, part in enumerate(place):
        last = depth == len(place) - 1
        if isinstance(here, Mapping) and here.get("kind") == part and not told_kind:
            told_kind = True
            continue
        key = _key(place[depth:], here)
        if key is not None:
            parts.append(str(key))
            here, told_kind = here[key], False
        elif last:
            parts.append(str(part))
    return ".".join(parts) or "(top)"


def _key(rest: Sequence[int | str], here: Any) -> int | str | None:
    """Return the key of *here* that the first of *rest* speaks of; None if there is none."""
    part = rest[0]
    match here:
        case Mapping():
            older = here.get(_OLDER.get(str(part), ""))
            if isinstance(older, Mapping) and len(rest) > 1 and rest[1] in older:
                return _OLDER[str(part)]
            return part if part in here else None
        case list() if isinstance(part, int) and part < len(here):
            return part
        case _:
            return None
