"""Places of unsupported sentences by a judge, and the report's words if no judge has one."""

from __future__ import annotations

import numpy as np

from longform.metrics.position_bias import attributed_sums, bias_index, summary_places
from longform.report.page import html, markdown
from longform.results.attribution import Attribution, placed

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
    index = bias_index(attributed_sums(aligned), 5, seed=1, permutations=500)
    assert index is not None
    assert "U-shaped" in index.shape
    conditioned = bias_index(attributed_sums([summary_places(cells) for cells in u_shaped(1)]), 5, seed=1)
    assert conditioned is not None
    assert (conditioned.spread, conditioned.p) == (0.0, 1.0)  # what such a judge would show of itself


def test_a_judge_that_nothing_can_align_is_said_to_be_untestable_in_place_of_a_curve() -> None:
    point = {"value": 50.0, "low": 40.0, "high": 60.0, "n": 9}
    index = {"spread": 1.0, "lead": 0.0, "ends": 0.0, "p": 0.5, "p_holm": 0.5, "shape": "not distinguishable from flat"}
    row = {
        "judge": "letter",
        "dataset": None,
        "summarizer": "writer",
        "setting": "full",
        "axes": {"retriever": "full"},
        "bins": 3,
        "degenerate": {"n_summaries": 3, "n_empty": 0, "n_sentences": 9, "n_unattributed": 3},
        "faithfulness": {"curve": None, "index": None, "reason": "3 of its 9 sentences have no place"},
        "coverage": {"curve": [point] * 3, "index": index},
    }
    found = {
        "mode": "document",
        "merging": {"documents": "max", "sentences": "mean"},
        "attribution": None,
        "attributed": [{"judge": "letter", "by": "letter", "untestable": "3 of its 9 sentences have no place"}],
        "places": [row],
        **dict.fromkeys(("cells", "orders", "lengths", "alignment", "permutations", "not_applicable"), ()),
    }
    results = {"title": "t", "fidelity": "ours", "aggregate": "pooled", "faithfulness": found, "run": {}}
    text = markdown(results)
    assert "Judge letter: faithfulness by place cannot be tested with this judge: 3 of its 9 sentences" in text
    assert "Coverage by place." in text
    assert "Faithfulness by place." not in text
    assert "| faithfulness |" not in text
    assert html(results | {"drilldown": {"queries": {}, "summaries": []}}).count("<svg") == 1  # coverage
