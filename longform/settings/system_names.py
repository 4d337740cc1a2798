"""Names of systems: how a report calls them, and how a configuration points at one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from longform.errors import UsageError, meant

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


def _listed(names: Sequence[SystemName]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return "; ".join(map(str, names[:_SHOWN])) + more
