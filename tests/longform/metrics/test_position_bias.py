"""Curves by place, their index, and whether planted profiles are found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from longform.metrics.position_bias import (
    FLAT,
    FOUND,
    SummaryPlaces,
    attributed_sums,
    bias_index,
    bin_of,
    covered_sums,
    curve,
    degenerate,
    n_bins,
    summary_places,
)

NAN = float("nan")
Profile = Callable[[int], float]
PROFILES: dict[str, Profile] = {
    "u": lambda place: 0.55 + 0.4 * (place - 2) ** 2 / 4,
    "lead": lambda place: 0.95 - 0.08 * place,
    "flat": lambda _: 0.75,
}


def planted(profile: Profile, seed: int, *, n: int = 100, documents: int = 5) -> list[SummaryPlaces]:
    """Summaries of one sentence a document, supported with the probability of its place, else by half."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        numbers = [1.0 if rng.random() < profile(place) else 0.3 for place in range(documents)]
        found.append(summary_places(np.diag(numbers)))
    return found


def index_of(profile: str, seed: int):  # type: ignore[no-untyped-def]
    index = bias_index(attributed_sums(planted(PROFILES[profile], seed)), 5, seed=seed, permutations=2000)
    assert index is not None
    return index


def test_a_sentence_counts_where_its_best_document_stands() -> None:
    cells = np.array([[0.9, 0.1, 0.4], [0.2, 0.8, 0.4], [0.0, 0.0, NAN]])
    places = summary_places(cells)
    assert [part.tolist() for part in places.attributed] == [[0.9, 0.8, 0.0], [1, 1, 0]]
    assert places.unplaced.tolist() == [False, False, True]  # the unjudged cell of the third could win
    assert places.covered == pytest.approx([1.4, 1.4, 0.0])
    assert places.n_covered.tolist() == [3, 3, 2]


def test_ties_share_a_sentence() -> None:
    places = summary_places(np.array([[0.6], [0.6]]))
    assert [part.tolist() for part in places.attributed] == [[0.3, 0.3], [0.5, 0.5]]


def test_another_judge_can_say_where_a_sentence_stands() -> None:
    """Yes and no alone would leave the unsupported sentence nowhere, and the curve at 1."""
    answers = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert summary_places(answers).attributed[1].tolist() == [1, 0]
    placed = summary_places(answers)._replace(best=[[0], [1]])
    assert [part.tolist() for part in placed.attributed] == [[1, 0], [1, 1]]
    undecided = summary_places(np.array([[1.0, NAN], [0.0, 0.0]]))._replace(best=[[0], [1]])
    assert undecided.unplaced.tolist() == [False, True]


def test_places_of_all_lengths_share_bins() -> None:
    assert bin_of(5, 5).tolist() == [0, 1, 2, 3, 4]
    assert bin_of(3, 5).tolist() == [0, 2, 4]
    assert bin_of(1, 5).tolist() == [2]
    assert bin_of(20, 10).tolist() == [place // 2 for place in range(20)]


def test_a_bin_that_nothing_falls_into_has_no_value() -> None:
    summaries = [summary_places(np.array([[1.0], [0.0], [0.0]]))] * 2
    found = curve(attributed_sums(summaries), ["a", "b"], 3, seed=1, resamples=100)
    assert [point.value for point in found] == [1.0, None, None]
    assert degenerate(summaries, 3)["n_bins_never_attributed"] == 2
    covered = curve(covered_sums(summaries), ["a", "b"], 3, seed=1, resamples=100)
    assert [point.value for point in covered] == [1.0, 0.0, 0.0]


def test_empty_summaries_are_counted() -> None:
    summaries = [summary_places(np.zeros((3, 0))), summary_places(np.zeros((3, 2)))]
    found = degenerate(summaries, n_bins(summaries))
    assert [found[name] for name in ("n_summaries", "n_empty", "n_sentences", "n_unattributed")] == [2, 1, 2, 2]


@pytest.mark.parametrize(("profile", "contrast"), [("u", "ends"), ("lead", "lead")])
def test_planted_profiles_are_found(profile: str, contrast: str) -> None:
    for seed in range(20):
        index = index_of(profile, seed)
        assert index.p < 0.01, (seed, index)
        assert getattr(index, contrast) > 0


def test_flat_is_rejected_in_at_most_two_of_twenty_at_5_percent_and_has_no_shape_in_any() -> None:
    found = [index_of("flat", seed) for seed in range(20)]
    assert sum(index.p < 0.05 for index in found) <= 2
    assert {index.shape for index in found} == {FLAT}


def test_a_shape_is_named_by_the_p_value_of_its_family() -> None:
    index = index_of("u", 2)
    assert index._replace(p=FOUND).shape == "U-shaped"
    assert index._replace(p=1.1 * FOUND).shape == FLAT


def test_permutations_end_early_only_if_the_curve_is_no_verdict() -> None:
    flat, u = (attributed_sums(planted(PROFILES[name], 2)) for name in ("flat", "u"))
    early, whole = (bias_index(flat, 5, seed=2, permutations=n) for n in (2000, 50_000))
    assert early == whole
    clear = bias_index(u, 5, seed=2, permutations=8000)
    assert clear is not None
    assert clear.p == 1 / 8001


def test_shapes_have_names() -> None:
    assert "U-shaped" in index_of("u", 1).shape
    assert "lead bias" in index_of("lead", 1).shape
    assert index_of("flat", 1).shape == "not distinguishable from flat"


def test_no_index_below_three_places() -> None:
    two = [summary_places(np.eye(2))] * 3
    assert bias_index(attributed_sums(two), 2, seed=1, permutations=10) is None
