"""Pages of documents: below their size, each document once, and no text becomes markup."""

from __future__ import annotations

import json

import pytest

from longform.report import text_pages as module
from longform.report.site import Numbered, ReportSite
from longform.report.text_pages import document_pages
from longform.results.passages import DocumentFacts
from longform.tables.packed import values_of
from tests.longform.report.pages import HOSTILE, Page


def document(haystack: str, number: int, *sentences: str) -> DocumentFacts:
    return {"haystack": haystack, "number": number, "doc_id": f"d{number}", "title": None, "pieces": list(sentences)}


def test_a_page_holds_documents_of_several_haystacks_under_their_topics() -> None:
    made = [document("h1", 2, "One. "), document("h1", 5, "Two."), document("h2", 1, HOSTILE)]
    (page,) = document_pages(made, str.upper)
    assert [(block.haystack, *block.ids) for block in page] == [
        ("h1", 2),
        ("h1", 5),
        ("h2", 1),
    ]
    place = Numbered(module.DOCUMENTS_LINK.file, 1, None, None)
    shown = Page(module.documents_html(ReportSite("Texts", [module.DOCUMENTS_LINK], []), page, place))
    blocks = json.JSONDecoder().raw_decode(shown.script)[0]
    held = [one for block in blocks for one in values_of(block.get("documents", []))]
    assert [one["topic"] for one in held] == ["H1", "H1", "H2"]
    assert HOSTILE in held[2]["pieces"]
    assert "img" not in shown.tags


def test_documents_go_on_on_the_next_page() -> None:
    made = [document("h", number, str(number) + "é" * 40) for number in range(1, 8)]
    pages = list(document_pages(made, str, most_bytes=600))
    assert [number for page in pages for block in page for number in block.ids] == list(range(1, 8))
    assert max(map(len, pages)) < len(made)


def test_a_document_of_any_length_is_cut_with_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ONE", 10)
    ((block,),) = document_pages([document("h", 1, "12345678. ", "behind it.")], str)
    (cut,) = values_of(json.loads(block.data)["documents"])
    assert (cut["pieces"], cut["left_out"]) == (["12345678. "], 10)
