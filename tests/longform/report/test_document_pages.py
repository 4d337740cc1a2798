"""Pages of documents: below their size, each document once, and no text becomes markup."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.report import document_pages as module
from longform.report.document_pages import DocumentFiles, document_pages
from longform.results.passages import DocumentFacts
from tests.longform.report.pages import HOSTILE


def document(haystack: str, number: int, *sentences: str) -> DocumentFacts:
    return {"haystack": haystack, "number": number, "doc_id": f"d{number}", "title": None, "pieces": list(sentences)}


def data(page: module.DocumentsPage) -> Any:
    return json.loads(page.data)


def test_a_page_names_what_it_holds() -> None:
    (page,) = document_pages(
        [document("h1", 2, "One. "), document("h1", 5, "Two."), document("h2", 1, HOSTILE)], str.upper
    )
    assert page.held == {"h1": (2, 5), "h2": (1, 1)}
    assert data(page)["haystacks"] == [["h1", "H1"], ["h2", "H2"]]
    assert [row[:2] for row in data(page)["documents"]] == [[0, 2], [0, 5], [1, 1]]
    assert "<" not in page.data


def test_documents_go_on_on_the_next_page() -> None:
    made = [document("h", number, "é" * 40) for number in range(1, 8)]
    pages = list(document_pages(made, str, most_bytes=300))
    assert [row[1] for page in pages for row in data(page)["documents"]] == list(range(1, 8))
    assert len(pages) > 1
    assert all(len(page.data.encode()) < 360 for page in pages)
    assert pages[0].held["h"][0] == 1


def test_a_document_of_any_length_is_cut_with_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ONE", 10)
    (page,) = document_pages([document("h", 1, "12345678. ", "behind it.")], str)
    assert data(page)["documents"][0][4:] == [["12345678. "], 10]


def test_addresses_are_those_of_the_haystacks_asked_for() -> None:
    files = DocumentFiles({"</script>": [("documents-0001.html", 1, 4)], "b": [("documents-0002.html", 1, 9)]})
    assert json.loads(files.json(["</script>", "unknown"])) == {"</script>": [["documents-0001.html", 1, 4]]}
    assert "</script>" not in files.json(["</script>"])
