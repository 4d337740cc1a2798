"""Tests of many minutes, whose kind shorter tests hold too: `make soak` runs them."""

from __future__ import annotations

import os

import pytest

ONLY_IN_SOAK = pytest.mark.skipif("LONGFORM_SOAK" not in os.environ, reason="takes minutes: make soak runs it")
