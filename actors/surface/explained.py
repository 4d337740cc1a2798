"""Says insight by insight why a summary has its scores."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from actors.storage.benchmark import MANIFEST, Benchmark
from actors.storage.folder import Folder
from actors.storage.json_files import RECORD
from longform.errors import UsageError

if TYPE_CHECKING:
    from actors.surface.folders import Run

_COLUMNS = pa.schema(
    [
        ("insight", pa.string()),
        ("answer", pa.string()),
        ("bullet", pa.string()),
        ("cited", pa.list_(pa.int64())),
        ("gold", pa.list_(pa.int64())),
        ("wrong", pa.list_(pa.int64())),
        ("missed", pa.list_(pa.int64())),
    ]
)


def explained(run: Run, summary_id: str, judge: str, moved_to: str | PathLike[str] | None) -> pa.Table:
    """Return the table of `Run.explain`."""
    summary = _one(run.summaries.filter(pc.field("summary_id") == summary_id), run, summary_id)
    of_summary = run.verdicts.filter((pc.field("summary_id") == summary_id) & (pc.field("judge") == judge))
    verdicts = {row["target_id"]: row for row in of_summary.to_pylist() if not row["repeat"]}
    bench = _benchmark(run, moved_to)
    targets = [one for one in bench.targets.get(summary["query_id"], ()) if one.target_id in verdicts]
    if not targets:
        judges = sorted(set(run.verdicts.column("judge").to_pylist()))
        raise UsageError(
            f"judge: expected one that judged insights of summary {summary_id!r}, found {judge!r}; the run's judges: "
            f"{', '.join(judges)}"
        )
    units = run.table("units").filter(pc.field("summary_id") == summary_id).to_pylist()
    bullets = {unit["unit_index"]: unit for unit in units}
    gold = bench.gold_numbers(summary["haystack_id"]) or {}
    rows = [
        _row(target.text, verdicts[target.target_id], bullets, gold.get(target.target_id, frozenset()))
        for target in targets
    ]
    return pa.Table.from_pylist(rows, schema=_COLUMNS)


def _benchmark(run: Run, moved_to: str | PathLike[str] | None) -> Benchmark:
    stated = run.folder.read_json(RECORD, needs=["benchmark"])["benchmark"]
    if moved_to is None and not Folder(stated["url"]).has(MANIFEST):
        raise UsageError(f"{run.folder.url}: its benchmark is not at {stated['url']!r}; name where it is with bench=")
    found = Benchmark(moved_to or stated["url"])
    if found.manifest["dataset_hash"] != stated["dataset_hash"]:
        raise UsageError(f"bench: expected the benchmark of {run.folder.url}, found another one at {found.folder.url}")
    return found


def _one(found: pa.Table, run: Run, summary_id: str) -> dict[str, Any]:
    if not found.num_rows:
        raise UsageError(f"summary_id: expected one of the summaries of {run.folder.url}, found {summary_id!r}")
    return dict(found.to_pylist()[0])


def _row(
    text: str, verdict: Mapping[str, Any], bullets: Mapping[int, Mapping[str, Any]], gold: frozenset[int]
) -> dict[str, Any]:
    row = {"insight": text, "answer": verdict["answer"]}
    bullet = bullets.get(verdict["linked_unit"])
    if bullet is None:
        return row
    cited = set(bullet["citations"])
    return row | {
        "bullet": bullet["text"],
        "cited": sorted(cited),
        "gold": sorted(gold),
        "wrong": sorted(cited - gold),
        "missed": sorted(gold - cited),
    }
