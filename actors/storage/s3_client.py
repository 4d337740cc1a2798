"""What is called of boto3's client for S3."""

# ruff: noqa: N803  boto3's names
from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypedDict


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
