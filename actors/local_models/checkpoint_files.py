"""
The files of a checkpoint: are they whole, and how do they come from S3?

A copy is made once for each machine and content, by one process, while the others wait; it has its name only when every
file has the size and the hash that S3 states.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from actors.storage.errors import storage_message
from actors.storage.folder import Folder
from actors.storage.primitives import open_s3
from longform.errors import UsageError

S3 = "s3://"
MARKERS = ("modules.json", "config.json")

_POINTER = b"version https://git-lfs"
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json")
_MD5_OF_PARTS = re.compile(r"([0-9a-f]{32})-(\d+)")
_MD5 = re.compile(r"[0-9a-f]{32}")
_BLOCK_BYTES = 1 << 20


class Stated(NamedTuple):
    """S3's statement of a file; the tag is the MD5 of its content, or of its parts' MD5s, unless S3 holds the keys."""

    size: int
    tag: str


def listed(url: str) -> dict[str, Stated]:
    """
    Return what S3 states of each name in the folder.

    Raises:
        UsageError: It cannot be listed, or holds no model.
    """
    bucket, prefix = _place(url)
    named = {key.removeprefix(prefix): stated for key, stated in _objects(url, bucket, prefix)}
    found = {name: stated for name, stated in named.items() if name and not name.endswith("/")}
    if not any(marker in found for marker in MARKERS):
        there = sorted(found)[:10] or "nothing"
        raise UsageError(f"model {url!r}: expected a folder with {' or '.join(MARKERS)} there; found {there}")
    return found


def stated_of(url: str) -> Stated:
    """
    Return S3's statement of one file.

    Raises:
        UsageError: It is not there, or cannot be asked for.
    """
    bucket, _, key = url.removeprefix(S3).partition("/")
    name, stated = next(_objects(url, bucket, key), ("", Stated(0, "")))  # names are listed in order
    if name != key:
        raise UsageError(f"model {url!r}: expected a file there, found none")
    return stated


def _objects(url: str, bucket: str, prefix: str) -> Iterator[tuple[str, Stated]]:
    """Yield the key of each object behind *prefix*, with what S3 states of it; *url* stands in messages."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        for page in open_s3().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            yield from ((one["Key"], Stated(one["Size"], one["ETag"].strip('"'))) for one in page.get("Contents", []))
    except (BotoCoreError, ClientError, ValueError) as error:
        raise UsageError(f"model: {storage_message(url, 'be listed', error)}") from error


def copy(url: str, content: Mapping[str, Stated], target: Path) -> None:
    """
    Copy the files and hold each against what S3 states.

    Raises:
        UsageError: One is not what S3 states; what can have gone wrong is said.
    """
    source = Folder(url)
    for name, stated in content.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        source.download(name, file)
        _check_copy(url, name, stated, file)


def _check_copy(url: str, name: str, stated: Stated, file: Path) -> None:
    size = file.stat().st_size
    if size != stated.size:
        msg = f"model {url!r}: expected {stated.size} bytes of {name}, came {size}; start again when its upload is over"
        raise UsageError(msg)
    tag = _md5(file) if _MD5.fullmatch(stated.tag) else None
    if tag == stated.tag or _tag_of_parts(url, name, stated, file) is not False:
        return
    msg = f"model {url!r}: {name} has not the content that S3 states ({stated.tag}); upload it anew, or start again"
    raise UsageError(msg)


def _tag_of_parts(url: str, name: str, stated: Stated, file: Path) -> bool | None:
    """Return whether the tag is made of the file's parts; None if S3 encrypts, so that the tag does not tell."""
    bucket, prefix = _place(url)
    first = open_s3().head_object(Bucket=bucket, Key=f"{prefix}{name}", PartNumber=1)
    if first.get("ServerSideEncryption", "").startswith("aws:kms"):
        return None
    if not (parts := _MD5_OF_PARTS.fullmatch(stated.tag)):
        return False
    size = max(1, first["ContentLength"])
    n_parts = -(-stated.size // size)
    return n_parts == int(parts[2]) and _md5_of_parts(file, size) == parts[1]


def _md5(file: Path) -> str:
    with file.open("rb") as stream:
        return str(hashlib.file_digest(stream, _new_md5).hexdigest())


def _md5_of_parts(file: Path, part_bytes: int) -> str:
    digests = b""
    with file.open("rb") as stream:
        for digest in _parts(stream, part_bytes):
            digests += digest
    return str(_new_md5(digests).hexdigest())


def _parts(stream: BinaryIO, part_bytes: int) -> Iterator[bytes]:
    while True:
        digest, left = _new_md5(), part_bytes
        while left and (block := stream.read(min(left, _BLOCK_BYTES))):
            digest.update(block)
            left -= len(block)
        if left == part_bytes:
            return
        yield digest.digest()


def _new_md5(content: bytes = b"") -> hashlib._Hash:
    return hashlib.md5(content, usedforsecurity=False)


def _place(url: str) -> tuple[str, str]:
    bucket, _, key = url.removeprefix(S3).rstrip("/").partition("/")
    return bucket, f"{key}/" if key else ""


# ---------------------------------------------------------------- whole or not at all


def appear(
    folder: Path, model: str, fill: Callable[[Path], None], *, check: Callable[[Path, str], None] | None = None
) -> None:
    """
    Fill a folder under another name, then rename it to *folder*; other processes of this machine wait for the first.

    *check* looks at the files before the folder has its name; None: `check_whole`.

    Raises:
        UsageError: It cannot be filled, or *check* does not pass.
    """
    with _alone(folder):
        if folder.is_dir():
            return  # the process that this one waited for has made it
        for left in folder.parent.glob(f"{folder.name}.*"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        try:
            fill(unfinished)
            (check or check_whole)(unfinished, model)
            unfinished.rename(folder)
        except OSError as error:
            raise UsageError(f"model {model!r}: cannot be copied to {folder}: {error}") from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process in at a time, for each folder; the system lets go of the lock of a process that dies."""
    locks = folder.parent / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / folder.name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check_whole(folder: Path, model: str) -> None:
    """
    Check the files without reading their weights: cut-off files and folders without a model are found in milliseconds.

    Raises:
        UsageError: A file is a pointer of Git LFS, one of JSON is none, weights are cut off, or there is no vocabulary:
            a model without its own would be loaded with an empty one, and make something of every text.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for file in files:
        if fault := _fault(file):
            raise UsageError(f"model {model!r}: {file.relative_to(folder)} {fault}; copy or upload the model anew")
    if not any(file.name in _VOCABULARIES or file.suffix == ".model" for file in files):
        msg = f"model {model!r}: expected its tokenizer's {', '.join(_VOCABULARIES)} or *.model, found none of them"
        raise UsageError(f"{msg}; copy or upload the model anew")


def _fault(file: Path) -> str | None:
    with file.open("rb") as stream:
        beginning = stream.read(len(_POINTER))
    if beginning == _POINTER:
        return "is a pointer of Git LFS and not the file (`git lfs pull` fetches it)"
    if file.suffix == ".json":
        return _json_fault(file)
    return _weights_fault(file) if file.suffix == ".safetensors" else None


def _json_fault(file: Path) -> str | None:
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        return f"is no JSON: {error}"
    wrong = file.name == "config.json" and not isinstance(found, dict)
    return f"is no JSON object, but of type {type(found).__name__}" if wrong else None


def _weights_fault(file: Path) -> str | None:
    """
    Return the fault of a safetensors file: 8 bytes with the header's length, the header with each tensor's end, the
    tensors.
    """
    size = file.stat().st_size
    if size < 8:
        return f"is cut off: the file has {size} bytes"
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 + length:
            return f"is cut off: expected a header of {length} bytes, and the file has {size}"
        try:
            header = json.loads(stream.read(length))
            ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        except (ValueError, AttributeError, KeyError, TypeError, IndexError) as error:
            return f"has no header of safetensors: {type(error).__name__}"
    expected = 8 + length + max(ends, default=0)
    return None if size == expected else f"is not whole: expected {expected} bytes, and the file has {size}"
