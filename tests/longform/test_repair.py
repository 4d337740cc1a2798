"""Citations replaced by the documents that support each bullet."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from longform.citations import bullets, without_citations
from longform.repair import repaired_texts
from longform.support import SupportIndex

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
