"""ROUGE by percentiles of resampled means: against the normal law, and by the same seed the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longform.evidence.scores import ScoreTable
from longform.measures import named
from longform.results.aggregate import Averaging
from longform.rows import ScoreRow
from longform.studies.rouge_bootstrap import RougeBootstrap, percentiles
from tests.frames import FramesOf, SummaryInfo

VALUES = np.random.default_rng(5).normal(0.4, 0.1, 300)


def evidence(*measures: str, twin_of: str | None = None) -> Any:
    names = {"m": None, "m, repaired": twin_of}
    infos = {
        f"{name} {query}": SummaryInfo(
            f"{name} {query}", f"q{query}", name, "bm25", None, None, None, None, twin_of=original
        )
        for name, original in names.items()
        for query in range(len(VALUES))
    }
    rows: list[ScoreRow] = [
        {"work_id": "", "judge": None, "summary_id": summary_id, "query_id": info.query_id, "haystack_id": "h",
         "measure": "rouge_1_released", "value": value, "total": value, "n": 1, "n_unjudged": 0, "reason": None}
        for summary_id, info in infos.items()
        for value in [float(VALUES[int(info.query_id[1:])])]
    ]  # fmt: skip
    return SimpleNamespace(
        measures=named(measures),
        infos=infos,
        frames=FramesOf(infos),
        score_table=ScoreTable(rows, infos),
        averaging=Averaging("pooled", 1, 100),
    )


def test_percentiles_are_about_those_of_a_normal_mean_and_the_same_again() -> None:
    low, mid, high = percentiles(VALUES, seed=3)
    error = VALUES.std() / np.sqrt(len(VALUES))
    assert mid == pytest.approx(VALUES.mean(), abs=0.1 * error)
    assert (low, high) == pytest.approx((VALUES.mean() - 1.96 * error, VALUES.mean() + 1.96 * error), abs=0.2 * error)
    assert percentiles(VALUES, seed=3) == (low, mid, high)
    assert percentiles(VALUES, seed=4) != (low, mid, high)


def test_each_system_has_a_row_in_points_but_no_twin() -> None:
    found = RougeBootstrap().result(evidence("rouge_1_released", "rouge_1", twin_of="m"))
    assert found is not None
    (row,) = found.as_json()["rows"]
    assert (row["summarizer"], row["setting"], row["measure"]) == ("m", "bm25", "rouge_1_released")
    assert (row["n_summaries"], row["mean"]) == (300, pytest.approx(100 * VALUES.mean()))
    assert row["low"] < row["mid"] < row["high"]


def test_a_run_that_lists_no_rouge_as_released_has_nothing_to_study() -> None:
    assert RougeBootstrap().result(evidence("rouge_1")) is None
