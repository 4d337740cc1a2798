"""Verdicts of support and on key points as a reader finds them beside an answer, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from jobs.ingest import main as ingest
from jobs.judge import main as judge
from tests.longform.report.browser import browse, chromium, needs_browser

__all__ = ["browse", "chromium"]

pytestmark = [pytest.mark.slow, needs_browser]

CLOSED = "The bridge was closed to lorries in March after cracks were found in its northern arch."
FERRY = "A ferry carries cars across the river until the arch is rebuilt in 2027."
BREAD = "Bread became dearer because the mill raised the price of flour."
HOTEL = "The bridge was sold to a hotel company from the coast."
STORM = "Schools were shut for nine days by a storm."


def write(path: Path, rows: Iterable[object]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge two answers to a question with two key points; no insight says which citation is right."""
    folder = tmp_path_factory.mktemp("judged")
    write(folder / "town" / "documents.jsonl", ({"doc_id": text[:9], "text": text} for text in (CLOSED, FERRY, BREAD)))
    write(folder / "town" / "queries.jsonl", [{"query_id": "q", "text": "What happened to the bridge?"}])
    points = [{"query_id": "q", "kind": "key_point", "insight_id": text[:9], "text": text} for text in (CLOSED, STORM)]
    write(folder / "town" / "insights.jsonl", points)
    bullets = [{"text": CLOSED, "citations": [1, 3]}, {"text": HOTEL, "citations": [2]}]
    answers = [("a", bullets), ("b", [{"text": FERRY, "citations": []}])]
    write(folder / "answers.jsonl", ({"query_id": "q", "system": name, "bullets": own} for name, own in answers))
    assert ingest(["jsonl", str(folder / "town"), "--out", str(folder / "bench")]) == 0
    told = ["--bench", str(folder / "bench"), "--out", str(folder / "run"), "--workers", "0"]
    assert judge([str(folder / "answers.jsonl"), *told]) == 0
    return folder / "run" / "report" / "summaries-0001.html"


def test_citations_and_bullets_say_whether_documents_support_them(summaries: Path, browse: Any) -> None:
    page = browse(summaries)
    bullets = page.locator(".bullets > li")
    assert [chip.inner_text() for chip in bullets.nth(0).locator(".chips li").all()] == [
        "✓ document 1, supports it",
        "✗ document 3, does not support it",
    ]
    assert page.locator(".support").all_inner_texts() == [
        "Judge offline: supported best by document 1",
        "Judge offline: supported by none of 3 documents checked",
    ]


def test_key_points_stand_by_whether_they_are_said(summaries: Path, browse: Any) -> None:
    page = browse(summaries)
    assert page.locator(".why").inner_text() == "This summary says 1 of 2 key points."
    for head, text in (("Key points said (1)", CLOSED), ("Key points not said (1)", STORM)):
        shown = page.get_by_role("heading", name=head).locator("xpath=following-sibling::ul[1]/li/div[1]")
        assert shown.all_inner_texts() == [text]
    page.get_by_label("Side by side with").select_option("b · unknown")
    assert page.get_by_role("heading", name="Only the first covers (1)").count() == 1
