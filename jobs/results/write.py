"""
Results: a run's tables -> `results.json` and the report's pages.

Everything here reads committed parts; it can be done again at any time from what a run stored.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.evidence import RunEvidence
from jobs.results.in_sample import TWINS_ONLY, Fitted, mark_in_sample
from jobs.runs.record import RunRecord
from jobs.synthesis.files import ACCOUNT, AUDIT
from longform.errors import UsageError
from longform.metrics.measure import described
from longform.report import page as report
from longform.results.aggregate import Clusters, several_models
from longform.results.cells import all_cells
from longform.results.columns import with_columns
from longform.results.results import ClustersRow, JudgeRow, Results
from longform.results.study import Study, study_results

RESULTS = "results.json"
DRILLDOWN = "report/drilldown.json.gz"


def write_results(
    evidence: RunEvidence,
    record: RunRecord,
    studies: Iterable[Study],
    *,
    title: str,
    judges: Sequence[JudgeRow],
    fitted: Fitted = TWINS_ONLY,
    more: Results | None = None,
) -> Results:
    """
    Return the results of a run, written to `results.json` and, with the drill-down, as pages.

    Args:
        evidence: The run.
        record: Of its commands.
        studies: That are made of it.
        title: Of the report.
        judges: A row `judge, scale, card` for each judge, in the report's order.
        fitted: Which parts are fitted models.
        more: Tables of the caller's own.
    """
    run, benchmark, aggregate = evidence.run, evidence.benchmark, evidence.averaging.aggregate
    judged = {row["judge"] for row in evidence.scores}
    results: Results = {
        "title": title,
        "aggregate": aggregate,
        "benchmark": _benchmark_facts(benchmark),
        "clusters": [_clusters_row(row) for row in evidence.clusters],
        "several_models": several_models(evidence.all_infos.values()),
        "order_independent": evidence.dependence.rows(),
        "judges": [row for row in judges if row["judge"] in judged],
        "measures": [described(measure) for measure in evidence.measures],
        "cells": all_cells(evidence, aggregate),
        "per_summary_cells": all_cells(evidence, "per_summary"),
    }
    results = with_columns(results, {**study_results(studies, evidence), **(more or {}), "run": record.content})
    mark_in_sample(results, benchmark, evidence.drilldown["queries"], fitted)
    if benchmark.folder.has(AUDIT):
        results["audit"] = benchmark.folder.read_json(AUDIT)
    if benchmark.folder.has(ACCOUNT):
        results["synthesis"] = benchmark.folder.read_json(ACCOUNT)
    run.write_json(RESULTS, results)
    run.write_bytes(DRILLDOWN, gzip.compress(json.dumps(evidence.drilldown, allow_nan=False).encode(), mtime=0))
    write_pages(run.child("report"), "report", {**results, "drilldown": evidence.drilldown})
    return results


def write_pages(folder: Folder, name: str, results: Results) -> None:
    folder.write_bytes(f"{name}.html", report.html(results).encode())
    folder.write_bytes(f"{name}.md", report.markdown(results).encode())


def read_results(run: Folder) -> Results:
    """
    Return the contents of a finished run's pages.

    Raises:
        UsageError: The run has no results yet.
    """
    if not run.has(RESULTS):
        raise UsageError(f"{run.url}: expected a finished run with {RESULTS}; run it to its end first")
    results: Results = run.read_json(RESULTS)
    results["drilldown"] = json.loads(gzip.decompress(run.read_bytes(DRILLDOWN)))
    return results


def _clusters_row(clusters: Clusters) -> ClustersRow:
    return {
        "dataset": clusters.dataset,
        "kind": clusters.kind,
        "n_queries": clusters.n_queries,
        "n_haystacks": clusters.n_haystacks,
    }


def _benchmark_facts(benchmark: Benchmark) -> dict[str, JsonValue]:
    manifest = benchmark.manifest
    return {
        "url": benchmark.folder.url,
        "dataset_hash": manifest["dataset_hash"],
        "n_haystacks": manifest["n_haystacks"],
        **{f"n_{table}": manifest["rows"][table] for table in ("documents", "queries", "targets")},
        "sources": manifest["sources"],
    }
