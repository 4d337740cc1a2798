"""The matrix of systems and queries, and the view of a summary, in a real browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from longform.report.site import ReportSite
from longform.report.text_pages import MATRIX_LINK, MatrixRows, matrix_html
from longform.results.evidence import Unfolded
from longform.results.results import Results
from tests.longform.report.browser import (
    SCHEMES,
    WIDTHS,
    axe_findings,
    needs_browser,
    scrolls_sideways,
)
from tests.longform.report.test_matrix_page import results, summaries

pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path, list(summaries()))


def written(folder: Path, passing: Sequence[Unfolded]) -> Path:
    found: Results = results()
    rows = MatrixRows(found)
    for one in passing:
        rows.add(one)
    file_of = {one.summary["summary_id"]: "summaries-0001.html" for one in passing}
    site = ReportSite("Three systems", [MATRIX_LINK], [])
    file = folder / MATRIX_LINK.file
    file.write_text(matrix_html(site, rows.packed(file_of)), "utf-8")
    return file


def heads(page: Any) -> list[str]:
    found: list[str] = page.locator(".matrix tbody th").all_inner_texts()
    return found


def test_a_twin_stands_below_its_original_and_unknown_is_no_zero(browse: Any, path: Path) -> None:
    page = browse(path)
    assert heads(page) == ["alpha · oracle", "alpha, repaired · oracle (in sample)", "beta · oracle"]
    assert page.locator(".matrix tbody tr").nth(2).locator("td").all_inner_texts() == ["0.00", "–"]


def test_a_fragment_lists_the_summaries_the_lowest_first(browse: Any, path: Path) -> None:
    page = browse(path, "#summarizer=alpha&setting=oracle&judge=j&measure=joint")
    links = page.locator(".mean-of a")
    assert links.all_inner_texts() == ["20.0: second?", "40.0: first?"]
    assert links.first.get_attribute("href") == "summaries-0001.html#summary=a2"
    assert page.locator("tr.marked th").all_inner_texts() == ["alpha · oracle"]


def test_summaries_without_scores_of_their_own_are_told_as_such(browse: Any, tmp_path: Path) -> None:
    passing = [one._replace(summary={**one.summary, "scores": {}}) for one in summaries()]
    page = browse(written(tmp_path, passing))
    assert page.locator("#matrix .status").inner_text() == "No judge gives these summaries scores of their own."


def test_choosers_filter_systems_and_queries(browse: Any, path: Path) -> None:
    page = browse(path)
    page.locator(".choices select").nth(1).select_option("beta")
    assert heads(page) == ["beta · oracle"]
    page.locator(".choices select").nth(2).select_option("Rivers")
    assert page.locator(".matrix thead th").all_inner_texts() == ["System, by query", "2"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(browse: Any, path: Path, scheme: str, width: int) -> None:
    page = browse(path, "#summarizer=alpha&setting=oracle&judge=j&measure=joint", width=width, scheme=scheme)
    assert axe_findings(page) == []
    assert not scrolls_sideways(page)
