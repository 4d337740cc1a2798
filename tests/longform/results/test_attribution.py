"""Places of unsupported sentences by a judge."""

from __future__ import annotations

import numpy as np

from longform.metrics.position_bias import attributed_sums, bias_index
from longform.results.alignment import attributed
from longform.results.faithfulness_tables import places_in
from longform.settings.experiment import Experiment
from tests.longform.results.test_faithfulness_tables import checked, frame

N = 80


def u_shaped(seed: int) -> list[np.ndarray]:
    """Yes or no on a sentence a document, supported where it stands with the probability of a U."""
    rng = np.random.default_rng(seed)
    return [np.diag([float(rng.random() < 0.55 + 0.4 * (place / 2 - 1) ** 2) for place in range(5)]) for _ in range(N)]


def experiment(**judges: str) -> Experiment:
    """Return one with judges of support, by kind."""
    return Experiment.model_validate(
        {
            "name": "n",
            "seed": 1,
            "retrievers": {"full": {"kind": "full"}},
            "summarizers": {"offline": {"kind": "offline"}},
            "judges": {name: {"task": "support", "kind": kind} for name, kind in judges.items()},
            "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
            "faithfulness": {"mode": "document"},
        }
    )


def test_yes_and_no_alone_leave_a_judge_without_a_curve() -> None:
    alone = frame(checked(query, cells, judge="told") for query, cells in enumerate(u_shaped(1)))
    _, (row,) = attributed(alone.drop("placed", "untestable"), experiment(other="offline"))
    assert row["n_unplaced_by_itself"] > 0.2 * row["n_decided"] == 0.2 * 5 * N
    assert f"{row['n_unplaced_by_itself']} of its {5 * N} sentences have no place" in row["untestable"]
    assert "faithfulness.attribution" in row["untestable"]


def test_sentences_that_nothing_supports_count_where_another_judge_puts_them() -> None:
    told = [checked(query, cells, judge="told") for query, cells in enumerate(u_shaped(1))]
    words = [checked(query, np.eye(5), judge="words") for query in range(N)]
    placed, rows = attributed(frame([*told, *words]).drop("placed", "untestable"), experiment(words="offline"))
    assert [(row["by"], row["untestable"]) for row in rows] == [("words", None), ("words", None)]
    own = placed.filter(judge="told")
    index = bias_index(attributed_sums(places_in(own)), 5, seed=1, permutations=2000)
    assert index is not None
    assert "U-shaped" in index.shape
    conditioned = bias_index(attributed_sums(places_in(own, "best")), 5, seed=1)
    assert conditioned is not None
    assert (conditioned.spread, conditioned.p) == (0.0, 1.0)  # what such a judge would show of itself
