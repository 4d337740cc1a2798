"""The site of a real run in a real browser: 78 systems with twins, 2,496 summaries."""

from __future__ import annotations

import csv
import io
import os
import re
from operator import mul
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from actors.storage.folder import Folder
from jobs.results.write import read_results
from longform.results.cells import table_rows
from tests.jobs.site_walks import (
    CHOSEN,
    CUT,
    FIRST_ROWS,
    HIDDEN,
    SHOWN,
    Stored,
    System,
    copied,
    focused,
    in_window,
    insights_apart,
    open_summary,
    pages_of_each_kind,
    put_clipboard,
    shown_rows,
    tab_to,
    unseen,
    views_of,
    wrong_pairs,
)
from tests.longform.report.browser import (
    SCHEMES,
    WIDTHS,
    axe_findings,
    browse,
    chromium,
    load_seconds,
    needs_browser,
    scrolls_sideways,
)
from tests.made.released import repaired

__all__ = ["browse", "chromium"]
MOST_BYTES = 3_000_000
MOST_SECONDS = 1.0
FIRST, SECOND = System("gpt-4o", "oracle"), System("claude3-haiku", "keywords")
JUDGE = "released:gpt-4o"
MINUS, WHITE = "\u2212", "rgb(255, 255, 255)"

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def run(released: Path) -> Path:
    return repaired()


@pytest.fixture(scope="module")
def site(run: Path) -> list[Path]:
    return sorted((run / "report").glob("*.html"))


@pytest.fixture(scope="module")
def stored(run: Path) -> Stored:
    return Stored(run)


def test_every_page_is_below_three_megabytes(site: list[Path]) -> None:
    assert len(site) > 8
    assert {path.name: size for path in site if (size := path.stat().st_size) >= MOST_BYTES} == {}


@pytest.mark.skipif("LONGFORM_TIMED" not in os.environ, reason="LONGFORM_TIMED is unset: expected a quiet machine")
def test_every_page_is_loaded_within_a_second(site: list[Path], browse: Any) -> None:
    """The better of two loads counts, as other processes may have the machine for a moment."""
    slow = {path.name: seconds for path in site if (seconds := _load_seconds(browse, path)) >= MOST_SECONDS}
    assert slow == {}


def _load_seconds(browse: Any, path: Path) -> float:
    return min(load_seconds(browse(path)) for _ in range(2))


@pytest.fixture(scope="module")
def views(site: list[Path], stored: Stored) -> list[tuple[Path, str]]:
    return views_of(site, stored, FIRST, SECOND, JUDGE)


@pytest.mark.parametrize(("width", "scheme"), zip(WIDTHS, SCHEMES, strict=True))
def test_axe_finds_nothing_and_no_page_scrolls_sideways(
    views: list[tuple[Path, str]], browse: Any, width: int, scheme: str
) -> None:
    """In each table the first rows are looked at, which others are like: axe needs ten seconds for a large table."""
    found = {}
    for path, fragment in views:
        page = browse(path, fragment, width=width, scheme=scheme)
        sideways = ["scrolls sideways"] if scrolls_sideways(page) else []
        page.evaluate(FIRST_ROWS)
        if said := [*axe_findings(page), *sideways]:
            found[path.name + fragment] = said
        page.close()
    assert found == {}


def test_all_links_lead_to_pages_and_places_that_stand(site: list[Path], browse: Any) -> None:
    names = {path.name for path in site}
    lost = {}
    for path in site:
        page = browse(path)
        hrefs = page.evaluate("[...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))")
        gone = {href for href in hrefs if not _stands(href, names, page)}
        if gone:
            lost[path.name] = sorted(gone)[:5]
        page.close()
    assert lost == {}


def _stands(href: str, names: set[str], page: Any) -> bool:
    file, _, place = href.partition("#")
    if file:
        return file in names
    return "=" in place or page.evaluate("(id) => document.getElementById(id) !== null", place)


def test_the_first_screen_says_what_to_decide_by(run: Path, browse: Any) -> None:
    """All three sentences, the facts and the head of the figure stand above the fold."""
    page = browse(run / "report" / "index.html")
    results = read_results(Folder(str(run)))
    sentences = [item.inner_text() for item in page.locator(".findings li").all()]
    reference = table_rows(results, "comparisons_families")[0]
    assert len(sentences) == 3
    assert sentences[0].startswith((reference["summarizer"], reference["setting"]))
    assert "agrees with people about as well as" in sentences[2]
    assert "Cost" in page.locator("#facts").inner_text()  # nothing was called: no system has a cost of its own
    assert page.locator("#leaderboard tbody tr").count() > 1
    assert page.locator(".quote").count() >= 2
    for place in ("#findings", "#facts", "#systems figcaption"):
        box = page.locator(place).bounding_box()
        assert box["y"] + box["height"] <= 900, place


# ---------------------------------------------------------------- from a number to the text behind it


def opened_system(page: Any, system: System) -> None:
    page.locator(".matrix tbody th button", has_text=re.compile(f"^{re.escape(system.in_matrix)}$")).click()


def test_two_systems_stand_side_by_side_with_the_insights_that_one_lacks(
    run: Path, stored: Stored, browse: Any
) -> None:
    page = browse(run / "report" / "index.html")
    page.locator("nav.pages").get_by_role("link", name="Matrix").click()
    opened_system(page, FIRST)
    page.get_by_label("Side by side with").select_option(SECOND.in_matrix)
    links = page.locator(".mean-of li a")
    pairs = [(one, two) for one in stored.of(FIRST) for two in stored.of(SECOND) if one.query == two.query]
    assert links.count() == len(pairs) == 16

    one, two = next(pair for pair in pairs if all(insights_apart(*pair)))
    links.filter(has_text=one.query["text"]).click()
    page.wait_for_selector(".sides")
    sides = page.locator(".side h3").all_inner_texts()
    assert [side.split(", ")[0] for side in sides] == [
        f"The first: {FIRST.in_matrix}",
        f"The second: {SECOND.in_matrix}",
    ]
    for side, only in zip(("first", "second"), insights_apart(one, two), strict=True):
        head = page.get_by_role("heading", name=f"Only the {side} covers ({len(only)})")
        shown = head.locator("xpath=following-sibling::ul[1]/li/div[1]").all_inner_texts()
        assert len(shown) == len(only)
        assert all(any(text in words for words in shown) for text in only)
    assert page.locator(".side .only").count() >= 1


def test_a_number_of_a_table_leads_to_the_summaries_that_it_is_the_mean_of(
    run: Path, stored: Stored, browse: Any
) -> None:
    """The judge's numbers are pooled over insights: each summary counts as often as it has judged insights."""
    page = browse(run / "report" / "scores.html")
    link = page.locator("a.mean[href*='measure=joint']").first
    value, wanted = float(link.inner_text()), parse_qs(link.get_attribute("href").partition("#")[2])
    link.click()
    items = page.locator(".mean-of li a")
    shown = [float(item.inner_text().partition(":")[0]) for item in items.all()]
    assert shown == sorted(shown)
    own = stored.of(System(*wanted["summarizer"], *wanted["setting"]))
    scores = [100 * one.summary["scores"][JUDGE]["joint"] for one in own]
    assert shown == pytest.approx(sorted(scores), abs=0.06)
    weights = [sum(verdict["answer"] is not None for verdict in one.summary["verdicts"]) for one in own]
    assert value == pytest.approx(sum(map(mul, scores, weights)) / sum(weights), abs=0.06)

    items.first.click()
    page.wait_for_selector(".summary .scores")
    assert float(page.locator(".scores div", has_text="joint").locator("dd").inner_text()) == pytest.approx(
        shown[0], abs=0.06
    )


def test_a_cell_of_the_matrix_opens_its_summary(run: Path, browse: Any) -> None:
    page = browse(run / "report" / "matrix.html")
    row = page.locator(".matrix tbody tr").nth(4)
    system, cell = row.locator("th").inner_text(), row.locator("td").nth(2)
    query, value = page.locator(".queries li").nth(2).inner_text(), float(cell.inner_text())
    cell.locator("a").click()
    page.wait_for_selector(".summary .scores")
    named = [page.locator(".choices label", has_text=re.compile(name)) for name in ("^Summarizer", "^Setting")]
    assert " · ".join(one.locator("select").evaluate(CHOSEN) for one in named) == system
    assert query.startswith(page.locator(".summary h3").first.inner_text())
    joint = page.locator(".scores div", has_text="joint").locator("dd").inner_text()
    assert float(joint) == pytest.approx(value, abs=0.06)


def test_a_citation_opens_its_document_at_the_marked_passage(run: Path, stored: Stored, browse: Any) -> None:
    page, one = open_summary(run, browse, lambda one: len(wrong_pairs(one)) > 3, stored)
    address = page.url
    chips = page.locator(".bullets .chips .right a[href*='sentence=']").all()
    chip = max(chips, key=lambda one: int(parse_qs(one.get_attribute("href"))["sentence"][0]))
    page.set_viewport_size({"width": WIDTHS[1], "height": 500})  # the passage lies far below the first screen
    number = int(re.search(r"document (\d+)", chip.inner_text())[1])
    wanted = parse_qs(chip.get_attribute("href").partition("#")[2])
    chip.click()
    page.wait_for_selector("mark")
    document = stored.documents[one.query["haystack"], number]
    first, n = int(wanted["sentence"][0]), int(wanted["sentences"][0])
    assert page.locator(".document h3").inner_text() == f"Document {number}"
    assert page.locator("mark").text_content() == "".join(document["pieces"][first : first + n]).rstrip()
    assert page.locator(".document .text").text_content() == "".join(document["pieces"])
    assert in_window(page, page.locator("mark"))
    assert page.evaluate("document.activeElement.localName") == "mark"
    assert page.locator(".claim blockquote").inner_text() in [bullet["text"] for bullet in one.summary["bullets"]]
    page.get_by_role("link", name="Back to the summary").click()
    page.wait_for_selector(".summary .scores")
    assert page.url == address


def test_wrong_citations_of_a_summary_are_read_one_by_one(run: Path, stored: Stored, browse: Any) -> None:
    page, one = open_summary(run, browse, lambda one: len(wrong_pairs(one)) > 3, stored)
    wrong = wrong_pairs(one)
    assert f"; {len(wrong)} of " in page.locator(".why").inner_text()
    page.get_by_text(f"Read the {len(wrong)} wrong citations").click()
    chips = page.locator(".wrong-citations .chips .wrong a")
    numbers = [int(re.search(r"document (\d+)", chip)[1]) for chip in chips.all_inner_texts()]
    assert sorted(numbers) == sorted(wrong)
    chips.first.click()
    page.wait_for_selector(".claim blockquote")
    assert page.locator(".document h3").inner_text() == f"Document {numbers[0]}"


def test_wrong_citations_of_an_example_of_repair_open_their_documents(run: Path, browse: Any) -> None:
    page = browse(run / "report" / "citations.html")
    chips = page.locator("#repair .chips .wrong").all()
    assert chips
    for chip in chips:
        said = int(re.search(r"✗ (\d+) wrong", chip.inner_text())[1])
        assert chip.locator("a").count() == said
    link = page.locator("#repair .chips .wrong a[href*='sentence=']").first
    number = link.inner_text()
    link.click()
    page.wait_for_selector("mark")
    assert page.locator(".document h3").inner_text() == f"Document {number}"
    assert in_window(page, page.locator("mark"))


# ---------------------------------------------------------------- tables and pairs


def test_tables_filter_choose_sort_and_copy_what_they_show(run: Path, browse: Any) -> None:
    page = browse(run / "report" / "cells.html")
    put_clipboard(page)
    table = page.locator("figure.table").first
    table.get_by_label("Filter").fill("claude3-haiku ORACLE")
    rows = shown_rows(table)
    assert 1 <= len(rows) < 10
    assert table.get_by_role("status").inner_text().startswith(f"{len(rows)} of ")
    table.get_by_label("Filter").fill("")
    table.get_by_label("setting").select_option("oracle")
    head = table.locator("th", has_text=re.compile("^joint$"))
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    place = head.evaluate("(cell) => cell.cellIndex")
    order = f"(rows) => rows.map((row) => Number(row.cells[{place}].dataset.order))"
    values = table.locator("tbody tr:not(.beside):not([hidden])").evaluate_all(order)
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 5

    n = len(shown_rows(table))
    csv_rows = list(csv.reader(io.StringIO(copied(page, table, "CSV"))))
    assert len(csv_rows) == 1 + n
    column = next(at for at, name in enumerate(csv_rows[0]) if name.endswith("joint"))
    assert float(csv_rows[1][column]) == pytest.approx(values[0], abs=0.06)
    markdown = copied(page, table, "Markdown").splitlines()
    assert len(markdown) == 2 + n
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in markdown}) == 1
    assert copied(page, table, "LaTeX").partition("\\midrule")[2].count("\\\\\n") == n
    assert csv_rows[1][column] in markdown[2]


def test_a_reader_compares_any_pair_with_any_reference(run: Path, browse: Any) -> None:
    results = read_results(Folder(str(run)))
    ends, both = ("one", "other"), {FIRST.in_tables, SECOND.in_tables}
    rows = [row for row in table_rows(results, "pairwise") if row["measure"] == "coverage"]
    pair = next(row for row in rows if {row[end] for end in ends} == both)
    difference = pair["difference"]["value"] * (1 if pair["one"] == FIRST.in_tables else -1)

    page = browse(run / "report" / "comparisons.html")
    page.get_by_label("Measure").select_option(f"coverage ({JUDGE})")
    page.get_by_label("System A").select_option(FIRST.in_tables)
    page.get_by_label("System B, the reference").select_option(SECOND.in_tables)
    sentence = page.locator(".pair-sentence")
    told = f"{abs(difference):.1f} points"
    assert f"{'+' if difference >= 0 else MINUS}{told}" in sentence.inner_text()
    page.get_by_label("System A").select_option(SECOND.in_tables)
    page.get_by_label("System B, the reference").select_option(FIRST.in_tables)
    assert f"{MINUS if difference >= 0 else '+'}{told}" in sentence.inner_text()
    page.get_by_text("All systems against B").click()
    against = page.locator(".pair-chooser tbody tr")
    assert against.count() == len({row[end] for row in rows for end in ends}) - 1
    row = against.filter(has=page.get_by_role("rowheader", name=SECOND.in_tables, exact=True))
    assert row.locator("td").nth(1).inner_text() == f"{MINUS if difference >= 0 else '+'}{abs(difference):.1f}"

    page.get_by_role("link", name="Read their summaries side by side").click()
    page.wait_for_selector(".mean-of li a[href*='compare=']")
    assert page.locator(".mean-of h3").inner_text() == f"{SECOND.in_matrix}: coverage"
    assert page.get_by_label("Side by side with").evaluate(CHOSEN) == FIRST.in_matrix


# ---------------------------------------------------------------- without a mouse


def test_a_reader_without_a_mouse_skips_the_navigation(run: Path, browse: Any) -> None:
    page = browse(run / "report" / "scores.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert focused(page).seen
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")


def test_a_table_is_filtered_and_sorted_without_a_mouse(run: Path, browse: Any) -> None:
    page = browse(run / "report" / "cells.html")
    table = page.locator("figure.table").first
    all_rows = len(shown_rows(table))
    passed = tab_to(page, "input", "Filter")
    page.keyboard.type("oracle")
    assert 1 <= len(shown_rows(table)) < all_rows
    passed += tab_to(page, "button", "joint")
    page.keyboard.press("Enter")
    assert table.locator("th", has_text=re.compile("^joint$")).get_attribute("aria-sort") == "descending"
    assert unseen(passed) == []


def test_two_systems_are_compared_and_read_without_a_mouse(run: Path, browse: Any) -> None:
    """The walk goes from the chooser of pairs by the matrix to two summaries, and by a chip to a document."""
    page = browse(run / "report" / "comparisons.html")
    passed = tab_to(page, "select", "System A")
    sentence = page.locator(".pair-sentence").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator(".pair-sentence").inner_text() != sentence
    passed += tab_to(page, "a", "Read their summaries")
    page.keyboard.press("Enter")
    page.wait_for_selector(".mean-of li a[href*='compare=']")
    assert page.evaluate("document.activeElement.closest('.mean-of') !== null")
    passed += tab_to(page, "select", "Side by side with", most=1)
    passed += tab_to(page, "a", "", most=1)
    page.keyboard.press("Enter")
    page.wait_for_selector(".sides")
    passed += tab_to(page, "a", "✓ document", most=200)
    page.keyboard.press("Enter")
    page.wait_for_selector(".document h3")
    assert unseen(passed) == []


def test_a_system_of_the_matrix_opens_without_a_mouse(run: Path, browse: Any) -> None:
    page = browse(run / "report" / "matrix.html")
    passed = tab_to(page, "button", "claude3-haiku · full")
    page.keyboard.press("Enter")
    passed += [focused(page), *tab_to(page, "a", "", most=2)]
    assert page.locator(".mean-of a").first.evaluate("(link) => link === document.activeElement")
    assert unseen(passed) == []


# ---------------------------------------------------------------- on paper


def test_a_printed_page_holds_its_sections_and_cuts_nothing(site: list[Path], browse: Any) -> None:
    """On a landscape sheet, also from a dark screen."""
    found = {}
    for path in pages_of_each_kind(site):
        page = browse(path, width=1030, scheme="dark")
        page.emulate_media(media="print")
        found[path.name] = {
            "hidden": page.locator("main section").evaluate_all(HIDDEN),
            "explanations hidden": page.locator(".how p").evaluate_all(HIDDEN),
            "cut": page.evaluate(CUT)[:3],
            "controls": page.locator("nav, .tools, .choices").evaluate_all(SHOWN),
            "sideways": scrolls_sideways(page),
            "ground": page.evaluate("getComputedStyle(document.body).backgroundColor"),
        }
        page.close()
    kept = {"hidden": [], "explanations hidden": [], "cut": [], "controls": [], "sideways": False, "ground": WHITE}
    assert {name: one for name, one in found.items() if one != kept} == {}
