"""The site of a run whose documents, insights, questions, answers and systems are hostile, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.ingest import main as ingest
from jobs.judge import main as judge
from tests.jobs.answers.hostile import TEXTS, write_hostile
from tests.jobs.site_walks import copied, put_clipboard
from tests.longform.report.browser import (
    SCHEMES,
    WIDTHS,
    axe_findings,
    browse,
    chromium,
    needs_browser,
    scrolls_sideways,
)

__all__ = ["browse", "chromium"]

pytestmark = [pytest.mark.slow, needs_browser]

_ACTED_UPON = """() => {
  const bad = "img, iframe, object, embed, base, form, link, [onload], [onerror], [srcdoc], a[href^='javascript' i]";
  const found = [...document.querySelectorAll(bad)].map((one) => one.outerHTML.slice(0, 100));
  const scripts = [...document.scripts].filter((one) => one.type !== "application/json").length;
  return [...found, ...(scripts === 1 ? [] : [`${scripts} scripts`]), ...("hostileRan" in window ? ["it ran"] : [])];
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    bench, answers = write_hostile(folder)
    assert ingest(["jsonl", str(bench), "--out", str(folder / "b")]) == 0
    assert judge([str(answers), "--bench", str(folder / "b"), "--out", str(folder / "run"), "--workers", "0"]) == 0
    return folder / "run" / "report"


def settled(page: Any) -> list[str]:
    """Return what a page acted upon, after its images and scripts had their time."""
    page.wait_for_load_state("load")
    found: list[str] = page.evaluate(_ACTED_UPON)
    return found


@pytest.mark.parametrize(("width", "scheme"), zip(WIDTHS, SCHEMES, strict=True))
def test_no_page_obeys_a_text_and_each_holds_its_width(report: Path, browse: Any, width: int, scheme: str) -> None:
    found = {}
    for path in sorted(report.glob("*.html")):
        page = browse(path, width=width, scheme=scheme)
        said = [*settled(page), *axe_findings(page), *(["scrolls sideways"] if scrolls_sideways(page) else [])]
        if said:
            found[path.name] = said
        page.close()
    assert found == {}


def test_every_text_is_shown_as_it_is_where_it_is_read(report: Path, browse: Any) -> None:
    """Read by the matrix two summaries side by side, by a citation its document, and each document by its choice."""
    page = browse(report / "matrix.html")
    heads = page.locator(".matrix tbody th")
    assert heads.count() == len(TEXTS)
    assert {head.split(" · ")[0] for head in heads.all_text_contents()} == set(TEXTS)
    for head in range(len(TEXTS)):
        heads.nth(head).get_by_role("button").click()
        page.get_by_label("Side by side with").select_option(index=1 + head % (len(TEXTS) - 1))
        assert page.locator(".mean-of li a[href*='compare=']").count() == 2
    page.locator(".mean-of li a").first.click()
    page.wait_for_selector(".sides")
    assert settled(page) == []
    page.locator(".side > .bullets .chips a").first.click()
    page.wait_for_selector(".claim blockquote")
    chooser = page.get_by_label("Document", exact=False).first
    shown = []
    for place in range(chooser.locator("option").count()):
        chooser.select_option(index=place)
        shown.append(page.locator(".document .text").text_content())
    assert all(any(text in one for one in shown) for text in TEXTS)
    assert settled(page) == []


def test_tables_with_hostile_names_are_copied_and_filtered(report: Path, browse: Any) -> None:
    page = browse(report / "cells.html")
    put_clipboard(page)
    table = page.locator("figure.table").first
    table.get_by_label("Filter").fill("onerror")
    assert [row.is_visible() for row in table.locator("tbody tr").all()].count(True) == 1
    assert "</style><img src=x" in copied(page, table, "CSV")
    assert "&lt;/style>&lt;img" in copied(page, table, "Markdown")
    assert settled(page) == []


def test_the_policy_refuses_what_a_text_would_bring_in(report: Path, chromium: Any) -> None:
    page = chromium.new_page()
    page.goto((report / "summaries-0001.html").resolve().as_uri())
    refused = page.evaluate(
        """async () => {
          const refused = [];
          document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
          const add = (tag, fields) => document.body.append(Object.assign(document.createElement(tag), fields));
          add("script", { textContent: "window.hostileRan = true" });
          add("img", { src: "https://example.org/x.png" });
          add("iframe", { src: "https://example.org/" });
          add("link", { rel: "stylesheet", href: "https://example.org/x.css" });
          document.body.insertAdjacentHTML("beforeend", "<p id=own onclick='window.hostileRan = true'></p>");
          document.getElementById("own").click();
          const wanted = () => new Set(refused).size >= 5;
          for (let turn = 0; turn < 200 && !wanted(); turn += 1) await new Promise((done) => setTimeout(done, 10));
          return [...new Set(refused)].sort();
        }"""
    )
    assert refused == ["frame-src", "img-src", "script-src-attr", "script-src-elem", "style-src-elem"]
    assert page.evaluate("'hostileRan' in window") is False
    page.close()
