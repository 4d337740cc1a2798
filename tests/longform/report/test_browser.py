"""The report in a real browser: the drill-down unfolds, and a narrow window does not scroll sideways."""

import html as markup
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from longform.report.page import html, points, summaries_html
from longform.results.drilldown import packed_pages, unfolded_of

CHROMIUM = shutil.which("chromium")
FIXTURE = Path(__file__).parent / "data" / "report_results.json"
NARROW = 480

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs `chromium` on the PATH"),
]

# Copies what the framed report says of itself to where --dump-dom shows it. A window of a browser has a least width;
# a frame has none.
FRAME = """<!doctype html><body><iframe style="width:{width}px;height:800px;border:0" srcdoc="{page}"></iframe><script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {{
  const page = frame.contentDocument;
  Object.assign(document.body.dataset, page.documentElement.dataset);
  const told = {{}};
  const table = page.querySelector("#position table");
  const first = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
  for (const head of [4, 4, 5, 5]) {{
    table.querySelectorAll("th button")[head].click();
    (told.orders ??= []).push(first());
  }}
  const judge = page.querySelector(".choices label:last-child select");
  judge.selectedIndex = 1;
  judge.dispatchEvent(new Event("change"));
  told.answers = [...page.querySelectorAll(".summary .tag")].map((tag) => tag.textContent);
  document.body.dataset.told = JSON.stringify(told);
}});
</script></body>"""


def dump(path: Path, folder: Path, fragment: str = "") -> str:
    command = [
        str(CHROMIUM),
        *"--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update".split(),
        *"--disable-sync --no-first-run --virtual-time-budget=5000 --dump-dom".split(),
        f"--user-data-dir={folder / 'profile'}",
        f"{path.as_uri()}{fragment}",
    ]
    return subprocess.run(command, capture_output=True, check=True, timeout=600).stdout.decode()


@pytest.fixture(scope="module")
def report():
    return html(json.loads(FIXTURE.read_text("utf-8")))


def test_drilldown_shows_bullets_with_right_wrong_and_missing_citations(report, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(report, "utf-8")
    shown = dump(path, tmp_path, "#summary=s1")
    assert 'data-summary="s1"' in shown
    unfolded = shown[shown.index('<div class="summary">') :]
    assert re.findall(r'<li class="(\w+)">. (\d+) \w+</li>', unfolded) == [
        ("right", "2"),
        ("wrong", "7"),
        ("missing", "5"),
        ("missing", "9"),
    ]
    assert "No insight of this query is linked to this bullet." in shown
    assert "Insights not covered (1)" in shown
    assert "Unjudged insights (1)" in shown


def test_an_example_of_repair_opens_its_summary(report, tmp_path):
    """The link names a summary of the drill-down as its own fragment does."""
    path = tmp_path / "report.html"
    path.write_text(report, "utf-8")
    links = re.findall(r'href="(#summary=[^"]*)"', report)
    assert [re.search(r'data-summary="([^"]*)"', dump(path, tmp_path, link))[1][:2] for link in links] == ["s1", "s2"]


def test_hostile_texts_of_a_failed_summary_stay_text(report, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(report, "utf-8")
    shown = dump(path, tmp_path, "#summary=s2%20%3C%2Fscript%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert "This summary failed: finish_reason length &lt;/script&gt;" in shown
    assert "<img" not in shown


@pytest.fixture(scope="module")
def framed(report, tmp_path_factory):
    """Return the state of a report in a frame of 480 pixels after some clicks."""
    folder = tmp_path_factory.mktemp("framed")
    path = folder / "frame.html"
    path.write_text(FRAME.format(width=NARROW, page=markup.escape(report)), "utf-8")
    return dump(path, folder)


def test_a_narrow_window_holds_the_whole_page(framed):
    window, scroll = (int(re.search(rf'data-{name}-width="(\d+)"', framed)[1]) for name in ("window", "scroll"))
    assert window == NARROW
    assert scroll <= window


def test_a_click_on_a_head_sorts_high_first_then_low_first_and_unknowns_last(framed):
    """Top: alpha 17.2, beta 20.2. Middle: alpha 14.4, beta unknown."""
    told = json.loads(markup.unescape(re.search(r'data-told="([^"]*)"', framed)[1]))
    assert told["orders"] == [["beta", "alpha"], ["alpha", "beta"], ["alpha", "beta"], ["alpha", "beta"]]


def test_another_judge_shows_its_own_answers(framed):
    told = json.loads(markup.unescape(re.search(r'data-told="([^"]*)"', framed)[1]))
    assert {"partial", "full", "unjudged: not_json"} <= set(told["answers"])


def test_a_page_of_summaries_unfolds_those_it_holds(tmp_path):
    results = json.loads(FIXTURE.read_text("utf-8"))
    pages = list(packed_pages(unfolded_of(results["drilldown"]), points(results), most_bytes=1))
    assert [page.summary_ids[0][:2] for page in pages] == ["s1", "s2", "s3"]
    path = tmp_path / "report-summaries-0002.html"
    page = summaries_html(results, pages[1], number=2, main="report.html", before="one.html", after=None)
    path.write_text(page, "utf-8")
    shown = dump(path, tmp_path)
    assert re.search(r'data-summary="s2', shown)
    assert "Showing one of the 1 summaries on this page." in shown
    assert "This page holds no summary s1." in dump(path, tmp_path, "#summary=s1")
