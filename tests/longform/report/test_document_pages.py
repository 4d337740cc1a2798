"""Pages of documents: below their size, each document once, and no text becomes markup."""

from __future__ import annotations

import json

import pytest

from longform.report import document_pages as module
from longform.report.document_pages import document_pages
from longform.report.site import Numbered, Site
from longform.results.passages import DocumentFacts
from longform.tables.packed import values_of
from tests.longform.report.pages import HOSTILE, Page


def document(haystack: str, number: int, *sentences: str) -> DocumentFacts:
    return {"haystack": haystack, "number": number, "doc_id": f"d{number}", "title": None, "pieces": list(sentences)}


def test_a_page_holds_documents_of_several_haystacks_under_their_topics() -> None:
    made = [document("h1", 2, "One. "), document("h1", 5, "Two."), document("h2", 1, HOSTILE)]
    (page,) = document_pages(made)
    assert [(one["haystack"], one["number"]) for one in page] == [("h1", 2), ("h1", 5), ("h2", 1)]
    place = Numbered(module.LINK.file, 1, None, None)
    shown = Page(module.documents_html(Site("Texts", [module.LINK], []), page, place, str.upper))
    held = values_of(json.JSONDecoder().raw_decode(shown.script)[0]["documents"])
    assert [one["topic"] for one in held] == ["H1", "H1", "H2"]
    assert HOSTILE in held[2]["pieces"]
    assert "img" not in shown.tags


def test_documents_go_on_on_the_next_page() -> None:
    made = [document("h", number, str(number) + "é" * 40) for number in range(1, 8)]
    pages = list(document_pages(made, most_bytes=400))
    assert [one["number"] for page in pages for one in page] == list(range(1, 8))
    assert max(map(len, pages)) < len(made)


def test_a_document_of_any_length_is_cut_with_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ONE", 10)
    ((cut,),) = document_pages([document("h", 1, "12345678. ", "behind it.")])
    assert (cut["pieces"], cut["left_out"]) == (["12345678. "], 10)
