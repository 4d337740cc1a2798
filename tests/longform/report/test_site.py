"""The pages of a report: which there are, how they link to each other, and what each keeps."""

import re

import pytest

from longform.report import site
from longform.report.page import INDEX
from longform.report.sections import sections
from longform.report.site import GROUPS, OTHERS, is_page, site_of, site_pages
from longform.studies.schema_1 import with_tables
from tests.longform.report.pages import Page


@pytest.fixture(scope="module")
def pages(results):
    return dict(site_pages(site_of(results), results))


def test_each_section_stands_on_one_page(results, pages):
    found = [anchor for file, text in pages.items() if file != INDEX for anchor in Page(text).tables]
    expected = [section.anchor for section in sections(results) if section.tables]
    assert sorted(found) == sorted(expected)


def test_each_page_names_all_others_and_itself(results, pages):
    files = [link.file for link in site_of(results).nav]
    assert files[0] == INDEX
    assert set(files) == set(pages)
    for file, text in pages.items():
        nav = text[text.index("<nav") : text.index("</nav>")]
        assert re.findall(r'href="([^"]+)"', nav) == files
        assert re.findall(r'href="([^"]+)" aria-current="page"', nav) == [file]


def test_a_page_has_one_heading_of_the_first_rank_and_a_way_past_its_navigation(pages):
    for text in pages.values():
        page = Page(text)
        assert page.open == []
        assert page.tags.count("h1") == 1
        assert next(value for tag, name, value in page.attributes if (tag, name) == ("a", "href")) == "#main"
        assert ("main", "id", "main") in page.attributes


def test_a_page_without_content_is_not_there(results, pages):
    bare = site_of({name: results[name] for name in ("title", "aggregate", "cells", "judges", "run")})
    assert {link.file for link in bare.nav} < set(pages)


def test_sections_that_no_group_names_have_a_page(results):
    own = {"named": {"title": "Mine", "told": "Mine.", "rows": [{"a": 1}]}}
    assert OTHERS.file in {link.file for link in site_of(with_tables({**results, "own_studies": own})).nav}


def test_a_large_page_is_cut_and_its_parts_lead_to_each_other(results, pages, monkeypatch):
    whole = len(pages["scores.html"].encode())
    monkeypatch.setattr(site.in_parts, "__kwdefaults__", {"most_bytes": whole - 1})
    cut = dict(site_pages(site_of(results), results))
    parts = [file for file in cut if re.fullmatch(r"scores(-\d{4})?\.html", file)]
    assert parts[:2] == ["scores.html", "scores-0002.html"]
    assert all(is_page(file) for file in cut)
    for file in parts:
        assert re.findall(r'href="(scores[^"]*)">Part', cut[file]) == parts
    assert "Scores, part 2" in cut["scores-0002.html"]


def test_only_names_of_pages_are_taken_for_pages():
    named = [
        *(link.file for link in GROUPS),
        "index.html",
        "report.html",
        "documents-0012.html",
        "cells-0002.html",
    ]
    assert all(map(is_page, named))
    assert not any(map(is_page, ["mine.html", "summaries-1.html", "report.md", "my-scores.html", "scores.html.bak"]))
