"""The tables of vectors beside a benchmark, as a command keeps them and tells of them."""

from __future__ import annotations

import argparse
import sys
from types import TracebackType
from typing import Self

from actors.local_models.vector_table import (
    FOLDER,
    VectorsPlace,
    forget_tables,
    megabytes,
    use_vectors,
    vectors_bytes,
    vectors_fault,
)
from actors.terminal import say


class Vectors:
    """Keeps vectors beside a benchmark while a command runs; its end writes those that wait, and says their number."""

    def __init__(self, bench_url: str, max_bytes: int) -> None:
        self.place = VectorsPlace(bench_url, max_bytes)
        self._asked = self._faulty = False

    def ready(self) -> None:
        """Say once if they cannot be written; the command goes on without."""
        if not self._asked:
            self._asked = True
            if fault := vectors_fault(self.place):
                self._faulty = True
                say(f"vectors: {fault}; each process embeds its texts itself (--no-vectors)", file=sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        use_vectors(None)
        forget_tables()
        if self._asked and not self._faulty and kind is None:
            held, most = vectors_bytes(self.place.bench), megabytes(self.place.max_bytes)
            where = f"{self.place.bench.rstrip('/')}/{FOLDER}"
            say(f"vectors: {megabytes(held)} in {where} (at most {most} an encoder)", file=sys.stderr)


def vectors_of(arguments: argparse.Namespace, bench_url: str) -> Vectors | None:
    """Return the vectors that the command keeps; None if it is to keep none."""
    return None if arguments.no_vectors else Vectors(bench_url, arguments.vectors_mb * 1_000_000)
