from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.retrieval.packing import ImportanceOf, Packing, arranged, capped, pack, whole_within
from longform.settings.systems import Order

TOKENS = [5, 3, 4, 0, 2]


def relevance_of(weights: list[int]) -> ImportanceOf:
    return ImportanceOf(weights, by_relevance=True)


def packed(budget_tokens: int | None, *, ranking: list[int] | None = None, order: Order = "given") -> Packing:
    return pack(
        [2, 0, 1, 4] if ranking is None else ranking,
        document_tokens=TOKENS,
        budget_tokens=budget_tokens,
        order=order,
        importance=relevance_of([0, 2, 1, 0, 2]),
        seed=7,
    )


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        pytest.param(None, ((2, 0, 1, 4), (4, 5, 3, 2), None, 0, 0), id="no-limit"),
        pytest.param(100, ((2, 0, 1, 4), (4, 5, 3, 2), None, 0, 0), id="all-fit"),
        pytest.param(7, ((2, 0), (4, 3), 0, 2, 2), id="second-is-cut"),
        pytest.param(3, ((2,), (3,), 2, 1, 3), id="first-is-cut"),
        pytest.param(9, ((2, 0), (4, 5), None, 0, 2), id="exactly-full-cuts-nothing"),
        pytest.param(4, ((2,), (4,), None, 0, 3), id="exactly-one"),
        pytest.param(0, ((), (), None, 0, 4), id="no-room"),
    ],
)
def test_documents_are_added_until_the_budget_cuts_one(budget: int | None, expected: tuple[object, ...]) -> None:
    found = packed(budget)
    assert (found.documents, found.tokens, found.cut_document, found.cut_tokens, found.n_left_out) == expected


def test_the_cut_share_is_of_the_kept_documents_when_whole() -> None:
    assert packed(7).cut_share == pytest.approx(2 / 9)


def test_documents_are_cut_one_by_one_before_the_budget_cuts_another() -> None:
    found = pack(
        [2, 0, 1, 4],
        document_tokens=TOKENS,
        budget_tokens=8,
        order="bottom",
        importance=relevance_of([0, 2, 3, 0, 1]),
        seed=7,
        most_tokens=3,
    )
    assert (found.documents, found.tokens, found.lost) == ((0, 1, 2), (3, 2, 3), (2, 1, 1))
    assert (found.cut_document, found.cut_tokens, found.n_cut, found.n_left_out) == (1, 4, 3, 1)
    assert found.cut_share == pytest.approx(4 / 12)


def test_no_cap_and_a_large_one_are_the_same() -> None:
    assert capped(TOKENS, None) == capped(TOKENS, 5) == TOKENS


def test_an_empty_document_takes_no_room() -> None:
    found = packed(7, ranking=[2, 3, 1])
    assert (found.documents, found.tokens) == ((2, 3, 1), (4, 0, 3))


@given(
    tokens=st.lists(st.integers(0, 9), max_size=12),
    budget=st.integers(0, 60),
    order=st.sampled_from(["given", "top", "middle", "bottom", "random"]),
)
def test_no_token_is_lost_or_made(tokens: list[int], budget: int, order: Order) -> None:
    """The prompt holds the budget or all there is, and an order moves documents without changing them."""
    found = pack(
        range(len(tokens)),
        document_tokens=tokens,
        budget_tokens=budget,
        order=order,
        importance=relevance_of(tokens),
        seed=1,
    )
    assert found.n_tokens == min(budget, sum(tokens))
    assert len(found.documents) + found.n_left_out == len(tokens)
    for document, kept in zip(found.documents, found.tokens, strict=True):
        assert kept == tokens[document] - (found.cut_tokens if document == found.cut_document else 0)


@pytest.mark.parametrize(
    ("length_tokens", "expected"),
    [
        pytest.param(3, [], id="first-does-not-fit"),
        pytest.param(4, [2], id="exactly-one"),
        pytest.param(8, [2], id="a-smaller-one-behind-does-not-jump-in"),
        pytest.param(9, [2, 0], id="exactly-two"),
        pytest.param(13, [2, 0, 1], id="one-token-left"),
        pytest.param(100, [2, 0, 1, 4], id="all"),
    ],
)
def test_a_length_in_tokens_takes_whole_documents_in_order_while_they_fit(
    length_tokens: int, expected: list[int]
) -> None:
    assert whole_within([2, 0, 1, 4], TOKENS, length_tokens) == expected


@given(tokens=st.lists(st.integers(0, 9), max_size=12), length=st.integers(1, 60), more=st.integers(0, 20))
def test_a_longer_length_begins_with_the_shorter_one(tokens: list[int], length: int, more: int) -> None:
    """Growing prefixes: a server has read what a longer prompt begins with, and pairs are judged once."""
    ranking = range(len(tokens))
    shorter, longer = (whole_within(ranking, tokens, n) for n in (length, length + more))
    assert longer[: len(shorter)] == shorter
    assert sum(tokens[document] for document in longer) <= length + more
    assert len(longer) == len(tokens) or sum(tokens[: len(longer) + 1]) > length + more


def test_top_and_bottom_sort_by_relevance_and_keep_ties() -> None:
    assert packed(None, order="top").documents == (1, 4, 2, 0)
    assert packed(None, order="bottom").documents == (0, 2, 1, 4)


def test_the_order_is_of_what_found_room() -> None:
    """Packing comes first: order decides places, not who gets in."""
    assert packed(7, order="bottom").documents == (0, 2)
    assert packed(7, order="bottom").tokens == (3, 4)


@given(seed=st.integers(0, 50), relevance=st.lists(st.integers(0, 3), max_size=15).filter(any))
def test_middle_puts_relevant_documents_together_between_the_others(seed: int, relevance: list[int]) -> None:
    order = arranged(range(len(relevance)), order="middle", importance=relevance_of(relevance), seed=seed)
    relevant = [document for document in range(len(relevance)) if relevance[document]]
    start = next(place for place, document in enumerate(order) if relevance[document])
    assert order[start : start + len(relevant)] == sorted(relevant, key=lambda document: -relevance[document])
    assert sorted(order) == list(range(len(relevance)))
    for side in (order[:start], order[start + len(relevant) :]):
        assert side == sorted(side)


def test_middle_sends_half_of_the_others_to_the_front() -> None:
    relevance = [0] * 2000 + [1]
    place = arranged(range(2001), order="middle", importance=relevance_of(relevance), seed=3).index(2000)
    assert 900 < place < 1100


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([5, 4, 3, 2, 1], [4, 2, 0, 1, 3]),
        ([1, 2, 3, 4], [1, 3, 2, 0]),
        ([7], [0]),
        ([], []),
    ],
)
def test_middle_by_graded_importance_goes_outwards_from_the_centre(weights: list[int], expected: list[int]) -> None:
    order = arranged(range(len(weights)), order="middle", importance=ImportanceOf(weights, by_relevance=False), seed=1)
    assert order == expected


@pytest.mark.parametrize("order", ["top", "middle", "bottom"])
def test_an_order_by_importance_without_importance_is_an_error(order: Order) -> None:
    with pytest.raises(ValueError, match=order):
        arranged([0, 1], order=order, importance=None, seed=0)


def test_random_is_a_shuffle_of_its_seed() -> None:
    shuffles = {tuple(arranged(range(20), order="random", importance=None, seed=seed)) for seed in range(50)}
    assert len(shuffles) == 50
    again = arranged(range(20), order="random", importance=None, seed=0)
    assert tuple(again) in shuffles
    assert sorted(again) == list(range(20))


def test_permuted_orders_are_all_different_until_all_are_drawn() -> None:
    def drawn(number: int) -> tuple[int, ...]:
        return tuple(arranged(range(3), order="permuted", importance=None, seed=5, permutation=number))

    first = [drawn(number) for number in range(6)]
    assert len(set(first)) == 6
    assert [drawn(number) for number in range(6, 12)] == first
    many = {tuple(arranged(range(30), order="permuted", importance=None, seed=5, permutation=n)) for n in range(20)}
    assert len(many) == 20
