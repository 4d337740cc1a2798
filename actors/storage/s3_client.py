"""Requests to S3 by boto3 that pyarrow cannot make."""

# ruff: noqa: N803  boto3's names
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypedDict

_S3_ATTEMPTS = 6  # of one request, with pauses that double up to 20 s in between (botocore's standard mode)
_S3_WAIT_S = 20.0  # for an answer; what is created is small


class S3Object(TypedDict):
    Key: str
    Size: int
    ETag: str


class S3Page(TypedDict, total=False):
    Contents: list[S3Object]


class S3Head(TypedDict, total=False):
    ServerSideEncryption: str
    ContentLength: int


class S3Paginator(Protocol):
    def paginate(
        self, *, Bucket: str, Prefix: str, Delimiter: str = ..., StartAfter: str = ...
    ) -> Iterable[S3Page]: ...


class S3Client(Protocol):
    def get_paginator(self, operation: str, /) -> S3Paginator: ...

    def list_objects_v2(self, *, Bucket: str, Prefix: str, MaxKeys: int) -> S3Page: ...

    def head_object(self, *, Bucket: str, Key: str, PartNumber: int) -> S3Head: ...

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, IfNoneMatch: str) -> object: ...


def open_s3() -> S3Client:
    import boto3
    from botocore.config import Config

    retries = {"mode": "standard", "max_attempts": _S3_ATTEMPTS}
    session = boto3.Session()  # the module's own would keep the first credentials it has seen
    config = Config(retries=retries, connect_timeout=_S3_WAIT_S, read_timeout=_S3_WAIT_S)
    client: S3Client = session.client("s3", config=config)
    return client


def names_on_s3(client: S3Client, bucket: str, prefix: str, after: str) -> Iterator[str]:
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


def create_on_s3(client: S3Client, bucket: str, key: str, content: bytes) -> bool:
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
