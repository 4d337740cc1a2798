"""Documents that are named by numbers: a number is never read as the place of one while it names another."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from longform.formats.document_names import DocumentNames
from longform.formats.output_citations import Numbering
from longform.formats.outputs import OutputsReader
from longform.formats.own_files import folder_files
from tests.longform.formats.memory_files import memory

NUMBERS = st.lists(st.integers(0, 30), min_size=2, max_size=15, unique=True)
WORDS = st.sampled_from(("", "doc", "doc_", "Minutes-", "page-", "chapter", "protocol", "notes/", "notes/day-"))
ENDINGS = st.sampled_from(("", ".txt", ".md", ".pdf"))
PLAIN = st.text("abc-_. /", min_size=1, max_size=8)


def cited(ids: Sequence[str], text: str, numbering: Numbering | None = None, **fields: object) -> str | None:
    """Return the text as it is judged; None: the line has an error."""
    names = DocumentNames({one: place for place, one in enumerate(ids, 1)}, {})
    reader = OutputsReader(lambda query_id: (query_id, names), numbering, {})
    reader.read([json.dumps({"query_id": "q", "system": "s", "text": text} | fields)], "f")
    return next((one.summary["text"] for one in reader.answers()), None)


def ids_of(paths: Sequence[str]) -> list[str]:
    files = {path: memory(path, f"This is {path}.") for path in paths}
    (haystack,) = folder_files({"notes": files}, queries=[memory("q.txt", "What?")]).haystacks
    return [document.doc_id for document in haystack.documents]


@given(numbers=NUMBERS, word=WORDS, ending=ENDINGS, number=st.integers(0, 30))
def test_a_number_that_names_a_document_is_its_place_or_refused(
    numbers: list[int], word: str, ending: str, number: int
) -> None:
    ids = [f"{word}{one}{ending}" for one in sorted(numbers)]
    named = numbers.index(number) >= 0 and sorted(numbers).index(number) + 1 if number in numbers else None

    for text in (f"It is so [{number}].", f"It is so [Source {number}]."):
        found = cited(ids, text)
        if named is not None:
            assert found in (None, f"It is so [{named}].")
            assert (found is None) == (named != number + (number == 0))
        elif 1 <= number <= len(ids):
            assert found == f"It is so [{number}]."
    if named is not None:
        assert cited(ids, f"It is so [{number}].", numbering="ids") == f"It is so [{named}]."
    if 1 <= number <= len(ids):
        assert cited(ids, f"It is so [{number}].", numbering="haystack") == f"It is so [{number}]."
        assert (cited(ids, f"It is so [{number}].", documents=ids) is None) == (
            ids[number - 1] != str(number) and str(number) in ids
        )


@given(numbers=NUMBERS, between=st.sampled_from(("", "-", "_")), ending=ENDINGS)
def test_a_word_and_a_number_are_a_name_however_they_are_joined(numbers: list[int], between: str, ending: str) -> None:
    ids = [f"item{between}{one}{ending}" for one in numbers]
    for place, number in enumerate(numbers, 1):
        for mark in (f"item{number}", f"item_{number}", f"item-{number}", f"Item{number}", f"item{number}{ending}"):
            assert cited(ids, f"It is so [{mark}].") == f"It is so [{place}]."


@given(first=st.integers(0, 20), n=st.integers(1, 10), dash=st.sampled_from(("-", "–", " to ", " - ")), ending=ENDINGS)
def test_a_range_of_names_is_each_of_them(first: int, n: int, dash: str, ending: str) -> None:
    ids = [f"doc{one}{ending}" for one in range(first + n, first - 1, -1)]
    places = sorted((ids.index(f"doc{one}{ending}") + 1 for one in range(first, first + n + 1)), reverse=True)

    assert cited(ids, f"It is so [doc{first}{dash}doc{first + n}].") == f"It is so [{', '.join(map(str, places))}]."


def test_numbers_that_name_nothing_for_sure_are_places() -> None:
    towns = [f"{town}/{number}.md" for town in ("bridge", "library") for number in (1, 2, 3)]
    assert cited(towns, "It is so [2].") == "It is so [2]."
    assert cited(["town-1a", "town-1b", "town-2a", "town-2b"], "It is so [2].") == "It is so [2]."
    dates = ["2024-03-02.txt", "2024-03-05.txt", "annual.txt"]
    assert cited(dates, "It is so [2].") == "It is so [2]."
    assert cited(["plan-2.txt", "letter.txt"], "It is so [2].") == "It is so [2]."
    assert cited(["doc2.txt", "doc1.txt"], "It is so [2].", documents=["doc1.txt", "doc2.txt"]) == "It is so [1]."
    assert cited(["doc2.txt", "doc_2.txt"], "It is so [doc_2]. And so [doc2].") == "It is so [2]. And so [1]."
    assert cited(["doc1", "doc2"], "It is so [doc9].") == "It is so [3]."


@given(numbers=NUMBERS, word=WORDS, ending=st.sampled_from((".txt", ".md")))
def test_documents_that_differ_in_a_number_stand_in_its_order(numbers: list[int], word: str, ending: str) -> None:
    assert ids_of([f"{word}{one}{ending}" for one in numbers]) == [f"{word}{one}{ending}" for one in sorted(numbers)]


@given(names=st.sets(PLAIN.map(lambda one: f"{one}x.txt").filter(lambda one: not one.startswith(".")), min_size=2))
def test_documents_without_numbers_stand_in_the_order_of_their_names(names: set[str]) -> None:
    shown = [one for one in names if not any(part.startswith(".") for part in one.split("/"))]
    if shown:
        assert ids_of(shown) == sorted(shown)


def test_names_are_compared_as_texts_up_to_a_number_at_the_same_place() -> None:
    assert ids_of(["b1.txt", "a10.txt", "a2.txt", "a-1.txt", "a02.txt", "ab.txt"]) == [
        "a-1.txt", "a02.txt", "a2.txt", "a10.txt", "ab.txt", "b1.txt",
    ]  # fmt: skip
