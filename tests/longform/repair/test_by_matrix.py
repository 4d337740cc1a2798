"""Citations replaced by the documents that support each bullet."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from longform.repair.by_matrix import VERSION, BestPlace, best_evidence, repaired_summaries, repaired_texts
from longform.repair.twins import twin_id
from longform.support.index import SupportIndex
from longform.text.citations import bullets, without_citations
from tests.longform.support.collection import CLAIM, COLLECTION, PARAPHRASE

DOCUMENTS = [
    "The bridge costs 5 million euros. It rained.",
    "According to the treasurer, the bridge costs 5 million euros.",
    "The library opens on Sundays from May.",
]
INDEX = SupportIndex(DOCUMENTS)
NUMBERS = [11, 12, 13]


def test_bullet_cites_the_documents_that_support_it_and_no_others() -> None:
    text = "Two things:\n- The bridge costs 5 million euros [13].\n- The library opens on Sundays [11, 12]"

    (repaired,) = repaired_texts([text], INDEX, NUMBERS)

    assert [bullet.citations for bullet in bullets(repaired)] == [[], [11, 12], [13]]
    assert repaired.split("\n")[0] == "Two things:"


def test_bullet_is_read_twice_among_many_documents() -> None:
    """One document says it in other words, which it shares with those that say it as the bullet does."""
    (repaired,) = repaired_texts([CLAIM], SupportIndex(COLLECTION), range(1, len(COLLECTION) + 1))

    assert [bullet.citations for bullet in bullets(repaired)] == [[1, 2, 3, 4, 5, 6, PARAPHRASE + 1]]


def test_statement_without_support_cites_nothing() -> None:
    (repaired,) = repaired_texts(["- Zebras migrate [1]"], INDEX, NUMBERS)

    assert repaired == "- Zebras migrate"


def test_only_citation_groups_go() -> None:
    assert without_citations("- In [Article 3], 5 [1][2, 3] fell [4].") == "- In [Article 3], 5 fell."


@example(["- Zebras migrate [1]\n[1][2]\n- May"])
@given(st.lists(st.text(alphabet="ab [],12:\n- ", max_size=30), max_size=5))
def test_no_line_comes_or_goes(texts: list[str]) -> None:
    """A released label names a bullet by its place."""
    repaired = repaired_texts(texts, INDEX, NUMBERS)

    assert [len(bullets(text)) for text in repaired] == [len(bullets(text)) for text in texts]


SUMMARY = {
    "work_id": "w",
    "summary_id": "s",
    "summarizer": "sys",
    "method": "plain",
    "parents": [],
    "text": "- The library opens on Sundays [11]",
    "failure": None,
    "model": "m",
    "cost_usd": 0.25,
    "output_tokens": 12,
}


def test_twin_is_a_system_of_its_own_with_its_original_as_parent() -> None:
    (twin,) = repaired_summaries([SUMMARY], INDEX, NUMBERS)

    assert twin["text"] == "- The library opens on Sundays [13]"
    assert twin["summarizer"] == "sys, supporting documents found"
    assert (twin["method"], twin["parents"]) == ("repaired citations", ["s"])
    assert twin["summary_id"] == twin_id("s", VERSION) != "s"


def test_twin_has_no_bill_of_its_own() -> None:
    """The sum over a run's summaries is what was paid."""
    (twin,) = repaired_summaries([SUMMARY], INDEX, NUMBERS)

    assert (twin["cost_usd"], twin["output_tokens"]) == (None, None)
    assert SUMMARY["cost_usd"] == 0.25


def test_twin_of_a_failed_summary_has_failed_too() -> None:
    """Between two that did not: their texts stay with them."""
    failed = SUMMARY | {"summary_id": "f", "text": None, "failure": "content_filter"}
    first, middle, last = repaired_summaries(
        [SUMMARY, failed, SUMMARY | {"text": "- 5 million euros, says the treasurer"}], INDEX, NUMBERS
    )

    assert (middle["text"], middle["failure"]) == (None, "content_filter")
    assert first["text"].endswith("[13]")
    assert last["text"].endswith("[12]")


def test_evidence_is_the_place_in_the_best_of_the_cited_documents() -> None:
    bullet = "- The bridge costs 5 million euros, says the treasurer [12]"

    assert best_evidence(bullet, [11, 12], INDEX, NUMBERS) == BestPlace(12, DOCUMENTS[1])
    assert best_evidence(bullet, [13, 11], INDEX, NUMBERS) == BestPlace(11, DOCUMENTS[0])


def test_evidence_ends_with_its_document() -> None:
    """A window of three sentences would else run on into the next document."""
    found = best_evidence("- The library opens on Sundays", [11, 12, 13], INDEX, NUMBERS)

    assert found == BestPlace(13, DOCUMENTS[2])


def test_bullet_that_cites_nothing_has_no_evidence() -> None:
    assert best_evidence("- Zebras migrate", [], INDEX, NUMBERS) is None
    assert best_evidence("- Zebras migrate", [99], INDEX, NUMBERS) is None
