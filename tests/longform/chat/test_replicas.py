"""Replicas of groups of calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.chat.matrix_executor import pieces, replica_of


@given(st.lists(st.integers(0, 60), max_size=8), st.integers(1, 5))
def test_pieces_hold_every_item_once(sizes: list[int], n_replicas: int) -> None:
    for size, cut in zip(sizes, pieces(sizes, n_replicas), strict=True):
        assert [place for piece in cut for place in piece] == list(range(size))


def test_one_replica_gets_whole_groups() -> None:
    assert pieces([3, 100], 1) == [[range(3)], [range(100)]]


def test_a_group_longer_than_an_even_share_is_split() -> None:
    assert pieces([10, 90], 4) == [[range(10)], [range(25), range(25, 50), range(50, 75), range(75, 90)]]


def test_a_text_keeps_its_replica() -> None:
    assert {replica_of("text", 0, [0, 0, 0]) for _ in range(5)} == {replica_of("text", 0, [0, 0, 0])}


def test_pieces_of_a_text_go_to_different_replicas() -> None:
    assert len({replica_of("text", piece, [0, 0, 0]) for piece in range(3)}) == 3


def test_texts_spread_over_the_replicas() -> None:
    counts = [0, 0, 0]
    for text in range(300):
        counts[replica_of(str(text), 0, [0, 0, 0])] += 1
    assert min(counts) > 60


def test_an_overfull_replica_is_passed() -> None:
    own = replica_of("text", 0, [0, 0])
    loads = [100, 0] if own == 0 else [0, 100]
    assert replica_of("text", 0, loads) != own
