"""The report in a real browser: summaries unfold, tables sort, and a narrow window does not scroll sideways."""

import json
import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from longform.report.site import SUMMARIES, points, site_of, site_pages
from longform.report.text_pages import packed_summaries, summary_pages
from longform.results.evidence import unfolded_of
from longform.studies.schema_1 import with_tables
from tests.longform.report.browser import needs_browser, scrolls_sideways
from tests.longform.report.pages import FIXTURE
from tests.made.demo import two_systems

NARROW = 480
HOSTILE_ID = "s2%20%3C%2Fscript%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the fixture's site; all its summaries stand on one page."""
    place, results = tmp_path_factory.mktemp("site"), with_tables(json.loads(FIXTURE.read_text("utf-8")))
    site = site_of(results, beside=[SUMMARIES])
    packed = packed_summaries(unfolded_of(results["drilldown"]), points(results))
    ((page, html),) = summary_pages(site, results, packed)
    file_of = dict.fromkeys(page.summary_ids, SUMMARIES.file)
    written = dict(site_pages(site, results, summaries=[page], file_of=file_of))
    written[SUMMARIES.file] = html
    for file, text in written.items():
        (place / file).write_text(text, "utf-8")
    return place


@pytest.fixture(scope="module")
def pages() -> list[Path]:
    """Return the pages of a run, which cannot be made once a browser is open."""
    return sorted((Path(two_systems()) / "report").glob("*.html"))


def test_every_column_of_a_run_fits_a_window(pages, browse):
    """A table that would be wider stands in parts, each with the names of its rows."""
    wide = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert {path.name: n for path in pages if (n := browse(path, width=1280).evaluate(wide))} == {}


def test_drilldown_shows_bullets_with_right_wrong_and_missing_citations(folder, browse):
    page = browse(folder / SUMMARIES.file, "#summary=s1")
    chips = page.locator("#drilldown .summary > .bullets .chips li").all()
    assert [(chip.get_attribute("class"), chip.inner_text().split()[2].strip(",")) for chip in chips] == [
        ("right", "2"),
        ("wrong", "7"),
        ("missing", "5"),
        ("missing", "9"),
        ("cited", "1"),
    ]
    shown = page.locator(".summary").inner_text()
    assert "No insight of this query is linked to this bullet." in shown
    assert "Insights not covered (1)" in shown
    assert "Unjudged insights (1)" in shown


@pytest.mark.parametrize(("place", "opened"), [(0, "s1"), (1, "s2")])
def test_an_example_of_repair_opens_its_summary(folder, browse, place, opened):
    page = browse(folder / "citations.html")
    page.locator("a[href*='#summary=']").nth(place).click()
    page.wait_for_selector("html[data-summary]")
    assert f"/{SUMMARIES.file}#" in page.url
    assert page.locator("html").get_attribute("data-summary")[:2] == opened


def test_hostile_texts_of_a_failed_summary_stay_text(folder, browse):
    page = browse(folder / SUMMARIES.file, f"#summary={HOSTILE_ID}")
    assert "This summary failed: finish_reason length </script>" in page.locator(".summary").inner_text()
    assert page.locator("img").count() == 0


def test_a_narrow_window_holds_every_page(folder, browse):
    wide = [path.name for path in sorted(folder.glob("*.html")) if scrolls_sideways(browse(path, width=NARROW))]
    assert wide == []


def test_a_click_on_a_head_sorts_high_first_then_low_first_and_unknowns_last(folder, browse):
    """Top: alpha 17.2, beta 20.2. Middle: alpha 14.4, beta unknown."""
    page = browse(folder / "position.html")
    table = page.locator("#table-position table").first
    orders = []
    for head in (3, 3, 4, 4):
        table.locator("th button").nth(head).click()
        orders.append([cell.inner_text().split()[0] for cell in table.locator("tbody th").all()])
    assert orders == [["beta", "alpha"], ["alpha", "beta"], ["alpha", "beta"], ["alpha", "beta"]]


def test_another_judge_shows_its_own_answers(folder, browse):
    page = browse(folder / SUMMARIES.file, "#summary=s1")
    page.get_by_label("Judge").select_option(index=1)
    tags = {tag.inner_text() for tag in page.locator(".summary .tag").all()}
    assert {"partial", "full", "unjudged: not_json"} <= tags


def test_a_page_of_summaries_unfolds_those_it_holds(tmp_path, browse):
    results = with_tables(json.loads(FIXTURE.read_text("utf-8")))
    packed = packed_summaries(unfolded_of(results["drilldown"]), points(results), most_bytes=1)
    pages = list(summary_pages(site_of(results, beside=[SUMMARIES]), results, packed))
    assert [page.summary_ids[0][:2] for page, _ in pages] == ["s1", "s2", "s3"]
    page, html = pages[1]
    path = tmp_path / page.file
    path.write_text(html, "utf-8")
    page = browse(path)
    assert page.locator("html").get_attribute("data-summary")[:2] == "s2"
    assert "Showing one of the 1 summaries on this page." in page.locator(".status").inner_text()
    assert "This page holds no summary s1." in browse(path, "#summary=s1").locator(".status").inner_text()


@pytest.mark.parametrize(
    ("judged", "head", "told"),
    [
        (("reference", "4"), "References (1)", "rated 4 of 5"),
        (("key_point", "contradicted"), "Key points not said (1)", "contradicted"),
        (("key_point", "entailed"), "Key points said (1)", "said"),
        (("key_point", None), "Unjudged key points (1)", "unjudged: no_quote"),
        (("insight", "none"), "Insights not covered (1)", "none"),
    ],
)
def test_a_verdict_is_told_by_what_was_judged(tmp_path, browse, judged, head, told):
    kind, answer = judged
    results = with_tables(json.loads(FIXTURE.read_text("utf-8")))
    drilldown = results["drilldown"]
    summary = drilldown["summaries"][0]
    target = {"target_id": "t", "name": None, "text": "It rained.", "gold": [], "kind": kind}
    failure = "no_quote" if answer is None else None
    verdict = {**summary["verdicts"][0], "target_id": "t", "answer": answer, "linked_unit": None, "failure": failure}
    query = {**drilldown["queries"][summary["query_id"]], "targets": [target]}
    one = {"queries": {summary["query_id"]: query}, "summaries": [{**summary, "verdicts": [verdict]}]}
    ((_, html),) = summary_pages(site_of(results, beside=[SUMMARIES]), results, packed_summaries(unfolded_of(one), []))
    path = tmp_path / SUMMARIES.file
    path.write_text(html, "utf-8")
    shown = browse(path)
    listed = shown.get_by_role("heading", name=head).locator("xpath=following-sibling::ul[1]")
    assert listed.locator(".tag").first.inner_text().split(", ")[0] == told


def test_a_figure_is_saved_whole(folder, browse, tmp_path):
    """On a dark screen, too, it has dark ink, a white ground and its caption as a title."""
    page = browse(folder / "scores.html", scheme="dark")
    figure = page.locator("figure.plot").first
    saved = {}
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            figure.get_by_role("button", name=f"Save the figure as {kind}").click()
        assert download.value.suggested_filename.endswith(f"-scores-1.{kind.lower()}")
        download.value.save_as(tmp_path / kind)
        saved[kind] = (tmp_path / kind).read_bytes()
    drawing = ET.fromstring(saved["SVG"])
    title = " ".join(part.text for part in drawing.iter("{http://www.w3.org/2000/svg}tspan"))
    assert title == figure.locator("figcaption").inner_text()
    assert drawing[0].get("fill") == "#ffffff"
    assert "color: #1b1f24" in drawing.get("style")
    assert saved["PNG"].startswith(b"\x89PNG")
    assert max(struct.unpack(">II", saved["PNG"][16:24])) > 1000, "pixels"
