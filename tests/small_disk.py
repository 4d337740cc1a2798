"""
A small disk of our own, which fills up or turns read-only as real ones do.

A test module gets its fixture by `pytest_plugins = ["tests.small_disk"]`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


class SmallDisk:
    """A file system in memory at `folder`, mounted by root alone."""

    def __init__(self, folder: Path, kilobytes: int) -> None:
        self.folder = folder
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")

    def set(self, options: str) -> None:
        """Mount it anew: `ro`, `rw`, or `size=...k`."""
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.folder)], check=True)

    def unfinished(self) -> list[str]:
        """Return the unfinished files of a writer that did not end."""
        return [file.name for file in self.folder.rglob("*.tmp*")]

    def remove(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], SmallDisk]]:
    """Kilobytes -> a disk of that size."""
    made: list[SmallDisk] = []

    def make(kilobytes: int) -> SmallDisk:
        made.append(SmallDisk(tmp_path / f"disk{len(made)}", kilobytes))
        return made[-1]

    yield make
    for disk in made:
        disk.remove()
