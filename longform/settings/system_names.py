"""Names of systems: how a report calls them, and how a configuration points at one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from longform.errors import UsageError
from longform.nearest import meant

_SHOWN = 12  # names in an error


class SystemName(NamedTuple):
    """A system as the report names it."""

    summarizer: str
    setting: str

    def __str__(self) -> str:
        return f"{self.summarizer}, {self.setting}"


def named_system(wanted: str, systems: Iterable[SystemName], *, asked: str = "compare_with") -> SystemName:
    """
    Return the system that *wanted* names: by "summarizer, setting", or by one of both if that names a single system.

    *asked* is the key or option that names it.

    Raises:
        UsageError: None, or several.
    """
    known = list(dict.fromkeys(systems))
    found = [name for name in known if str(name) == wanted] or [name for name in known if wanted in name]
    if len(found) == 1:
        return found[0]
    if found:
        told = f"{len(found)} systems are called so: {_listed(found)}"
    else:
        near = meant(wanted, [part for name in known for part in (str(name), *name)])
        told = f"found no such system{near or '.'} Systems: {_listed(known)}"
    raise UsageError(f"{asked}: expected one system as 'SUMMARIZER, SETTING', found {wanted!r}: {told}")


def named_pair(words: str, sides: Sequence[Sequence[SystemName]], expected: str) -> tuple[SystemName, SystemName]:
    """
    Return the systems that `A=B` names, one of each side.

    Raises:
        UsageError: These are no two names, or no such systems.
    """
    first, equals, second = (part.strip() for part in words.partition("="))
    if not equals or not first or not second:
        raise UsageError(f"--systems: expected A=B, {expected}, found {words!r}")
    return named_system(first, sides[0], asked="--systems"), named_system(second, sides[1], asked="--systems")


def _listed(names: Sequence[SystemName]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return "; ".join(map(str, names[:_SHOWN])) + more
