"""Fixtures of the laboratory's tests."""

from tests.jobs.conftest import embedded_once

__all__ = ["embedded_once"]
