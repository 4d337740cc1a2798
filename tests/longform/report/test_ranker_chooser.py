"""A reader picks any two rankers in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longform.report.page import sections_html
from tests.longform.report.browser import needs_browser
from tests.longform.studies.test_retrieval_against_generation import evidence
from tests.longform.studies.test_retrieval_pairs import shown_sections

pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.slow, needs_browser]


def test_any_two_rankers_are_compared_by_any_measure(browse: Any, tmp_path: Path) -> None:
    """Hand-worked: of six queries `good` finds the document first in four, `poor` in none."""
    run: Any = evidence(["good", "fair", "poor"])
    path = tmp_path / "page.html"
    path.write_text(sections_html("Rankers", [(section, []) for section in shown_sections(run)]))

    page = browse(path)
    measure, first, second = page.locator(".pair-chooser .choices select").all()
    measure.select_option(label="P@1")
    first.select_option("good")
    second.select_option("poor")

    told = page.locator(".pair-sentence").inner_text()
    assert told.startswith("good (66.7) against poor (0.0): +66.7 points")
    assert "Over 6 queries" in told
    assert page.get_by_text("Read their summaries side by side").is_hidden()
