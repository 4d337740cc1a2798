"""Finds the packages that are installed beside this one, whatever folder Python was started in."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

HALLS = ("actors", "jobs", "serve")
"""Top-level packages of the project besides `longform`; their names are those of many other folders."""

ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds all of them."""


def hold_halls() -> None:
    """
    Make sure that `import jobs` means the project's package, also in a folder with a `jobs/` of its own.

    `python -m longform` and interactive sessions look into the current folder first.

    Raises:
        ImportError: Another package of such a name is imported already, or ours is not installed.
    """
    for name in HALLS:
        hold_hall(name)


def hold_hall(name: str) -> None:
    """Do the same for one package."""
    found = sys.modules.get(name)
    if found is None:
        _import(name)
    elif not _is_ours(list(getattr(found, "__path__", []))):
        place = getattr(found, "__file__", None) or list(getattr(found, "__path__", []))
        raise ImportError(
            f"expected the package {name!r} of longform in {ROOT}, found {place}, which was imported before; "
            "import longform first, or rename that package"
        )


def _is_ours(places: list[str]) -> bool:
    return any(Path(place).resolve().parent == ROOT for place in places)


def _import(name: str) -> None:
    spec = PathFinder.find_spec(name, [str(ROOT)])
    if spec is None or spec.loader is None:
        raise ImportError(f"expected the package {name!r} in {ROOT}, found none; install longform again")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
