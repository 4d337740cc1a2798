"""A benchmark is what its last writer wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.storage.benchmark import MANIFEST, Benchmark
from actors.storage.folder import Folder
from jobs.files.write_benchmark import HaystackRows, write_benchmark
from longform.records import Document, Query


def haystack(name: str) -> HaystackRows:
    document = Document(f"{name}-d", name, 0, None, "Text.")
    query = Query(f"{name}-q", name, "What?")
    return HaystackRows(name, [document], [query], targets=[], qrels=[], rankings=[], summaries=[], labels=[])


def test_writer_that_died_before_its_manifest_leaves_no_row(tmp_path: Path) -> None:
    """Also if the next writer has other sources."""
    write_benchmark(str(tmp_path), [haystack("old")], sources=[])
    (tmp_path / MANIFEST).unlink()

    write_benchmark(str(tmp_path), [haystack("new")], sources=[])

    assert Benchmark(str(tmp_path)).haystack_ids == ["new"]
    assert Folder(str(tmp_path)).locate("documents").keys() == {"new#0"}


def test_table_of_many_haystacks_has_one_commit(tmp_path: Path) -> None:
    write_benchmark(str(tmp_path), map(haystack, map(str, range(40))), sources=[])

    assert len(Folder(str(tmp_path)).names("queries/_commits")) == 1
    assert Benchmark(str(tmp_path)).haystack_ids == [str(number) for number in range(40)]


def test_input_that_is_malformed_half_way_leaves_nothing(tmp_path: Path) -> None:
    def read() -> Iterator[HaystackRows]:
        yield haystack("first")
        raise ValueError("line 2")

    with pytest.raises(ValueError, match="line 2"):
        write_benchmark(str(tmp_path / "new"), read(), sources=[])

    assert not (tmp_path / "new").exists()
    assert not Folder(str(tmp_path / "new")).has(MANIFEST)
