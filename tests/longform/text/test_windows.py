from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.windows import PADDING, Window, length_batches, sentence_windows

LENGTHS = st.lists(st.integers(0, 30))


def tokens(window: Window, lengths: list[int]) -> list[tuple[int, int]]:
    """(sentence, token) of all its tokens."""
    if window.stop is not None:
        return [(window.first, at) for at in range(window.start, window.stop)]
    return [(sentence, at) for sentence in range(window.first, window.end) for at in range(lengths[sentence])]


def test_whole_sentences_fill_a_window_while_they_fit() -> None:
    assert sentence_windows([4, 3, 3, 10, 1], [4, 3, 3, 10, 1], 10) == [Window(0, 3), Window(3, 4), Window(4, 5)]


def test_a_sentence_beyond_the_window_stands_in_pieces_of_its_own() -> None:
    found = sentence_windows([2, 25, 2, 2], [2, 25, 2, 2], 10)
    assert found == [Window(0, 1), Window(1, 2, 0, 10), Window(1, 2, 10, 20), Window(1, 2, 20, 25), Window(2, 4)]


def test_a_sentence_may_be_longer_behind_another_than_in_front() -> None:
    assert sentence_windows([5, 5], [6, 6], 10) == [Window(0, 1), Window(1, 2)]
    assert sentence_windows([6, 6], [5, 4], 10) == [Window(0, 2)]


def test_no_sentences_are_no_windows() -> None:
    assert sentence_windows([], [], 5) == []


def test_a_window_without_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 token, got 0"):
        sentence_windows([1], [1], 0)


@given(LENGTHS, st.integers(1, 40))
def test_windows_hold_every_token_once_in_order_and_fit(lengths: list[int], limit: int) -> None:
    found = sentence_windows(lengths, lengths, limit)
    held = [token for window in found for token in tokens(window, lengths)]
    assert held == [(sentence, at) for sentence, length in enumerate(lengths) for at in range(length)]
    assert all(len(tokens(window, lengths)) <= limit for window in found)


@given(LENGTHS, st.integers(1, 40))
def test_no_two_neighbours_could_be_one_window(lengths: list[int], limit: int) -> None:
    whole = [window for window in sentence_windows(lengths, lengths, limit) if window.stop is None]
    for one, other in pairwise(whole):
        if one.end == other.first:
            assert sum(lengths[one.first : one.end]) + lengths[other.first] > limit


@given(st.lists(st.integers(1, 100)), st.integers(1, 400))
def test_batches_hold_every_place_once_and_keep_their_limits(lengths: list[int], batch_tokens: int) -> None:
    batches = length_batches(lengths, batch_tokens)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[place] for place in batch)
        assert padded <= batch_tokens or len(batch) == 1
        assert 1 - sum(lengths[place] for place in batch) / padded <= PADDING + 1e-9


def test_equal_lengths_fill_the_budget() -> None:
    assert [len(batch) for batch in length_batches([10] * 25, 100)] == [10, 10, 5]


def test_the_longest_go_first() -> None:
    assert length_batches([1, 9, 5], 9) == [[1], [2], [0]]
