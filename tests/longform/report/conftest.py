"""The results that tests of the report share."""

import json

import pytest

from longform.studies.schema_1 import with_tables
from tests.longform.report.browser import browse, chromium
from tests.longform.report.pages import FIXTURE, Page, html

__all__ = ["browse", "chromium"]  # fixtures; imported here alone: two of them open at once are refused


@pytest.fixture(scope="module")
def results():
    return with_tables(json.loads(FIXTURE.read_text("utf-8")))


@pytest.fixture(scope="module")
def text(results):
    return html(results)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)
