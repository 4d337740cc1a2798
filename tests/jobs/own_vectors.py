"""A fixture for modules that compare vectors, or what is made of them: each side embeds its texts itself."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def embedded_once() -> None:
    """Stand in the place of the fixture by which the tests of jobs share vectors."""
