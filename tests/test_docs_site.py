"""The pages build as a site, strictly, and its links and anchors lead somewhere without the network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.longform.report.browser import CHROMIUM, needs_browser
from tests.pages import PAGES, text_of
from tests.places import ROOT

pytestmark = pytest.mark.slow
OWN_INDEX = {"README.md", "CONTRIBUTING.md", "docs/index.md"}


class Page(HTMLParser):
    """The anchors of a page, and all that it links to or loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value for key, value in attrs if value}
        self.anchors |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in {"script", "img", "link", "iframe"} and found.get("rel") not in {"next", "prev"}:
            self.loaded += [found[key] for key in ("src", "href") if key in found]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def test_every_page_of_docs_is_built(site: Path) -> None:
    wanted = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert wanted <= {path.relative_to(site) for path in site.rglob("*.html")}


def test_links_and_anchors_lead_somewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 40
    assert not list(_broken(pages))


def _broken(pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links:
            place, _, anchor = unquote(link).partition("#")
            if "://" in place or place.startswith(("mailto:", "javascript:")):
                continue
            target = (path.parent / place).resolve() if place else path
            if not target.is_file():
                yield f"{path.name}: no {link}"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{path.name}: no anchor {link}"


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert not [(path.name, one) for path, page in pages.items() for one in page.loaded if "//" in one]


def test_the_index_names_every_page() -> None:
    index = text_of("docs/index.md") + text_of("docs/papers.md")
    named = {page for page in PAGES if f"({page.removeprefix('docs/')})" in index}
    # pages that another page of their subject introduces
    assert set(PAGES) - named - OWN_INDEX <= {"docs/ci.md"}


@needs_browser
def test_the_search_works_from_disk_and_asks_nobody(site: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.click("input[name=query]")
        page.keyboard.type("unjudged", delay=20)
        page.wait_for_selector(".md-search-result__link")
        found = page.locator(".md-search-result__link").first.get_attribute("href")
        browser.close()
    assert found is not None
    assert "faq.html" in found
    assert [url for url in asked if not url.startswith("file:")] == []
