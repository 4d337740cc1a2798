"""
Clusters of queries that are alike, none smaller or larger than wanted (MSRS, section 3.3 and appendix A).

Two queries whose cosine is above the threshold are in one cluster: clusters are the connected components of that graph.
A component that is too large is clustered anew at the lowest of its thresholds that splits it, and so on. Then clusters
that are too small are merged, the most similar pair (by the cosine of their means) first, into those that have room.
Nothing depends on the order of the queries but the order of the clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from longform.synthesis.multi_source.settings import ClusterSettings

_DIGITS = 6  # of a cosine, so that the last bits of a product decide nothing

_GONE = 2**31  # the size of a cluster that was merged into another: no room is left

Vectors = NDArray[np.float32]
Sums = NDArray[np.float64]


class Clusters(NamedTuple):
    """A partition of queries, by their places."""

    placed: list[list[int]]  # clusters of at least `least` queries; each ascends, and they ascend by their first query
    oversize: int  # number of them with more than `most`
    unplaced: list[int]  # queries of clusters that are too small, and found none that is alike and has room
    n_split: int  # clusters that were too large, and were split
    n_merged: int  # times that a cluster was merged into another


def cluster_queries(vectors: Vectors, settings: ClusterSettings) -> Clusters:
    """Return the clusters of queries, from unit vectors of shape (queries, dimensions)."""
    cosines = np.round(vectors @ vectors.T, _DIGITS)
    found = _components(cosines, list(range(len(vectors))), settings.threshold)
    large = [cluster for cluster in found if len(cluster) > settings.most]
    if settings.oversize == "raise":
        found = [part for cluster in found for part in _split(cosines, cluster, settings.most)]
    merged, n_merged = _merged(vectors, found, settings)
    placed = sorted(cluster for cluster in merged if len(cluster) >= settings.least)
    return Clusters(
        placed,
        sum(len(cluster) > settings.most for cluster in placed),
        sorted(place for cluster in merged if len(cluster) < settings.least for place in cluster),
        len(large) if settings.oversize == "raise" else 0,
        n_merged,
    )


def _components(cosines: Vectors, members: Sequence[int], threshold: float) -> list[list[int]]:
    among = cosines[np.ix_(members, members)] > threshold
    n, labels = connected_components(among, directed=False)
    return [[members[int(place)] for place in np.flatnonzero(labels == label)] for label in range(n)]


def _split(cosines: Vectors, cluster: list[int], most: int) -> list[list[int]]:
    """Return *cluster* in parts of at most *most*; the lowest threshold that splits a part splits it."""
    done: list[list[int]] = []
    open_ones = [cluster]
    while open_ones:
        members = open_ones.pop()
        if len(members) <= most:
            done.append(members)
        else:
            open_ones += _components(cosines, members, _weakest_link(cosines, members))
    return done


def _weakest_link(cosines: Vectors, members: Sequence[int]) -> float:
    """Return the least cosine of the maximum spanning tree: at this threshold, and at no lower one, *members* part."""
    among = cosines[np.ix_(members, members)]
    first, second = minimum_spanning_tree(2 - among).nonzero()  # weights of at least 1: 0 would be no edge
    return float(among[first, second].min())


def _merged(vectors: Vectors, clusters: Sequence[list[int]], settings: ClusterSettings) -> tuple[list[list[int]], int]:
    """Return the clusters after those that are too small were merged; and how many mergers there were."""
    found = sorted(map(sorted, clusters))
    sums = np.array([vectors[cluster].sum(axis=0, dtype=np.float64) for cluster in found])
    sizes = np.array(list(map(len, found)))
    alike = np.array([_alike(sums, sizes, place, settings) for place in range(len(found))])
    partner, n_merged = _partners(alike), 0
    rows = np.arange(len(found))
    while found:
        best = alike[rows, partner]
        first = int(np.argmax(best))  # of equals the first
        second = int(partner[first])
        if best[first] == -np.inf:
            break
        found[first], found[second] = sorted(found[first] + found[second]), []
        sums[first] += sums[second]
        sizes[first] += sizes[second]
        sizes[second] = _GONE
        alike[second] = alike[:, second] = -np.inf
        alike[first] = alike[:, first] = _alike(sums, sizes, first, settings)
        # a partner that became more alike is seen from the row of the merged cluster
        stale = (best > -np.inf) & ((partner == first) | (partner == second))
        stale[[first, second]] = True
        partner[stale] = _partners(alike[stale])
        n_merged += 1
    return [cluster for cluster in found if cluster], n_merged


def _partners(alike: Sums) -> NDArray[np.int64]:
    """Return the most similar partner of each row, the first of equals."""
    return np.argmax(alike, axis=1) if alike.size else np.zeros(len(alike), dtype=np.int64)


def _alike(sums: Sums, sizes: NDArray[np.int64], place: int, settings: ClusterSettings) -> Sums:
    """Return the cosine of the mean of a cluster with those of all; -inf if the two may not be merged."""
    lengths = np.maximum(np.linalg.norm(sums, axis=1), np.finfo(float).tiny)
    cosines = np.round(sums @ sums[place] / (lengths * lengths[place]), _DIGITS)
    least = -np.inf if settings.least_similarity is None else settings.least_similarity
    is_small = np.minimum(sizes, sizes[place]) < settings.least
    fit = is_small & (sizes + sizes[place] <= settings.most) & (cosines >= least)
    fit[place] = False
    return np.where(fit, cosines, -np.inf)
