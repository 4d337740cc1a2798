"""Files of this machine, plain and packed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from jobs.files.located_file import LocatedFile
from longform.errors import InputError


def located(path: Path, content: bytes) -> LocatedFile:
    path.write_bytes(content)
    return LocatedFile(str(path), path.name)


@pytest.mark.parametrize("packed", [False, True])
def test_content_and_lines_are_the_same_plain_and_packed(tmp_path: Path, *, packed: bool) -> None:
    content = b"one\ntwo\r\nthree\rfour"
    file = located(tmp_path / "a", gzip.compress(content) if packed else content)

    assert file.read() == content
    assert b"".join(file.lines()) == content
    assert [line.strip() for line in file.lines()] == [b"one", b"two", b"three", b"four"]


@pytest.mark.parametrize("damage", [lambda packed: packed[:-9], lambda packed: packed[:12] + b"xx" + packed[14:]])
def test_a_damaged_gzip_file_is_named(tmp_path: Path, damage) -> None:
    file = located(tmp_path / "a.gz", damage(gzip.compress(bytes(range(256)) * 9)))

    for reading in (file.read, lambda: list(file.lines())):
        with pytest.raises(InputError, match=r"a\.gz: .*a whole gzip file, found a cut or damaged one"):
            reading()


def test_a_bomb_is_not_unfolded(tmp_path: Path) -> None:
    packed = gzip.compress(b" " * 2**20, mtime=0) * 300  # members follow each other
    file = located(tmp_path / "a.gz", packed)

    with pytest.raises(InputError, match="at most 256 MB unpacked"):
        file.read()
