"""Addresses of the documents of an example: by its bullet, else by its insight, else none."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qs

import pytest

from longform.report.sections import DocumentOf
from longform.report.text_pages import CitedPlaces
from longform.results.evidence import Unfolded

EXAMPLE = {"summary_id": "s", "repaired_id": "r", "bullet": "It rained & snowed.", "insight": "Rain fell."}
FILES = [
    {"file": f"documents-000{page}.html", "haystack": "h", "first": first, "last": last}
    for page, first, last in ((1, 1, 4), (2, 5, 9))
]


@pytest.fixture
def document_of() -> DocumentOf:
    query: Any = {"haystack": "h", "targets": [{"text": "Rain fell.", "gold": [7, 8], "passages": [(0, 1), None]}]}
    bullets = [{"text": "Other [2].", "citations": [2], "passages": [(9, 1)]}]
    bullets += [{"text": "It rained & snowed. [2][3]", "citations": [2, 3], "passages": [(4, 2), None]}]
    summary: Any = {"summary_id": "s", "query_id": "q", "bullets": bullets}
    passed: Any = {**summary, "summary_id": "of no example"}
    results: Any = {"tables": {"repair_examples": {"rows": [EXAMPLE]}}}
    cited = CitedPlaces(results)
    for one in (summary, passed):
        cited.add(Unfolded(one, query))
    return partial(cited.address, FILES, {"s": "summaries-0003.html"})


def read(address: str | None) -> tuple[str, dict[str, str]]:
    assert address is not None
    file, _, fragment = address.partition("#")
    return file, {name: value for name, (value,) in parse_qs(fragment).items()}


def test_a_cited_document_opens_at_the_passage_of_the_bullet(document_of: DocumentOf) -> None:
    assert read(document_of(EXAMPLE, "before", "2")) == (
        "documents-0001.html",
        {
            "haystack": "h",
            "document": "2",
            "bullet": "It rained & snowed. [2][3]",
            "sentence": "4",
            "sentences": "2",
            "page": "summaries-0003.html",
            "summary": "s",
        },
    )
    assert "sentence" not in read(document_of(EXAMPLE, "before", "3"))[1]


def test_a_document_that_is_not_cited_opens_at_the_insight_on_its_own_page(document_of: DocumentOf) -> None:
    file, named = read(document_of(EXAMPLE, "before", "7"))
    assert (file, named["insight"], named["sentence"]) == ("documents-0002.html", "Rain fell.", "0")


def test_what_nobody_knows_has_no_address(document_of: DocumentOf) -> None:
    assert document_of(EXAMPLE, "before", "4") is None  # neither cited nor stating
    assert document_of(EXAMPLE, "after", "2") is None  # its summary did not pass
    without: Any = {}  # results of a run without repair
    assert CitedPlaces(without).address(FILES, {}, EXAMPLE, "before", "2") is None
