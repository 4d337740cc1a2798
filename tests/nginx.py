"""docs/nginx.conf on ports of loopback, unprivileged, before a server."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.jobs.killing import until
from tests.places import ROOT

CONFIG = ROOT / "docs" / "nginx.conf"
_PLACES = ("/usr/sbin/nginx", "/usr/local/sbin/nginx", "/opt/homebrew/bin/nginx")


@contextmanager
def gate(upstream: str, **changed: str) -> Iterator[str]:
    """
    The URL of nginx before *upstream*.

    Args:
        upstream: A URL of loopback.
        changed: Values of directives, in place of those of the file.
    """
    nginx = shutil.which("nginx") or next((place for place in _PLACES if Path(place).exists()), None)
    if nginx is None:
        pytest.skip("nginx is not installed: docs/nginx.conf is not run")
    with socket.socket() as free, tempfile.TemporaryDirectory(prefix="gate", dir="/tmp") as folder:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        path = Path(folder) / "nginx.conf"
        path.write_text(_configured(port, upstream, changed))
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen([nginx, "-p", folder, "-c", str(path), "-e", "stderr"], stderr=log)
        try:
            until(lambda: process.poll() is not None or _listens(port), "nginx's start")
            assert process.poll() is None, (Path(folder) / "log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def _configured(port: int, upstream: str, changed: dict[str, str]) -> str:
    text = CONFIG.read_text()
    values = {"listen 8080": f"listen 127.0.0.1:{port}", "server 127.0.0.1:8000": f"server {urlsplit(upstream).netloc}"}
    values |= {f"{name} 10s": f"{name} {value}" for name, value in changed.items()}
    for old, new in values.items():
        assert text.count(f"{old};") == 1, old
        text = text.replace(f"{old};", f"{new};")
    return text


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
