"""The variance between repeats: shown as a spread, and within the intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.evidence.scores import ScoreTable, means, with_facts
from longform.results.aggregate import Averaging, mean_of, spread
from tests.frames import Scored, SummaryInfo, frames_of

HOW = Averaging("pooled", seed=1, resamples=400)


def summary(query: int, repeat: int, *values: float) -> Scored:
    """A summary that each repeat of the judge gave one of *values*."""
    info = SummaryInfo(f"{query}:{repeat}", f"q{query}", "s", "bm25", "given", None, None, None, repeat=repeat)
    cells = [(value, 1, 0) for value in values]
    return Scored(info, {"m": (float(np.mean(values)), 1, 0)}, {}, {"m": cells})


def joined(group: list[Scored]) -> Any:
    return with_facts(*frames_of(group))


def test_the_spread_is_the_deviation_of_the_means_of_all_repeats() -> None:
    group = [summary(0, 0, 0.2, 0.6), summary(0, 1, 0.4, 0.8), summary(1, 0, 0.0, 0.0), summary(1, 1, 0.0, 0.0)]
    found = spread(joined(group), "pooled", 100.0)

    assert found["judge"] == pytest.approx(100 * np.std([0.15, 0.35], ddof=1))
    assert found["summaries"] == pytest.approx(100 * np.std([0.2, 0.3], ddof=1))


def test_queries_without_a_value_in_some_repeat_move_no_spread() -> None:
    whole = [summary(0, 0, 0.2, 0.6), summary(1, 0, 0.1, 0.1)]
    lacking = summary(2, 0, 0.9)
    assert spread(joined([*whole, lacking]), "pooled", 1.0)["judge"] == spread(joined(whole), "pooled", 1.0)["judge"]
    assert spread(joined(whole), "pooled", 1.0)["summaries"] is None


def test_intervals_over_queries_hold_the_variance_between_repeats_once() -> None:
    """Queries are alike and answers vary: the error of a mean of Q x R answers is sd / sqrt(Q R), not sd / sqrt(Q)."""
    rng, n_queries, n_repeats, inside, halves = np.random.default_rng(0), 40, 3, 0, []
    for _ in range(120):
        group = [summary(query, 0, *rng.normal(0.5, 0.1, n_repeats)) for query in range(n_queries)]
        found = mean_of(means(joined(group)), HOW)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 0.5 <= found.high
        halves.append((found.high - found.low) / 2)
    assert 0.87 <= inside / 120 <= 0.99
    assert np.mean(halves) == pytest.approx(1.96 * 0.1 / np.sqrt(n_queries * n_repeats), rel=0.1)


def test_a_table_of_scores_averages_the_repeats_of_a_judge() -> None:
    common = {"judge": "j", "summary_id": "a", "measure": "m", "n_unjudged": 0}
    rows = [
        common | {"total": 1.0, "n": 2, "repeat": 0},
        common | {"total": 2.0, "n": 2, "repeat": 1},
        common | {"total": None, "n": 0, "n_unjudged": 3, "repeat": 2, "reason": "unjudged"},
    ]
    table = ScoreTable(rows, ["a"], ["j"])  # type: ignore[arg-type]

    assert means(table.frame).select("total", "n", "unjudged", "reason").rows() == [(1.5, 2, 1, None)]
    assert len(table.frame) == 3
