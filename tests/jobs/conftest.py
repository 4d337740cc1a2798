"""Fixtures that several jobs' tests share: a small benchmark."""

from __future__ import annotations

import pytest

from jobs.synthesize import read_config, synthesize


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo's benchmark in two haystacks, to read and not to write to; modules that need another have their own."""
    url = str(tmp_path_factory.mktemp("bench"))
    synthesize(read_config("demo", ["haystacks=2"]), url)
    return url
