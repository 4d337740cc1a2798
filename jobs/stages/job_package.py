"""The working folder that a submitted job brought to the cluster, and what to say if it is large."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

LARGE_BYTES = 20_000_000  # the code is under 13 MB; every node fetches and unpacks the whole package
_NAMED = 3


def large_package(runtime_env: Any, folder: Path) -> str | None:
    """Return the words for a job whose package, unpacked in *folder*, is large; None for another job or process."""
    if not runtime_env.get("working_dir"):
        return None
    sizes = _sizes(folder)
    total = sum(sizes.values())
    if total <= LARGE_BYTES:
        return None
    largest = ", ".join(f"{name} {_megabytes(size)}" for name, size in sizes.most_common(_NAMED))
    return (
        f"the package of this job is {_megabytes(total)} unpacked, and every node fetches it; the largest in it: "
        f"{largest}. Keep what is not code on s3://, or name it in .rayignore"
    )


def _sizes(folder: Path) -> Counter[str]:
    """
    Return the bytes of each entry of *folder*, with all that stands below it, less what Python has compiled since.

    Other processes of the node use the same folder: a file that goes meanwhile counts nothing.
    """
    sizes: Counter[str] = Counter()
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for path in (Path(place, name) for name in files):
            with suppress(FileNotFoundError):
                sizes[path.relative_to(folder).parts[0]] += path.lstat().st_size
    return sizes


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
