"""Summaries have pages of their own, each below 3 MB."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from actors.storage.folder import Folder
from jobs.results.documents import keep_unfolded, kept_unfolded
from jobs.results.write import write_pages
from longform.results.evidence import Unfolded, unfolded_of
from longform.studies.schema_1 import with_tables
from longform.tables.packed import values_of
from tests.longform.report.pages import FIXTURE, Page

MOST = 3_000_000


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return with_tables(json.loads(FIXTURE.read_text("utf-8")))


def summaries(results: dict[str, Any], n: int, *, words: int) -> Iterator[Unfolded]:
    """Yield *n* more summaries of the second query behind those of the fixture."""
    yield from (known := list(unfolded_of(results["drilldown"])))
    summary, query = known[-1]
    for number in range(n):
        text = {"text": f"<b> word {number} " * words, "citations": [1]}
        yield Unfolded({**summary, "summary_id": f"more {number}", "bullets": [text]}, query)


def written(results: dict[str, Any], folder: Path, n: int, *, words: int = 100_000) -> dict[str, str]:
    bare = {name: part for name, part in results.items() if name != "drilldown"}
    write_pages(Folder(str(folder)), bare, summaries(results, n, words=words))
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.html"))}


def of_summaries(pages: dict[str, str]) -> dict[str, str]:
    return {name: page for name, page in pages.items() if name.startswith("summaries-")}


def summary_ids(page: str) -> list[str]:
    found = re.search(r'<script type="application/json" id="drilldown-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    queries = [query for block in json.loads(found[1]) for query in values_of(block.get("queries", []))]
    return [row["summary_id"] for query in queries for row in query["summaries"]]


def test_few_summaries_have_one_page(results: dict[str, Any], tmp_path: Path) -> None:
    pages = of_summaries(written(results, tmp_path, 3, words=10))

    assert list(pages) == ["summaries-0001.html"]
    assert summary_ids(pages["summaries-0001.html"])[:1] == ["s1"]


def test_many_summaries_have_pages_that_hold_each_of_them_once(results: dict[str, Any], tmp_path: Path) -> None:
    written_pages = written(results, tmp_path, 9)
    pages = of_summaries(written_pages)

    assert len(pages) > 2
    assert all(len(page.encode()) < MOST for page in written_pages.values())
    assert not [name for name in set(written_pages) - set(pages) if 'id="drilldown-data"' in written_pages[name]]
    shown = [one for page in pages.values() for one in summary_ids(page)]
    assert shown == [one.summary["summary_id"] for one in summaries(results, 9, words=1)]


def _hrefs(page: str) -> list[str]:
    return [unquote(unescape(value)) for _, name, value in Page(page).attributes if name == "href"]


def test_every_link_leads_to_a_page_that_stands(results: dict[str, Any], tmp_path: Path) -> None:
    pages = written(results, tmp_path, 9)
    for page in pages.values():
        assert {link.partition("#")[0] for link in _hrefs(page)} - {""} <= set(pages)
    assert all({"index.html", "summaries-0001.html"} <= set(_hrefs(page)) for page in pages.values())


def test_links_lead_to_the_pages_of_summaries_and_back(results: dict[str, Any], tmp_path: Path) -> None:
    pages = written(results, tmp_path, 9)
    links = {name: _hrefs(page) for name, page in pages.items()}
    names = list(of_summaries(pages))

    assert [link for link in links["index.html"] if link in names][-len(names) :] == names
    assert links[names[-1]][-2:] == ["index.html#drilldown", names[-2]]
    examples = [link for link in links["citations.html"] if "#summary=" in link]
    assert examples
    for link in examples:
        file, _, fragment = link.partition("#summary=")
        assert fragment in summary_ids(pages[file])


def test_pages_run_one_script_and_load_nothing(results: dict[str, Any], tmp_path: Path) -> None:
    for text in written(results, tmp_path, 9).values():
        page = Page(text)
        assert "default-src 'none'" in text
        assert not [item for item in page.attributes if item[1] in {"src", "srcset", "action"}]
        assert page.open == []
        assert "img" not in page.tags


def test_pages_of_a_larger_run_before_are_gone(results: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "summaries-of-mine.txt").write_text("kept")
    written(results, tmp_path, 9)

    assert list(of_summaries(written(results, tmp_path, 1, words=1))) == ["summaries-0001.html"]
    assert (tmp_path / "summaries-of-mine.txt").exists()


def test_a_large_summary_alone_has_a_page_and_none_is_left_out(results: dict[str, Any], tmp_path: Path) -> None:
    pages = of_summaries(written(results, tmp_path, 2, words=700_000))

    assert [summary_ids(page) for page in pages.values()][1:] == [["more 0"], ["more 1"]]


def test_kept_summaries_are_read_back_as_they_were(results: dict[str, Any], tmp_path: Path) -> None:
    run = Folder(str(tmp_path))
    before = list(summaries(results, 3, words=2))
    keep_unfolded(run, before)

    assert list(kept_unfolded(run)) == before
    keep_unfolded(run, before)
    assert [path.name for path in (tmp_path / "report").iterdir()] == ["drilldown.jsonl.gz"]


def test_the_drilldown_of_an_older_run_is_read(results: dict[str, Any], tmp_path: Path) -> None:
    run = Folder(str(tmp_path))
    run.write_bytes("report/drilldown.json.gz", gzip.compress(json.dumps(results["drilldown"]).encode()))

    assert list(kept_unfolded(run)) == list(unfolded_of(results["drilldown"]))
    keep_unfolded(run, kept_unfolded(run))
    assert not run.has("report/drilldown.json.gz")
