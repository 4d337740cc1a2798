"""Packed files are counted as they unfold."""

from __future__ import annotations

import io

import pytest

from longform.errors import InputError
from longform.formats.files import UnfoldedBytes

MB = 2**20


def test_a_file_may_unfold_a_hundredfold_and_small_ones_more() -> None:
    UnfoldedBytes("a.gz", 1_000).add(256 * MB)
    UnfoldedBytes("a.gz", 10 * MB).add(1000 * MB)
    with pytest.raises(InputError, match=r"a\.gz: .*at most 256 MB unpacked, found more; if that is right, unpack it"):
        UnfoldedBytes("a.gz", 1_000).add(256 * MB + 1)


def test_lines_count_together() -> None:
    unfolded = UnfoldedBytes("a.gz", 1_000)
    unfolded.add(256 * MB - 4)
    found = unfolded.lines(io.BytesIO(b"a\nb\nc\n"))

    assert [next(found), next(found)] == [b"a\n", b"b\n"]
    with pytest.raises(InputError, match="unpacked"):
        next(found)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_end_as_any_system_ends_them(end: bytes) -> None:
    found = UnfoldedBytes("a", 0).lines(io.BytesIO(end.join((b"a", b"b", b"c"))))
    assert [line.strip() for line in found] == [b"a", b"b", b"c"]
