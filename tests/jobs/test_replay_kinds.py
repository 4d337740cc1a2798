"""Replay of labels of every kind of judgement, told apart by their answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jobs.evaluations.replay import ReplaySettings, replay
from jobs.files.write_benchmark import write_benchmark
from jobs.stages.cluster import Cluster
from longform.errors import UsageError
from longform.formats.rows import HaystackRows, ShippedRow
from longform.records import Query, Target, TargetKind
from tests.results import cells_of

CLUSTER = Cluster(address=None, workers=0)


def bench(folder: Path, kind: TargetKind, answers: Sequence[Sequence[str | None]]) -> str:
    """A benchmark of a query for each of *answers*: the labels of its targets, one more than there are answers."""
    queries = [Query(f"q{place}", "h", "What?") for place in range(len(answers))]
    targets = [
        Target(f"{query.query_id}:{place}", kind, query.query_id, "h", place, None, f"Text {place}.")
        for query, given in zip(queries, answers, strict=True)
        for place in range(len(given) + 1)
    ]
    summaries: list[ShippedRow] = [
        {"summary_id": one.query_id, "query_id": one.query_id, "haystack_id": "h", "summarizer": "m", "setting": "full",
         "text": "A summary."}
        for one in queries
    ]  # fmt: skip
    labels: list[ShippedRow] = [
        {"annotator": "people", "summary_id": query.query_id, "target_kind": kind, "mode": "full", "repeat": 0,
         "target_id": f"{query.query_id}:{place}", "answer": answer}
        for query, given in zip(queries, answers, strict=True)
        for place, answer in enumerate(given)
    ]  # fmt: skip
    rows = HaystackRows("h", documents=[], queries=queries, targets=targets, summaries=summaries, labels=labels)
    write_benchmark(str(folder), [rows], sources=[])
    return str(folder)


def cell(folder: Path, kind: TargetKind, answers: Sequence[Sequence[str | None]]) -> dict[str, Any]:
    settings = ReplaySettings(resamples=100)
    results = replay(bench(folder / "bench", kind, answers), str(folder / "run"), settings, cluster=CLUSTER)
    (found,) = cells_of(results)
    return dict(found)


def test_labels_of_key_points_have_their_recall_and_one_that_lacks_is_unjudged(tmp_path: Path) -> None:
    found = cell(tmp_path, "key_point", [["entailed", "not_entailed"], ["entailed"]])
    assert found["key_point_recall"] == pytest.approx(100 * 2 / 3)
    assert (found["n_judged"], found["n_unjudged"]) == (3, 2)
    assert "coverage" not in found


def test_ratings_beside_a_reference_need_no_label_of_the_others(tmp_path: Path) -> None:
    found = cell(tmp_path, "reference", [["5"], ["2"]])
    assert found["reference_rating"] == pytest.approx((100 + 25) / 2)
    assert (found["n_judged"], found["n_unjudged"]) == (2, 0)


def test_labels_that_several_tasks_know_are_of_the_one_that_judges_by_such_targets(tmp_path: Path) -> None:
    found = cell(tmp_path, "reference", [["none"], ["none"]])
    assert (found["error_free"], "coverage" in found) == (1.0, False)


def test_coverage_of_key_points_is_coverage_as_before(tmp_path: Path) -> None:
    found = cell(tmp_path, "key_point", [["full", "none"]])
    assert (found["coverage"], found["n_unjudged"]) == (50.0, 1)


def test_answers_of_no_task_or_of_sentences_are_refused_before_any_work(tmp_path: Path) -> None:
    for name, answers in (("mixed", ["entailed", "5"]), ("sentences", ["supported"])):
        url = bench(tmp_path / name, "reference", [answers])
        with pytest.raises(UsageError, match=r"labels of 'people': expected answers of one task .*longform calibrate"):
            replay(url, str(tmp_path / "run"), ReplaySettings(), cluster=CLUSTER)
    assert not (tmp_path / "run").exists()
