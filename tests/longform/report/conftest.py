"""The results that tests of the report share."""

import json

import pytest

from tests.longform.report.pages import FIXTURE, Page, html


@pytest.fixture(scope="module")
def results():
    return json.loads(FIXTURE.read_text("utf-8"))


@pytest.fixture(scope="module")
def text(results):
    return html(results)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)
