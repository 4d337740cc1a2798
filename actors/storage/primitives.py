"""Files of this machine and objects of S3, where pyarrow cannot do it, or not as fast or as safely."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from longform.errors import UsageError

_S3_ATTEMPTS = 6  # of one request, with pauses that double up to 20 s in between (botocore's standard mode)
_S3_WAIT_S = 20.0  # for an answer; what is created is small

# ---------------------------------------------------------------- this machine


def local_names(path: str) -> Iterator[str]:
    """Give the names of the files in a folder, without asking the disk about each of them."""
    with suppress(FileNotFoundError), os.scandir(path) as found:
        yield from (entry.name for entry in found if entry.is_file())


def sync(path: str | Path) -> None:
    """Make what was written to a file, or the names in a folder, outlive a loss of power."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def create_locally(path: Path, content: bytes) -> bool:
    """Put a file whole and durably unless one of that name is there, and return whether it was put."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with unfinished.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(unfinished, path)  # unlike a rename it fails if the name is taken
    except FileExistsError:
        return False
    finally:
        unfinished.unlink(missing_ok=True)
    sync(path.parent)
    return True


def names_below(root: str) -> Iterator[str]:
    """
    Yield the paths of files below a folder, relative to it.

    A link to a folder above it is passed over, since it would lead round for ever.

    Raises:
        UsageError: A folder cannot be read.
    """
    yield from _names(root, "", (os.path.realpath(root),))


def _names(folder: str, below: str, entered: tuple[str, ...]) -> Iterator[str]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(f"{folder}: the folder cannot be read ({error.strerror}); mend its rights") from error
    for entry in found:
        if entry.is_dir():
            real = os.path.realpath(entry.path)
            if not any(Path(one).is_relative_to(real) for one in entered):
                yield from _names(entry.path, f"{below}{entry.name}/", (*entered, real))
        elif entry.is_file() or entry.is_symlink():  # no socket or pipe; a broken link is told when it is read
            yield f"{below}{entry.name}"


# ---------------------------------------------------------------- S3


def open_s3() -> Any:
    import boto3
    from botocore.config import Config

    retries = {"mode": "standard", "max_attempts": _S3_ATTEMPTS}
    session = boto3.Session()  # the module's own would keep the first credentials it has seen
    config = Config(retries=retries, connect_timeout=_S3_WAIT_S, read_timeout=_S3_WAIT_S)
    return session.client("s3", config=config)


def names_on_s3(client: Any, bucket: str, prefix: str, after: str) -> Iterator[str]:
    """
    Give the names of files under *prefix* behind *after*.

    Raises:
        OSError: They cannot be listed.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    pages = client.get_paginator("list_objects_v2")
    try:
        for page in pages.paginate(Bucket=bucket, Prefix=prefix, Delimiter="/", StartAfter=f"{prefix}{after}"):
            yield from (found["Key"].removeprefix(prefix) for found in page.get("Contents", []))
    except (BotoCoreError, ClientError) as error:
        raise OSError(f"s3://{bucket}/{prefix}: cannot be listed: {error}") from error


def create_on_s3(client: Any, bucket: str, key: str, content: bytes) -> bool:
    """
    Put an object unless one of that name is there, and return whether it was put.

    Raises:
        OSError: It could not be told.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client.put_object(Bucket=bucket, Key=key, Body=content, IfNoneMatch="*")
    except ClientError as error:
        if error.response["Error"]["Code"] == "PreconditionFailed":
            return False
        raise OSError(f"s3://{bucket}/{key}: cannot be created: {error}") from error
    except BotoCoreError as error:
        raise OSError(f"s3://{bucket}/{key}: cannot be created: {error}") from error
    return True
