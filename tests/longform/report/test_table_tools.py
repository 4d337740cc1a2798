"""The controls of a table in a real browser: filter, choosers, sort, copies and links to summaries."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longform.report.page import Here, PageLink, sections_html
from longform.report.parts import Section
from longform.report.tables import ShownTable
from longform.tables.cells import TextCell, number
from longform.tables.table import Column
from tests.longform.report.browser import needs_browser

pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.slow, needs_browser]

NAMES = ("delta", "alpha", "beta, 2", "=gamma", "e_p|s & co", "zeta")
HERE = Here([PageLink("matrix.html", "Matrix", "")], "", None)
TWIN = "↳ supporting documents found"


def table() -> ShownTable:
    """Six systems in two settings; alpha has a twin, and zeta no score."""
    columns = [Column("system"), Column("setting")]
    columns += [Column("joint", "points", group="scores"), Column("share cut", "share", group="scores")]
    rows, cut = [], TextCell("3.1 %", order=0.031)
    for place, name in enumerate(NAMES):
        value = None if name == "zeta" else 10.0 * (place + 1)
        score = number(value, interval=(0.5, 99.0) if value else None, reason="not run")
        link = f"summarizer={place}&measure=joint" if value else None
        rows.append(
            {
                "system": TextCell(name),
                "setting": TextCell("bm25" if place % 2 else "oracle"),
                "joint": score._replace(mean_of=link),
                "share cut": cut,
            }
        )
        if name == "alpha":
            twin = TextCell(TWIN, detail="(in sample)", beside=True)
            twin_score = number(99.0, interval=(98.0, 99.5))
            rows.append({"system": twin, "setting": TextCell("bm25"), "joint": twin_score, "share cut": cut})
    return ShownTable("Six systems. Best first.", columns, rows, "Joint: a score.")


@pytest.fixture
def page(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """Open a page from the disk; its clipboard writes what a test reads, or refuses."""
    path = tmp_path / "report.html"
    text = sections_html("Tables", [(Section("scores", "Scores", [], [table()]), [])], here=HERE)
    path.write_text(text, "utf-8")
    opened = chromium.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    opened.add_init_script(
        "window.copied = [];"
        "Object.defineProperty(navigator, 'clipboard', {configurable: true, value: {writeText: async (text) => {"
        " if (window.refused) throw new Error('denied'); window.copied.push(text); }}});"
    )
    opened.goto(path.as_uri())
    yield opened
    opened.close()
    assert errors == []


def names(page: Any) -> list[str]:
    found: list[str] = page.evaluate(
        "[...document.querySelector('table').tBodies[0].rows].filter((row) => !row.hidden)"
        ".map((row) => row.cells[0].firstChild.textContent.trim())"
    )
    return found


def copied(page: Any, name: str) -> str:
    page.get_by_role("button", name=f"Copy as {name}").click()
    page.wait_for_function("window.copied.length > 0")
    return str(page.evaluate("window.copied.pop()"))


def test_words_filter_rows_and_a_twin_stays_with_its_original(page: Any) -> None:
    page.get_by_label("Filter").fill("ALPHA bm25")
    assert names(page) == ["alpha", TWIN]
    assert page.get_by_role("status").inner_text() == "2 of 7 rows"
    page.get_by_label("Filter").fill("supporting")
    assert names(page) == ["alpha", TWIN]
    page.get_by_label("Filter").fill("nothing of the kind")
    assert names(page) == []


def test_a_chooser_shows_the_rows_of_a_name(page: Any) -> None:
    page.get_by_label("setting").select_option("oracle")
    assert names(page) == ["delta", "beta, 2", "e_p|s & co"]
    page.get_by_label("setting").select_option("all")
    assert len(names(page)) == 7


def test_sorting_takes_a_twin_along_and_leaves_unknowns_last(page: Any) -> None:
    page.get_by_role("button", name="joint").click()
    assert names(page) == ["e_p|s & co", "=gamma", "beta, 2", "alpha", TWIN, "delta", "zeta"]
    page.get_by_role("button", name="joint").press("Enter")
    assert names(page) == ["delta", "alpha", TWIN, "beta, 2", "=gamma", "e_p|s & co", "zeta"]


def test_csv_holds_what_is_shown_with_bounds_in_columns(page: Any) -> None:
    page.get_by_role("button", name="joint").click()
    page.get_by_label("setting").select_option("bm25")
    rows = list(csv.reader(io.StringIO(copied(page, "CSV"))))
    scores = ["scores: joint", "scores: joint, low", "scores: joint, high", "scores: share cut (%)"]
    assert rows == [
        ["system", "setting", *scores],
        ["'=gamma", "bm25", "40.0", "0.5", "99.0", "3.1"],
        ["alpha", "bm25", "20.0", "0.5", "99.0", "3.1"],
        ["alpha, supporting documents found (in sample)", "bm25", "99.0", "98.0", "99.5", "3.1"],
        ["zeta", "bm25", "", "", "", "3.1"],
    ]
    assert page.get_by_role("status").inner_text() == "4 rows copied as CSV"


def test_markdown_keeps_its_columns_whatever_a_name_holds(page: Any) -> None:
    page.get_by_label("Filter").fill("co")
    assert copied(page, "Markdown") == (
        "| system | setting | scores: joint | scores: share cut |\n"
        "| --- | --- | ---: | ---: |\n"
        "| e\\_p\\|s &amp; co | oracle | 50.0 [0.5, 99.0] | 3.1 % |\n"
    )


def test_latex_is_a_table_with_rules_and_escaped_names(page: Any) -> None:
    page.get_by_label("Filter").fill("e_p")
    assert copied(page, "LaTeX").splitlines() == [
        "% needs \\usepackage{booktabs}",
        "\\begin{tabular}{llrr}",
        "\\toprule",
        "\\multicolumn{2}{c}{} & \\multicolumn{2}{c}{scores} \\\\",
        "\\cmidrule(lr){3-4}",
        "system & setting & joint & share cut \\\\",
        "\\midrule",
        "e\\_p|s \\& co & oracle & 50.0 {\\footnotesize [0.5, 99.0]} & 3.1 \\% \\\\",
        "\\bottomrule",
        "\\end{tabular}",
    ]


def test_without_a_clipboard_the_text_stands_selected_in_a_dialog(page: Any) -> None:
    page.evaluate("window.refused = true")
    page.get_by_role("button", name="Copy as Markdown").click()
    area = page.get_by_role("textbox", name="The table as Markdown")
    area.wait_for()
    assert area.evaluate("(box) => box.value.slice(box.selectionStart, box.selectionEnd)").startswith("| system |")
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    assert page.get_by_role("status").inner_text() == "7 rows offered as Markdown"


def test_a_number_leads_to_its_summaries_and_a_page_without_them_has_no_links(page: Any) -> None:
    links = [link.get_attribute("href") for link in page.locator("a.mean").all()]
    assert links == [f"matrix.html#summarizer={place}&measure=joint" for place in range(5)]
    assert 'class="mean"' not in sections_html("Tables", [(Section("scores", "Scores", [], [table()]), [])])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 480])
def test_axe_finds_nothing(chromium: Any, tmp_path: Path, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    path = tmp_path / "report.html"
    path.write_text(sections_html("Tables", [(Section("scores", "Scores", [], [table()]), [])], here=HERE), "utf-8")
    opened = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.goto(path.as_uri())
    found = axe.Axe().run(opened).response["violations"]
    assert json.dumps(found) == "[]"
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    opened.close()
