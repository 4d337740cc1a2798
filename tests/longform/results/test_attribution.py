"""Places of unsupported sentences by a judge."""

from __future__ import annotations

import numpy as np

from longform.metrics.position_bias import attributed_sums, bias_index, summary_places
from longform.results.checked import Attribution, placed

N = 80


def u_shaped(seed: int) -> list[np.ndarray]:
    """Yes or no on a sentence a document, supported where it stands with the probability of a U."""
    rng = np.random.default_rng(seed)
    return [np.diag([float(rng.random() < 0.55 + 0.4 * (place / 2 - 1) ** 2) for place in range(5)]) for _ in range(N)]


def test_yes_and_no_alone_leave_a_judge_without_a_curve() -> None:
    by_itself = placed([summary_places(cells) for cells in u_shaped(1)])
    assert by_itself.n_unplaced > 0.2 * by_itself.n_decided
    told = Attribution("yes-or-no", None, "yes-or-no", by_itself, by_itself).untestable
    assert told is not None
    assert f"{by_itself.n_unplaced} of its {5 * N} sentences have no place" in told
    assert "faithfulness.attribution" in told


def test_sentences_that_nothing_supports_count_where_another_judge_puts_them() -> None:
    aligned = [summary_places(cells, [[place] for place in range(5)]) for cells in u_shaped(1)]
    assert placed(aligned).enough
    index = bias_index(attributed_sums(aligned), 5, seed=1, permutations=2000)
    assert index is not None
    assert "U-shaped" in index.shape
    conditioned = bias_index(attributed_sums([summary_places(cells) for cells in u_shaped(1)]), 5, seed=1)
    assert conditioned is not None
    assert (conditioned.spread, conditioned.p) == (0.0, 1.0)  # what such a judge would show of itself
