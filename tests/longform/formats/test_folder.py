"""A folder's files are read together, and those that cannot be read are named together."""

from __future__ import annotations

import errno

import pytest

from longform.errors import UsageError
from longform.formats.own_files import folder_files
from tests.longform.formats.memory_files import MemoryFile, memory


class Refused(MemoryFile):
    def read(self) -> bytes:
        raise PermissionError(errno.EACCES, "Failed to open local file")


def test_a_file_that_may_not_be_read_is_named_beside_others_without_text() -> None:
    files = {"a.txt": memory("a.txt", "Rain."), "b.txt": Refused("b.txt", b""), "c.md": memory("c.md", "")}

    with pytest.raises(UsageError) as error:
        folder_files({"notes": files}, queries=[memory("q.txt", "What?")])
    assert "2 of 3 files" in str(error.value)
    assert "b.txt: it cannot be read (Permission denied)" in str(error.value)
    assert "c.md: the file is empty" in str(error.value)


def test_the_source_depends_on_paths_and_contents() -> None:
    def source(path: str, text: str) -> str:
        found = folder_files({"notes": {path: memory(path, text)}}, queries=[memory("q.txt", "What?")])
        return found.files[0].identity()["sha256"]

    assert source("a.txt", "Rain.") == source("a.txt", "Rain.")
    assert len({source("a.txt", "Rain."), source("b.txt", "Rain."), source("a.txt", "Sun.")}) == 3
