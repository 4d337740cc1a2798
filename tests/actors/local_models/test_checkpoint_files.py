"""A checkpoint is copied whole, once, and held against what S3 states of it."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from contextlib import suppress
from hashlib import md5
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any

import pytest

from actors.local_models import checkpoint_files
from actors.local_models.checkpoint_files import Stated, appear, check_whole, copy
from actors.local_models.checkpoints import CACHE_ENV, checkpoint_path
from actors.retrieval.reranker import CrossEncoderModel
from actors.storage.folder import Folder
from longform.errors import UsageError

pytest_plugins = ["tests.s3_server"]

N_PROCESSES = 2


def safetensors(n_bytes: int, *, stated: int | None = None) -> bytes:
    header = {"weight": {"dtype": "U8", "shape": [n_bytes], "data_offsets": [0, stated or n_bytes]}}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"\x01" * n_bytes


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("model.safetensors", safetensors(10, stated=99), "is not whole: expected .* bytes"),
        ("model.safetensors", safetensors(10)[:20], "is cut off"),
        ("model.safetensors", b"\x02" + b"\0" * 7 + b"no", "has no header of safetensors"),
        ("model.safetensors", b"", "is cut off"),
        ("sub/model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid x", "is a pointer of Git LFS"),
        ("config.json", b"{", "is no JSON"),
        ("config.json", b"[]", "is no JSON object, but of type list"),
        ("sub/tokenizer.json", b"{]", "is no JSON"),
    ],
)
def test_files_that_are_not_whole_are_named_with_the_reason(
    name: str, content: bytes, fault: str, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / name).write_bytes(content)

    with pytest.raises(UsageError, match=f"model 'mine': {name} {fault}"):
        check_whole(tmp_path, "mine")


@pytest.mark.parametrize("vocabulary", ["vocab.txt", "sub/tokenizer.json", "spiece.model"])
def test_whole_files_pass(vocabulary: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(safetensors(10))
    with pytest.raises(UsageError, match=r"model 'mine': expected its tokenizer's .* found none of them"):
        check_whole(tmp_path, "mine")
    (tmp_path / vocabulary).write_text("{}")
    check_whole(tmp_path, "mine")


def test_damaged_reranker_fails_with_the_reason(tmp_path: Path, save_cross_encoder: Callable[..., str]) -> None:
    folder = Path(save_cross_encoder(tmp_path / "model", n_labels=1))
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])

    with pytest.raises(UsageError, match=r"model.safetensors is not whole"):
        CrossEncoderModel(str(folder), threads=1)


def test_folder_that_cannot_be_filled_is_not_there_afterwards(tmp_path: Path) -> None:
    def fill(unfinished: Path) -> None:
        (unfinished / "config.json").write_text("cut o")

    with pytest.raises(UsageError, match="is no JSON"):
        appear(tmp_path / "abc", "mine", fill)
    assert {path.name for path in tmp_path.iterdir()} == {"locks"}


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "abc.left").mkdir()
    (tmp_path / "abcdef.other").mkdir()
    appear(tmp_path / "abc", "mine", lambda unfinished: (unfinished / "vocab.txt").touch())
    assert {path.name for path in tmp_path.iterdir()} == {"abc", "abcdef.other", "locks"}


CONTENT = b"0123456789" * 100
PARTS = [md5(CONTENT[start : start + 400]).digest() for start in range(0, 1000, 400)]
TAGS = {
    "whole": md5(CONTENT).hexdigest(),
    "parts": f"{md5(b''.join(PARTS)).hexdigest()}-{len(PARTS)}",
    "other": md5(b"other").hexdigest(),
    "other parts": f"{md5(b'other').hexdigest()}-{len(PARTS)}",
}


class Source:
    """A folder on S3 whose files have one content."""

    def __init__(self, url: str) -> None:
        self.url = url

    def download(self, name: str, target: Path) -> None:
        target.write_bytes(CONTENT)


@pytest.fixture
def s3_says(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """S3's answers about the first part of a file."""
    answer: dict[str, Any] = {"ContentLength": 400, "ServerSideEncryption": "AES256"}

    class Client:
        def head_object(self, **asked: Any) -> dict[str, Any]:
            assert asked == {"Bucket": "bucket", "Key": "model/weights", "PartNumber": 1}
            return answer

    monkeypatch.setattr(checkpoint_files, "Folder", Source)
    monkeypatch.setattr(checkpoint_files, "open_s3", Client)
    return answer


@pytest.mark.parametrize("tag", ["whole", "parts"])
def test_copy_with_the_hash_that_s3_states_passes(tag: str, s3_says: dict[str, Any], tmp_path: Path) -> None:
    copy("s3://bucket/model", {"weights": Stated(1000, TAGS[tag])}, tmp_path)
    assert (tmp_path / "weights").read_bytes() == CONTENT


@pytest.mark.parametrize(("tag", "part_bytes"), [("other", 1000), ("other parts", 400), ("parts", 500)])
def test_copy_with_another_hash_is_refused(tag: str, part_bytes: int, s3_says: dict[str, Any], tmp_path: Path) -> None:
    s3_says["ContentLength"] = part_bytes
    with pytest.raises(UsageError, match="weights has not the content that S3 states"):
        copy("s3://bucket/model", {"weights": Stated(1000, TAGS[tag])}, tmp_path)


def test_tag_of_a_file_that_s3_encrypts_says_nothing_of_its_content(s3_says: dict[str, Any], tmp_path: Path) -> None:
    s3_says["ServerSideEncryption"] = "aws:kms"
    copy("s3://bucket/model", {"weights": Stated(1000, TAGS["other"])}, tmp_path)


def test_copy_of_another_size_is_refused(s3_says: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected 999 bytes of weights, came 1000"):
        copy("s3://bucket/model", {"weights": Stated(999, TAGS["whole"])}, tmp_path)


# ---------------------------------------------------------------- two processes


def want(url: str, met: Barrier, started: Barrier, log: str) -> None:
    """Wants the checkpoint at the same time as the others; a download waits for another one to begin."""
    download = Folder.download

    def noted(folder: Folder, name: str, target: Path) -> None:
        with Path(log).open("a") as lines:
            lines.write(f"{name}\n")
        with suppress(BrokenBarrierError):
            met.wait(timeout=2)  # for a second process that downloads, too
        download(folder, name, target)

    Folder.download = noted  # type: ignore[method-assign]
    started.wait(timeout=300)
    path = Path(checkpoint_path(url))
    assert (path / "model.safetensors").read_bytes() == safetensors(100_000)


@pytest.mark.slow
def test_of_two_processes_that_want_a_checkpoint_one_downloads_it(
    s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_ENV, str(tmp_path / "cache"))  # also of the processes
    folder = Folder(f"{s3_url}/checker")
    folder.write_bytes("config.json", b"{}")
    folder.write_bytes("model.safetensors", safetensors(100_000))
    folder.write_bytes("vocab.txt", b"a")
    spawning = multiprocessing.get_context("spawn")
    met, started = spawning.Barrier(N_PROCESSES), spawning.Barrier(N_PROCESSES)
    given = (folder.url, met, started, str(tmp_path / "log"))
    processes = [spawning.Process(target=want, args=given) for _ in range(N_PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0] * N_PROCESSES
    assert sorted((tmp_path / "log").read_text().split()) == ["config.json", "model.safetensors", "vocab.txt"]
