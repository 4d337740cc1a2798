"""Sheets as pages: filled by keyboard and mouse in a browser, downloaded, and read back with their agreement."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from jobs.ingest import main as ingest
from tests.jobs.test_annotate import ROWS, SAID, Annotating, rating
from tests.longform.report.browser import (
    SCHEMES,
    WIDTHS,
    axe_findings,
    browse,
    chromium,
    needs_browser,
    scrolls_sideways,
)

__all__ = ["browse", "chromium", "rating"]
HOSTILE = "</script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\"> <b>bold</b>"

slow = pytest.mark.slow


@pytest.fixture
def annotating(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Annotating:
    """Return the verb on a benchmark whose texts are hostile."""
    rows = {name: [dict(row) for row in content] for name, content in ROWS.items()}
    rows["documents"][0]["text"] += f" {HOSTILE}"
    rows["summaries"][1]["text"] = f"- {HOSTILE} [1]\n- Farmers met."
    rows["insights"][1]["text"] = f"Swans nest. {HOSTILE}"
    (tmp_path / "in").mkdir()
    for name, content in rows.items():
        (tmp_path / "in" / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in content))
    assert ingest(["jsonl", str(tmp_path / "in"), "--out", str(tmp_path / "bench")]) == 0
    return Annotating(str(tmp_path / "bench"), tmp_path / "sheets", capsys)


def pages(annotating: Annotating, *annotators: str, task: str = "coverage") -> dict[str, Any]:
    named = [word for name in annotators for word in ("--annotator", name)]
    return annotating("--task", task, "--sheets", str(annotating.sheets), "--as", "html", *named)


def download(page: Any, path: Path) -> str:
    with page.expect_download() as started:
        page.locator("button", has_text="Download").click()
    started.value.save_as(path)
    return str(path)


def reload_until(page: Any, text: str) -> None:
    """Reload, on a busy machine again: Chromium hands what a page stores to another process, which may come later."""
    for _ in range(10):
        page.reload()
        if text in page.locator("#sheet").inner_text():
            return
    raise AssertionError(f"expected {text!r}, found {page.locator('#sheet').inner_text()!r}")


def test_pages_hold_texts_as_data_and_their_documents(annotating: Annotating) -> None:
    told = pages(annotating, "ann", "bo", task="support")

    assert told["sheets"] == [f"{annotating.sheets}/{name}.html" for name in ("ann", "bo")]
    assert not (annotating.sheets / "documents").exists()
    page = (annotating.sheets / "ann.html").read_text()
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "default-src 'none'" in page
    data = json.loads(re.findall(r'id="sheet-data">(.*?)</script>', page, re.DOTALL)[0])
    (document,) = data["documents"].values()
    assert document.startswith("[1] Report")
    assert HOSTILE in document
    annotating("--sheets", str(annotating.sheets), "--annotator", "ann", "--as", "html", ends=2)
    assert "expected no sheet 'ann.html', found one" in annotating.error


@slow
@needs_browser
def test_a_page_is_filled_by_keyboard_and_by_mouse_and_read_back(
    annotating: Annotating, browse: Any, tmp_path: Path
) -> None:
    pages(annotating, "ann", "bo")
    filled = [_by_keyboard(browse(annotating.sheets / "ann.html"), tmp_path / "got" / "ann.csv")]
    filled.append(_by_mouse(browse(annotating.sheets / "bo.html"), tmp_path / "got" / "bo.csv"))

    told = annotating("--filled", *filled)

    assert told["sheets"] == {name: {"rows": 6, "filled": 6} for name in ("ann", "bo")}
    (both,) = told["agreement"]
    assert (both["same"]["value"], both["same"]["n"]) == (pytest.approx(5 / 6), 6)
    # by hand: shares of full 2/6 and 1/6, of none 4/6 and 5/6
    assert both["kappa"]["value"] == pytest.approx((5 / 6 - 22 / 36) / (1 - 22 / 36))
    assert both["links"]["value"] == 1.0
    rows = {row["pair"]: row for row in _rows(filled[0])}
    assert [row["note"] for row in rows.values()][:1] == ['\'=1+1, "so"\nit goes']


def _rows(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Path(path).read_text("utf-8-sig"), newline="")))


def _number_of_said(page: Any) -> int:
    """Return the number of the line that states the insight, from 1; 0: none."""
    texts = page.locator(".row-texts p").all_inner_texts()
    if texts[2] != SAID:
        return 0
    lines = [line for line in texts[1].splitlines() if SAID in line]
    return int(lines[0].split(".")[0]) if lines else 0


def _by_keyboard(page: Any, path: Path) -> str:
    for place in range(6):
        assert page.locator("h2").inner_text() == f"Row {place + 1} of 6"
        line = _number_of_said(page)
        page.keyboard.press("1" if line else "3")
        if line:
            page.keyboard.press("l")
            page.keyboard.type(f"line {line}")
            page.keyboard.press("Escape")
        if place == 0:
            page.keyboard.press("m")
            page.keyboard.type('=1+1, "so"\nit goes')
            page.keyboard.press("Escape")
        page.keyboard.press("n")
    assert "6 of 6 rows have an answer" in page.locator("#sheet").inner_text()
    return download(page, path)


def _by_mouse(page: Any, path: Path) -> str:
    """Answer as the other one, but that nothing is known of the third summary."""
    for _ in range(6):
        line = _number_of_said(page)
        if line and "Nothing is known" not in page.locator(".row-texts").inner_text():
            page.get_by_label("full").check()
            page.get_by_label("Line that says it").select_option(f"line {line}")
        else:
            page.get_by_label("none").check()
        if page.get_by_role("button", name="Next", exact=True).is_enabled():
            page.get_by_role("button", name="Next", exact=True).click()
    return download(page, path)


@slow
@needs_browser
def test_nothing_in_a_hostile_text_runs(annotating: Annotating, browse: Any) -> None:
    for task in ("coverage", "support"):
        pages(annotating, task, task=task)
        page = browse(annotating.sheets / f"{task}.html")
        if task == "support":
            page.get_by_text("Read the documents").click()  # stays open from row to row
        seen = ""
        for _ in range(4):
            page.keyboard.press("n")
            seen += page.locator("#sheet").inner_text()
        assert task != "support" or seen.count(f"Farmers met. {HOSTILE}") == 4
        assert "<b>bold</b>" in seen
        assert page.title().startswith("Sheet of")
        assert page.locator("img, b").count() == 0


@slow
@needs_browser
def test_answers_stay_in_the_page_and_a_download_goes_on_elsewhere(
    annotating: Annotating, browse: Any, tmp_path: Path
) -> None:
    pages(annotating, "ann")
    page = browse(annotating.sheets / "ann.html")
    page.keyboard.press("3")
    page.keyboard.press("n")
    page.keyboard.press("2")
    page.get_by_text("2 of 6 rows have an answer").wait_for()
    got = download(page, tmp_path / "got" / "ann.csv")
    reload_until(page, "2 of 6 rows have an answer")
    assert page.locator("h2").inner_text() == "Row 3 of 6"
    assert page.get_by_text("This browser keeps nothing for this page").is_hidden()

    other = browse(annotating.sheets / "ann.html")
    assert "0 of 6 rows have an answer" in other.locator("#sheet").inner_text()
    other.locator("input[type=file]").set_input_files(got)
    other.get_by_text("6 of 6 rows of the file are of this sheet").wait_for()
    assert "2 of 6 rows have an answer" in other.locator("#sheet").inner_text()
    assert download(other, tmp_path / "again" / "ann.csv")
    assert _rows(str(tmp_path / "again" / "ann.csv")) == _rows(got)
    other.keyboard.press("u")
    assert other.locator("h2").inner_text() == "Row 3 of 6"


@slow
@needs_browser
def test_without_storage_the_page_says_so_and_works(annotating: Annotating, browse: Any, tmp_path: Path) -> None:
    pages(annotating, "ann")
    page = browse(annotating.sheets / "ann.html")
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } })")
    page.reload()
    page.keyboard.press("3")
    assert page.get_by_text("This browser keeps nothing for this page").is_visible()
    got = download(page, tmp_path / "ann.csv")
    assert [row["answer"] for row in _rows(got)] == ["none", *[""] * 5]
    page.get_by_text("The sheet as CSV, to copy").click()
    page.wait_for_function("document.querySelector('textarea[readonly]').value !== ''")
    copied = page.get_by_label("The sheet as CSV").input_value()
    assert copied.split() == Path(got).read_text("utf-8").split()


@slow
@needs_browser
def test_several_labels_are_one_answer(annotating: Annotating, browse: Any, tmp_path: Path) -> None:
    pages(annotating, "ann", task="errors")
    page = browse(annotating.sheets / "ann.html")
    page.keyboard.press("2")
    page.keyboard.press("3")
    assert page.locator("input:checked").count() == 2
    page.keyboard.press("1")
    assert page.locator("input:checked").count() == 1
    page.keyboard.press("n")
    page.keyboard.press("2")
    page.keyboard.press("4")
    got = download(page, tmp_path / "ann.csv")
    assert annotating("--task", "errors", "--filled", got)["sheets"] == {"ann": {"rows": 3, "filled": 2}}
    assert _rows(got)[1]["answer"].count("+") == 1


@slow
@needs_browser
def test_an_answer_that_needs_a_note_says_so(rating: Annotating, browse: Any, tmp_path: Path) -> None:
    pages(rating, "ann", task="example_quality")
    page = browse(rating.sheets / "ann.html")
    page.keyboard.press("4")
    assert page.locator(".status").inner_text() == "Without the note that every answer needs: row 1."
    bad = download(page, tmp_path / "bad" / "ann.csv")
    rating("--task", "example_quality", "--filled", bad, ends=2)
    assert "why answer is 4, in a few words" in rating.error
    page.keyboard.press("m")
    page.keyboard.type("clear enough")
    assert page.locator(".status").inner_text() == ""
    told = rating("--task", "example_quality", "--filled", download(page, tmp_path / "ann.csv"))
    assert told["sheets"]["ann"]["filled"] == 1


@slow
@needs_browser
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("task", ["coverage", "support", "errors"])
def test_axe_finds_nothing(annotating: Annotating, browse: Any, task: str, width: int, scheme: str) -> None:
    pages(annotating, "ann", task=task)
    page = browse(annotating.sheets / "ann.html", width=width, scheme=scheme)
    page.keyboard.press("1")
    for details in page.locator("details").all():
        details.locator("summary").click()
    assert axe_findings(page) == []
    assert not scrolls_sideways(page)
