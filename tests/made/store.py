"""
Benchmarks and runs that tests only read: made once for all processes, and kept while the product stays as it is.

A folder stands under a hash of the product's files and one of the module that makes it, so that a change of either
makes it anew. LONGFORM_MADE names the place; without it, a folder of the machine's temporary files.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

PRODUCT = Path(__file__).parents[2]
_ROOMS = ("longform", "actors", "jobs")
_PRODUCTS_KEPT = 5
VECTORS = "vectors"
_MAKING: list[Path] = []
"""Folders under way in this process; a verb works in a thread of its own, which must see them too."""


class TamperedError(AssertionError):
    """A test wrote into a folder that others read."""


def made(name: str, make: Callable[[Path], object], *, product: Path = PRODUCT) -> Path:
    """
    Return the folder *name* as *make* filled it: here, in another process, or in an earlier call of pytest.

    Who writes into it takes a copy.

    Raises:
        TamperedError: A file in it is not as it was made.
    """
    folder = store(product) / f"{name}-{_digest([Path(sys.modules[make.__module__].__file__ or '')])}"
    done = folder.with_suffix(".json")
    with _alone(folder.with_suffix(".lock")):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            _MAKING.append(folder)
            try:
                make(folder)
            finally:
                _MAKING.pop()
            done.write_text(json.dumps(_files(folder)))
        elif (kept := json.loads(done.read_text())) != _files(folder):
            done.unlink()
            changed = sorted(dict(set(map(tuple, kept)) ^ set(map(tuple, _files(folder)))))
            raise TamperedError(f"{folder}: {', '.join(changed[:5])} changed since it was made; a test wrote there")
    return folder


def copied(folder: Path | str, to: Path) -> str:
    """Return a copy at *to* for who writes into it; without vectors, which another process may be writing."""
    return str(shutil.copytree(folder, to, ignore=shutil.ignore_patterns(VECTORS)))


def is_making() -> bool:
    """Return true while a folder is being made, which is to be as a user's."""
    return bool(_MAKING)


def _files(folder: Path) -> list[list[str]]:
    """Return each file's name, and its size and time of change; verbs may keep vectors beside a benchmark's texts."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and VECTORS not in path.parts)
    return [[str(path.relative_to(folder)), f"{(stat := path.stat()).st_size} {stat.st_mtime_ns}"] for path in found]


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@lru_cache
def store(product: Path) -> Path:
    """Return the folder of what the tree *product* made."""
    place = os.environ.get("LONGFORM_MADE") or f"{tempfile.gettempdir()}/longform-made-{os.getuid()}"
    sources = [path for room in _ROOMS for path in (product / room).rglob("*") if "__pycache__" not in path.parts]
    folder = Path(place) / _digest(sorted(path for path in sources if path.is_file()), product)
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    products = [path for path in folder.parent.iterdir() if not path.name.startswith("tree-")]
    for old in sorted(products, key=lambda path: path.stat().st_mtime)[:-_PRODUCTS_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _digest(files: list[Path], top: Path = PRODUCT) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(top)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
