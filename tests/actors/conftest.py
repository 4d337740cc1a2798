"""Fixtures that several modules of this room share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.ledger.ledger import Ledger


@pytest.fixture(params=["local", "s3"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """One in a folder, and one on S3: they keep the same promises."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = str(tmp_path / "ledger") if request.param == "local" else request.getfixturevalue("s3_url")
    opened = Ledger(url, job="job-1")
    yield opened
    opened.close()
