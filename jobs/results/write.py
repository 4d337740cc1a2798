"""
Results: a run's tables -> `results.json` and the report's pages.

Everything here reads committed parts; it can be done again at any time from what a run stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from pydantic import JsonValue

from actors.storage import run_files
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.drilldown import keep_unfolded, kept_unfolded
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
from longform.results.drilldown import PackedPage, Unfolded, packed_pages
from longform.results.results import ClustersRow, JudgeRow, Results
from longform.results.study import Study, study_results

RESULTS = run_files.RESULTS
_MAIN_BYTES = 4_800_000  # of the report's own page with its drill-down; else the latter has pages of its own


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
    judged = set(evidence.score_table.judges)
    results: Results = {
        "title": title,
        "aggregate": aggregate,
        "benchmark": _benchmark_facts(benchmark),
        "haystack_topics": {one.haystack_id: one.topic for one in benchmark.queries.values()},
        "clusters": [_clusters_row(row) for row in evidence.clusters],
        "several_models": several_models(evidence.all_infos.values()),
        "order_independent": evidence.dependence.rows(),
        "judges": [row for row in judges if row["judge"] in judged],
        "measures": [described(measure) for measure in evidence.measures],
        "cells": all_cells(evidence, aggregate),
        "per_summary_cells": all_cells(evidence, "per_summary"),
    }
    if pooled := evidence.pooled_datasets:
        results["pooled_datasets"] = pooled
        results["title"] = f"{title} (data sets pooled: {', '.join(pooled)})"
    results = with_columns(results, {**study_results(studies, evidence), **(more or {}), "run": record.content})
    mark_in_sample(results, benchmark, evidence.query_ids, fitted)
    if benchmark.folder.has(AUDIT):
        results["audit"] = benchmark.folder.read_json(AUDIT)
    if benchmark.folder.has(ACCOUNT):
        results["synthesis"] = benchmark.folder.read_json(ACCOUNT)
    run.write_json(RESULTS, results)
    keep_unfolded(run, evidence.all_unfolded())
    write_pages(run.child("report"), "report", results, kept_unfolded(run))
    return results


def write_pages(folder: Folder, name: str, results: Results, unfolded: Iterable[Unfolded]) -> None:
    """
    Write `NAME.md` and `NAME.html`, and pages of summaries beside them if these have no room in the latter.

    Args:
        folder: Where to.
        name: Of the report; its pages of summaries are `NAME-summaries-NUMBER.html`.
        results: What the report shows.
        unfolded: The summaries of the run; one page of them is in memory at a time.
    """
    folder.write_bytes(f"{name}.md", report.markdown(results).encode())
    pages = packed_pages(unfolded, report.points(results))
    begun = list(islice(pages, 2))
    written: list[str] = []
    if len(begun) > 1 or not _fits(folder, name, results, begun):
        links, file_of = _write_summaries(folder, name, results, chain(begun, pages))
        folder.write_bytes(f"{name}.html", report.html(results, pages=links, file_of=file_of).encode())
        written = [link.file for link in links]
    for stale in folder.names(after=f"{name}-summaries-"):
        if _is_page(stale, name) and stale not in written:
            folder.delete(stale)


def _is_page(file: str, name: str) -> bool:
    return file.startswith(f"{name}-summaries-") and file.endswith(".html")


def _fits(folder: Folder, name: str, results: Results, pages: Sequence[PackedPage]) -> bool:
    """Write the report with its only page of summaries; return whether there is room for it."""
    page = report.html(results, embedded=pages[0].data if pages else None).encode()
    if pages and len(page) > _MAIN_BYTES:
        return False
    folder.write_bytes(f"{name}.html", page)
    return True


def _write_summaries(
    folder: Folder, name: str, results: Results, pages: Iterator[PackedPage]
) -> tuple[list[report.SummaryPage], dict[str, str]]:
    """Write the pages of summaries; return the links to them, and the files of the summaries that examples name."""
    links: list[report.SummaryPage] = []
    file_of: dict[str, str] = {}
    linked, page = report.linked(results), next(pages, None)
    while page is not None:
        after, number = next(pages, None), len(links) + 1
        file, before, behind = (f"{name}-summaries-{number + step:04d}.html" for step in (0, -1, 1))
        text = report.summaries_html(
            results,
            page,
            number=number,
            main=f"{name}.html",
            before=before if links else None,
            after=None if after is None else behind,
        )
        folder.write_bytes(file, text.encode())
        links.append(report.SummaryPage(file, len(page.summary_ids), page.first, page.last))
        file_of |= {summary_id: file for summary_id in page.summary_ids if summary_id in linked}
        page = after
    return links, file_of


def read_results(run: Folder) -> Results:
    """
    Return the results of a finished run.

    Raises:
        UsageError: The run has no results yet.
    """
    if not run.has(RESULTS):
        raise UsageError(f"{run.url}: expected a finished run with {RESULTS}; run it to its end first")
    results: Results = run.read_json(RESULTS)
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
