"""Balanced accuracy and AUROC: tables worked by hand, scikit-learn, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from longform.metrics.agreement import JudgedPair, Label
from longform.metrics.balanced import auroc, separation
from longform.metrics.statistics import drawn_counts

CELLS = st.lists(
    st.tuples(st.integers(0, 5), st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), min_size=2, max_size=40
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


def items(rows: list[tuple[int, bool, float]]) -> list[JudgedPair]:
    counts = {"yes": 1.0, "no": 0.0}
    return [
        JudgedPair(cluster, Label("ann", "s", 0, "yes" if label else "no"), Label("judge", "s", 0, "", None, n), counts)
        for cluster, label, n in rows
    ]


def test_by_hand() -> None:
    """Two of three supported are above 0.5, one of two unsupported is not; of six pairs 4 are won and one is tied."""
    rows = [(1, True, 0.9), (1, True, 0.6), (2, True, 0.2), (2, False, 0.6), (3, False, 0.1)]
    found = separation(items(rows), seed=1, resamples=100)

    assert found["balanced_accuracy"]["value"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found["auroc"]["value"] == pytest.approx(4.5 / 6)
    assert (found["n_supported"], found["n_unsupported"], found["n_unjudged"], found["reason"]) == (3, 2, 0, None)


def test_number_at_the_threshold_is_not_supported() -> None:
    rows = items([(1, True, 0.5), (2, False, 0.4)])

    assert separation(rows, seed=1, resamples=100)["balanced_accuracy"]["value"] == 0.5
    assert separation(rows, seed=1, resamples=100, threshold=0.45)["balanced_accuracy"]["value"] == 1.0


@given(CELLS)
def test_equal_to_scikit_learn(rows: list[tuple[int, bool, float]]) -> None:
    found = separation(items(rows), seed=1, resamples=100)
    labels, numbers = [label for _, label, _ in rows], np.array([number for *_, number in rows])

    assert found["auroc"]["value"] == pytest.approx(roc_auc_score(labels, numbers))
    assert found["balanced_accuracy"]["value"] == pytest.approx(balanced_accuracy_score(labels, numbers > 0.5))


@given(CELLS)
def test_interval_of_auroc_is_of_resampled_clusters(rows: list[tuple[int, bool, float]]) -> None:
    """The quadratic form of the clusters' counts, against every resample's pairs counted one by one."""
    clusters = [cluster for cluster, *_ in rows]
    labels, numbers = np.array([label for _, label, _ in rows]), np.array([number for *_, number in rows])
    found = auroc(numbers, labels, clusters, seed=3, resamples=12)
    names = list(dict.fromkeys(clusters))
    counts = np.concatenate(list(drawn_counts(len(names), seed=3, resamples=12))).astype(int)
    drawn = []
    for count in counts:
        times = np.array([count[names.index(cluster)] for cluster in clusters])
        again, known = np.repeat(numbers, times), np.repeat(labels, times)
        drawn.append(roc_auc_score(known, again) if len(set(known.tolist())) == 2 else np.nan)

    if len(names) > 1:
        assert (found.low, found.high) == pytest.approx(tuple(np.nanquantile(drawn, [0.025, 0.975])))
    else:
        assert (found.low, found.high) == (None, None)


@given(CELLS)
def test_auroc_of_the_opposite_labels_is_the_rest_to_1(rows: list[tuple[int, bool, float]]) -> None:
    there = separation(items(rows), seed=1, resamples=100)
    back = separation(items([(c, not label, number) for c, label, number in rows]), seed=1, resamples=100)

    assert there["auroc"]["value"] is not None
    assert back["auroc"]["value"] == pytest.approx(1 - there["auroc"]["value"])


@pytest.mark.parametrize("label", [True, False])
def test_one_class_has_no_measure_and_says_why(label: bool) -> None:
    found = separation(items([(1, label, 0.9)]), seed=1, resamples=100, n_unjudged=1)

    assert (found["balanced_accuracy"]["value"], found["auroc"]["value"]) == (None, None)
    assert found["reason"] is not None
    assert f"all judged items are {'supported' if label else 'unsupported'}" in found["reason"]
    assert found["n_unjudged"] == 1


def test_nothing_judged() -> None:
    found = separation([], seed=1, n_unjudged=1)

    assert (found["auroc"]["value"], found["n_unjudged"], found["reason"]) == (None, 1, "no labelled item was judged")


def test_articles_are_resampled_whole() -> None:
    """Ten equal rows of each article carry no more than one: the interval is that of the articles."""
    rows = [(article, bool(article % 2), ((7 * article) % 5) / 4) for article in range(12)]
    once = separation(items(rows), seed=1, resamples=500)
    often = separation(items(rows * 10), seed=1, resamples=500)

    for measure in ("balanced_accuracy", "auroc"):
        assert often[measure] == pytest.approx({**once[measure], "n": 10 * len(rows)})
