"""Vectors that are kept beside a benchmark: read by all, written by whoever embeds first, whatever happens to it."""

from __future__ import annotations

import hashlib
import logging
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from actors.local_models import vector_table
from actors.local_models.vector_table import (
    VectorsPlace,
    VectorTable,
    keys_of,
    open_shard,
    shard_bytes,
    vectors_bytes,
    vectors_fault,
)

pytest_plugins = ["tests.s3_server"]

DIMENSIONS = 8
MOST = 1_000_000


def vectors(texts: Sequence[str]) -> np.ndarray:
    """Return what a small encoder would make of texts, shape (texts, 8), float16."""
    drawn = [np.frombuffer(hashlib.sha256(text.encode()).digest()[:DIMENSIONS], dtype=np.uint8) for text in texts]
    return np.stack(drawn).astype(np.float16)


def table(bench: Path | str, *, max_bytes: int = MOST, cache: Path = Path("/nowhere")) -> VectorTable:
    return VectorTable(VectorsPlace(str(bench), max_bytes), "model", cache=cache)


def holds(found: VectorTable, texts: Sequence[str]) -> list[str]:
    """Return which of *texts* are there, each with its own vector."""
    there = found.find(texts)
    for text, vector in there.items():
        assert vector.tolist() == vectors([text])[0].tolist(), text
    return sorted(there)


def filled(bench: Path | str, texts: Sequence[str], **how: Path) -> VectorTable:
    made = table(bench, **how)
    made.add(texts, vectors(texts))
    made.save(all_of_them=True)
    return made


def shards(bench: Path) -> list[Path]:
    return sorted(bench.glob("vectors/model/*.vectors"))


def test_one_process_writes_and_the_next_one_reads(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(300)]
    first = filled(tmp_path, texts)
    assert holds(first, texts) == sorted(texts)
    second = table(tmp_path)
    assert holds(second, [*texts, "new"]) == sorted(texts)
    assert second.dimensions == DIMENSIONS
    assert len(shards(tmp_path)) == 1


def test_what_waits_is_found_before_it_is_written(tmp_path: Path) -> None:
    made = table(tmp_path)
    made.add(["a"], vectors(["a"]))
    assert holds(made, ["a", "b"]) == ["a"]
    assert not shards(tmp_path)


def test_shards_of_others_are_looked_for_when_many_texts_are_missing(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(100)]
    early = table(tmp_path)
    assert holds(early, texts) == []
    filled(tmp_path, texts)
    assert holds(early, texts) == sorted(texts)


def test_nothing_is_written_twice(tmp_path: Path) -> None:
    late = table(tmp_path)
    late.add(["a", "b"], vectors(["a", "b"]))
    filled(tmp_path, ["a", "c"])
    late.save(all_of_them=True)
    assert sorted(len(open_shard(shard).keys) for shard in shards(tmp_path)) == [1, 2]
    late.add(["c"], vectors(["c"]))
    late.save(all_of_them=True)
    assert len(shards(tmp_path)) == 2


def test_the_number_of_shards_grows_slower_than_the_texts(tmp_path: Path) -> None:
    """A task of eight queries leaves sixteen texts; a file for each task would be too many."""
    made = table(tmp_path)
    for task in range(200):
        texts = [f"text {task} {number}" for number in range(16)]
        made.add(texts, vectors(texts))
        made.save(all_of_them=False)
    made.save(all_of_them=True)
    assert len(shards(tmp_path)) < 40
    assert holds(table(tmp_path), ["text 0 0", "text 199 15"]) == ["text 0 0", "text 199 15"]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda content: content[: len(content) // 2], id="cut-off"),
        pytest.param(lambda content: content[:10], id="without-a-head"),
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: content[:-2] + b"\0\0", id="with-a-hole"),
        pytest.param(lambda content: b"PAR1" + content[4:], id="foreign"),
    ],
)
def test_a_spoilt_shard_is_left_out_and_the_log_says_so(
    spoil, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(tmp_path, ["a"])
    filled(tmp_path, ["b"])
    spoilt = next(shard for shard in shards(tmp_path) if keys_of(["a"])[0] in open_shard(shard).keys)
    spoilt.write_bytes(spoil(spoilt.read_bytes()))
    with caplog.at_level(logging.WARNING):
        found = table(tmp_path)
    assert holds(found, ["a", "b"]) == ["b"]
    assert [record.getMessage() for record in caplog.records if f"{spoilt.name} is left out" in record.getMessage()]
    found.add(["a"], vectors(["a"]))
    found.save(all_of_them=True)
    assert holds(table(tmp_path), ["a", "b"]) == ["a", "b"]


def test_a_shard_of_other_dimensions_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "vectors" / "model"
    folder.mkdir(parents=True)
    (folder / "0.vectors").write_bytes(shard_bytes(keys_of(["a"]), vectors(["a"])))
    (folder / "1.vectors").write_bytes(shard_bytes(keys_of(["b"]), vectors(["b"])[:, :4]))
    assert holds(table(tmp_path), ["a", "b"]) == ["a"]


def test_a_full_table_keeps_no_more_and_is_read_still(tmp_path: Path) -> None:
    made = table(tmp_path, max_bytes=1500)
    for text in map(str, range(100)):
        made.add([text], vectors([text]))
        made.save(all_of_them=True)
    assert 1000 < vectors_bytes(str(tmp_path)) <= 1500
    assert holds(table(tmp_path), ["0", "99"]) == ["0"]


def test_a_place_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("a file where the folder would be")
    made = table(tmp_path)
    made.add(["a"], vectors(["a"]))
    made.save(all_of_them=True)
    assert holds(made, ["a"]) == []
    assert "vectors" in (vectors_fault(VectorsPlace(str(tmp_path), MOST)) or "")


def test_a_place_that_can_be_written_has_no_fault(tmp_path: Path) -> None:
    place = VectorsPlace(str(tmp_path), MOST)
    assert vectors_fault(place) is None
    assert vectors_fault(place) is None  # the second command, too
    assert vectors_bytes(str(tmp_path)) == 0


def test_a_text_that_is_no_unicode_has_a_key() -> None:
    assert len(keys_of(["lone \ud800 half", "b"])) == 2


# ---------------------------------------------------------------- several processes

_WRITER = """
import sys
from tests.actors.local_models.test_vector_table import table, vectors
made = table(sys.argv[1])
for task in range(int(sys.argv[3])):
    texts = [f"{sys.argv[2]} {task} {number}" for number in range(50)] + [f"both {task}"]
    made.add(texts, vectors(texts))
    made.save(all_of_them=True)
    print(task, flush=True)
"""


def writer(bench: Path, name: str, n_tasks: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(bench), name, str(n_tasks)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_write_at_once_and_one_is_killed(tmp_path: Path) -> None:
    """All that each of them said it wrote is there, and nothing wrong."""
    killed, whole = writer(tmp_path, "killed", 10_000), writer(tmp_path, "whole", 5)
    assert killed.stdout is not None
    assert [killed.stdout.readline() for _ in range(3)] == ["0\n", "1\n", "2\n"]
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert whole.communicate()[0].split() == ["0", "1", "2", "3", "4"]
    found = table(tmp_path)
    asked = [f"{name} {task} {number}" for name in ("killed", "whole") for task in range(3) for number in range(50)]
    assert holds(found, asked) == sorted(asked)
    assert holds(found, [f"both {task}" for task in range(5)]) == [f"both {task}" for task in range(5)]


# ---------------------------------------------------------------- on S3


@pytest.mark.slow
def test_on_s3_shards_are_copied_once_and_mapped(s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text {number}" for number in range(100)]
    filled(s3_url, texts, cache=tmp_path / "writer")
    fetched: list[str] = []
    download = vector_table.Folder.download

    def counted(folder: vector_table.Folder, name: str, target: Path) -> None:
        fetched.append(name)
        download(folder, name, target)

    monkeypatch.setattr(vector_table.Folder, "download", counted)
    assert vectors_fault(VectorsPlace(s3_url, MOST)) is None
    for _ in range(2):
        assert holds(table(s3_url, cache=tmp_path / "reader"), texts) == sorted(texts)
    assert len(fetched) == 1
    assert sum(name.endswith(".vectors") for name in vector_table.Folder(s3_url).sizes("vectors")) == 1


@pytest.mark.slow
def test_copies_of_shards_that_s3_has_no_more_are_removed(s3_url: str, tmp_path: Path) -> None:
    filled(s3_url, ["a"], cache=tmp_path)
    assert len(list(tmp_path.glob("*/*.vectors"))) == 1
    vector_table.Folder(f"{s3_url}/vectors").delete_table("model")
    assert holds(table(s3_url, cache=tmp_path), ["a"]) == []
    assert not list(tmp_path.glob("*/*.vectors"))
