"""Files in memory, as readers of formats are given them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple


class MemoryFile(NamedTuple):
    path: str
    content: bytes

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    def read(self) -> bytes:
        return self.content

    def lines(self) -> Iterator[bytes]:
        yield from self.content.splitlines(keepends=True)

    def identity(self) -> dict[str, str]:
        return {"name": self.name, "sha256": hashlib.sha256(self.content).hexdigest()}


def memory(path: str, text: str) -> MemoryFile:
    return MemoryFile(path, text.encode())
