"""Passages: the few sentences of a document that share most with a statement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.results.passages import PassageFinder, pieces

FILLER = "The quay was repainted. Gulls nest on the roof. Tickets are sold at a kiosk. The café closes early."
FERRY = f"{FILLER} The night ferry to Hareid sails at 23:40 on Fridays. {FILLER}"
OTHER = "Bread costs more. Flour is scarce this winter. Bakers queue before dawn."


@pytest.fixture(scope="module")
def finder() -> PassageFinder:
    return PassageFinder({3: FERRY, 7: OTHER})


def test_the_sentence_that_states_it_is_found_alone(finder: PassageFinder) -> None:
    assert finder.passages(["On Fridays a night ferry sails to Hareid at 23:40 [3]"], [[3]]) == [[(4, 1)]]


def test_a_statement_over_two_sentences_is_found_in_both(finder: PassageFinder) -> None:
    assert finder.passages(["Bread costs more because flour is scarce."], [[7]]) == [[(0, 2)]]


def test_documents_that_share_little_or_are_not_there_have_none(finder: PassageFinder) -> None:
    assert finder.passages(["The night ferry sails to Hareid on Fridays."], [[7, 99, 3]]) == [[None, None, (4, 1)]]


def test_a_passage_lies_within_its_document() -> None:
    found = PassageFinder({1: OTHER, 2: "Flour is scarce."}).passages(
        ["Bakers queue before dawn", "Flour is scarce"], [[1], [2]]
    )
    assert found == [[(2, 1)], [(0, 1)]]


@given(st.text(alphabet=st.sampled_from("ab .!?\n\u00a0é\U0001f600"), max_size=60))
def test_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
