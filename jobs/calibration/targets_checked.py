"""
Targets that people check, in numbers, and a copy of the benchmark with those that they accept.

Reads   targets, qrels, documents, labels; synthesis.json, if the benchmark has one, for passages and scores
Writes  documents, queries, targets, qrels of the copy
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TypedDict

from jobs.calibration.place import LabelledPlace
from jobs.calibration.sheets import labels_of
from jobs.calibration.subjects import known_targets
from jobs.write_benchmark import write_benchmark
from longform.errors import UsageError
from longform.formats.rows import HaystackRows
from longform.judges.rubrics import ScoreBin, ScoreBound, TargetCheck, decided, score_bins, score_bounds
from longform.keys import content_key
from longform.records import Qrel

_BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9)


class CheckedColumns(TypedDict):
    """Targets by what people make of them, and scores against it; `bins` and `bounds` are empty without scores."""

    accepted: int
    rejected: int
    unlabelled: int
    answers: dict[str, int]
    bins: list[ScoreBin]
    bounds: list[ScoreBound]


def checked(place: LabelledPlace, check: TargetCheck) -> CheckedColumns:
    """Return what people make of the targets of a benchmark, in numbers."""
    labels = labels_of(place, check)
    accepted = decided(labels, check)
    targets = [one for query in place.benchmark.queries for one in place.benchmark.targets.get(query, [])]
    n_accepted, n_targets = sum(accepted.values()), sum(target.kind == check.checks for target in targets)
    known = known_targets(place.benchmark.folder)
    scores = {target: one.score for target, one in known.items() if one.score is not None}
    return {
        "accepted": n_accepted,
        "rejected": len(accepted) - n_accepted,
        "unlabelled": n_targets - len(accepted),
        "answers": dict(Counter(row["answer"] for row in labels if row["answer"] is not None)),
        "bins": score_bins(scores, accepted),
        "bounds": list(score_bounds(scores, accepted, _BOUNDS)) if scores else [],
    }


def write_accepted(place: LabelledPlace, check: TargetCheck, out_url: str) -> int:
    """
    Write a copy of a benchmark with the accepted targets alone; queries without one are left out.

    Returns:
        The queries of the copy.

    Raises:
        UsageError: People accepted none, or another benchmark stands there.
    """
    accepted = [target for target, is_accepted in decided(labels_of(place, check), check).items() if is_accepted]
    if not accepted:
        raise UsageError(f"--accepted: expected {check.checks}s that people accept, found none")
    benchmark = place.benchmark
    kept = content_key(benchmark.manifest["dataset_hash"], sorted(accepted))
    source = {"name": f"{check.task} of {benchmark.manifest['dataset_hash']}", "sha256": kept}
    manifest = write_benchmark(out_url, _haystacks(place, check, frozenset(accepted)), sources=[source])
    return manifest["rows"]["queries"]


def _haystacks(place: LabelledPlace, check: TargetCheck, accepted: Collection[str]) -> Iterator[HaystackRows]:
    benchmark = place.benchmark
    for haystack_id in benchmark.haystack_ids:
        targets = [
            target
            for target in benchmark.haystack_targets(haystack_id)
            if target.kind != check.checks or target.target_id in accepted
        ]
        left = {target.query_id for target in targets if target.kind == check.checks}
        queries = [one for one in benchmark.queries.values() if one.haystack_id == haystack_id and one.query_id in left]
        if queries:
            targets = [target for target in targets if target.query_id in left]
            ids = {target.target_id for target in targets}
            qrels = [Qrel(**row) for row in benchmark.rows("qrels", haystack_id).to_pylist()]
            stays = [one for one in qrels if one.query_id in left and (one.target_id is None or one.target_id in ids)]
            yield HaystackRows(haystack_id, benchmark.documents(haystack_id), queries, targets, stays)
