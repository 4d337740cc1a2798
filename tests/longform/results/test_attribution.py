"""Places of unsupported sentences by a judge, and the report's words if no judge has one."""

from __future__ import annotations

from typing import Any

import numpy as np

from longform.metrics.position_bias import attributed_sums, bias_index, summary_places
from longform.report.page import markdown
from longform.report.places import with_curves
from longform.results.attribution import Attribution, placed
from tests.longform.report.pages import html

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


def two_judges(*untestable: str, judges: tuple[str, ...] = ("letter", "graded")) -> dict[str, Any]:
    """The study of a writer under two judges; those that cannot place what they call unsupported have no curve."""
    point = {"value": 50.0, "low": 40.0, "high": 60.0, "n": 9}
    index = {"spread": 1.0, "lead": 0.0, "ends": 0.0, "p": 0.5, "p_holm": 0.5, "shape": "not distinguishable from flat"}
    curve = {"curve": [point] * 3, "index": index}
    none = {"curve": None, "index": None, "reason": "3 of its 9 sentences have no place"}
    row = {
        "dataset": None,
        "summarizer": "writer",
        "setting": "full",
        "axes": {"retriever": "full"},
        "bins": 3,
        "degenerate": {"n_summaries": 3, "n_empty": 0, "n_sentences": 9, "n_unattributed": 3},
        "coverage": curve,
    }
    places = [row | {"judge": judge, "faithfulness": none if judge in untestable else curve} for judge in judges]
    return {
        "mode": "document",
        "merging": {"documents": "max", "sentences": "mean"},
        "attribution": None,
        "attributed": [
            {"judge": judge, "by": judge, "untestable": none["reason"] if judge in untestable else None}
            for judge in judges
        ],
        "places": places,
        **dict.fromkeys(
            ("cells", "orders", "against_plain", "lengths", "alignment", "permutations", "not_applicable"), ()
        ),
    }


def test_a_judge_that_nothing_can_align_is_said_to_be_untestable_in_place_of_a_curve() -> None:
    found = two_judges("letter", judges=("letter",))
    results = {"title": "t", "fidelity": "ours", "aggregate": "pooled", "faithfulness": found, "run": {}}
    text = markdown(results)
    section = text[text.index("## Faithfulness and coverage by place") : text.index("## How the numbers were made")]
    assert section.split("\n\n")[1:] == ["Judge letter: cannot be tested with this judge.", ""]
    assert "<svg" not in html(results | {"drilldown": {"queries": {}, "summaries": []}})


def test_other_judges_of_a_run_keep_their_curves() -> None:
    found = two_judges("letter")
    assert [row["judge"] for row in with_curves(found)] == ["graded"]
    text = markdown({"title": "t", "fidelity": "ours", "aggregate": "pooled", "faithfulness": found, "run": {}})
    section = text[text.index("## Faithfulness and coverage by place") :]
    assert "Judge letter: cannot be tested with this judge." in section
    assert "Faithfulness by place. Judge graded" in section
    assert "by place. Judge letter" not in section
