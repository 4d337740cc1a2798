"""Clusters of queries: what belongs together, what is split, and what is merged."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from longform.synthesis.multi_source.clusters import Clusters, cluster_queries
from longform.synthesis.multi_source.settings import ClusterSettings

Vectors = NDArray[np.float32]


def settings(threshold: float, least: int = 1, most: int = 6, **more: object) -> ClusterSettings:
    return ClusterSettings.model_validate({"encoder": "e", "threshold": threshold, "least": least, "most": most} | more)


def on_a_circle(*degrees: float) -> Vectors:
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def cosine(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


def test_queries_are_in_one_cluster_if_a_chain_of_likes_connects_them() -> None:
    found = cluster_queries(on_a_circle(0, 90, 10, 20, 180), settings(cosine(11)))

    assert found.placed == [[0, 2, 3], [1], [4]]


def test_a_cluster_that_is_too_large_is_split_where_it_is_loosest() -> None:
    vectors = on_a_circle(0, 1, 5, 6, 11, 12)
    found = cluster_queries(vectors, settings(cosine(8), most=2))

    assert found.placed == [[0, 1], [2, 3], [4, 5]]
    assert (found.n_split, found.oversize) == (1, 0)


def test_the_papers_lower_threshold_splits_nothing_and_says_so() -> None:
    found = cluster_queries(on_a_circle(0, 1, 2, 3), settings(cosine(8), most=3, oversize="lower"))

    assert (found.placed, found.oversize, found.n_split) == ([[0, 1, 2, 3]], 1, 0)


def test_a_cluster_that_is_too_small_goes_to_the_most_similar_one_with_room() -> None:
    full, next_best, far = (0, 1, 2), (30, 31), (100, 101)
    found = cluster_queries(on_a_circle(10, *full, *next_best, *far), settings(cosine(5), least=2, most=3))

    assert found.placed == [[0, 4, 5], [1, 2, 3], [6, 7]]
    assert (found.n_merged, found.unplaced) == (1, [])


def test_what_finds_no_room_or_nothing_alike_is_named() -> None:
    vectors = on_a_circle(10, 0, 1)

    assert cluster_queries(vectors, settings(cosine(5), least=2, most=2)).unplaced == [0]
    unlike = settings(cosine(5), least=2, least_similarity=cosine(5))
    assert cluster_queries(vectors, unlike).unplaced == [0]
    assert cluster_queries(vectors, settings(cosine(5), least=2)).unplaced == []


def test_equal_queries_that_are_too_many_are_still_placed() -> None:
    found = cluster_queries(on_a_circle(*[7] * 20), settings(0.5, least=2, most=6))

    assert found.unplaced == []
    assert sum(map(len, found.placed)) == 20
    assert {len(cluster) for cluster in found.placed} <= {2, 3, 4, 5, 6}


@pytest.mark.parametrize("seed", range(12))
def test_every_query_is_in_one_cluster_of_a_wanted_size_or_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, 8))
    vectors = centres[rng.integers(6, size=60)] + rng.uniform(0.1, 0.8) * rng.normal(size=(60, 8))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    wanted = settings(float(rng.uniform(0.2, 0.95)), least=2, most=6)
    found = cluster_queries(vectors, wanted)

    assert sorted([place for cluster in found.placed for place in cluster] + found.unplaced) == list(range(60))
    assert all(2 <= len(cluster) <= 6 for cluster in found.placed)
    assert named(found) == named(cluster_queries(vectors, wanted))
    order = rng.permutation(60)
    shuffled = cluster_queries(vectors[order], wanted)
    assert named(shuffled, order) == named(found)


def named(found: Clusters, order: NDArray[np.int64] | None = None) -> set[frozenset[int]]:
    names = np.arange(1000) if order is None else order
    return {frozenset(int(names[place]) for place in cluster) for cluster in found.placed}


@pytest.mark.parametrize("seed", range(4))
def test_mergers_are_those_of_a_search_over_all_pairs_each_time(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(40, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = cluster_queries(vectors, settings(1, least=3, most=5))

    assert found.placed == [cluster for cluster in searched(vectors, least=3, most=5) if len(cluster) >= 3]


def searched(vectors: Vectors, *, least: int, most: int) -> list[list[int]]:
    clusters = [[place] for place in range(len(vectors))]

    def alike(one: list[int], two: list[int]) -> float:
        first, second = vectors[one].sum(axis=0), vectors[two].sum(axis=0)
        return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))

    while True:
        pairs = [
            (alike(one, two), one, two)
            for one, two in combinations(clusters, 2)
            if min(len(one), len(two)) < least and len(one) + len(two) <= most
        ]
        if not pairs:
            return sorted(clusters)
        _, one, two = max(pairs)
        clusters = [cluster for cluster in clusters if cluster not in (one, two)] + [sorted(one + two)]
