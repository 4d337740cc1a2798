"""A headless Chromium for tests of pages: fixtures, and what every page must keep."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
SCHEMES = ("light", "dark")
WIDTHS = (1440, 480)
HEIGHT = 900

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs `chromium` on the PATH")


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    """
    Yield a browser that the tests of a file share; a test opens pages of its own in it.

    While it is open an event loop runs in this thread: a second one, or `asyncio.run`, would be refused.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browse(chromium):
    """
    Return what opens a file in a page of its own: `browse(path, fragment="", width=1440, scheme="light")`.

    A page whose script fails, or whose policy refuses something, fails the test when it ends.
    """
    contexts, errors = [], []

    def opened(path: Path, fragment: str = "", *, width: int = WIDTHS[0], scheme: str = SCHEMES[0]):
        context = chromium.new_context(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(f"{path.name}: {error}"))
        page.on("console", lambda said: errors.append(f"{path.name}: {said.text}") if said.type == "error" else None)
        page.goto(f"{path.resolve().as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def scrolls_sideways(page) -> bool:
    """Return whether the page as a whole is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def axe_findings(page) -> list[str]:
    """Return what axe finds in a page: the rule, and the first element."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]} ({len(one['nodes'])})" for one in found]


def load_seconds(page) -> float:
    """Return the seconds from the request of the page to the end of its load event."""
    return page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000
