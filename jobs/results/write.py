"""
Results: a run's tables -> `results.json` and the report's pages.

Everything here reads committed parts; it can be done again at any time from what a run stored.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, cast

from pydantic import JsonValue

from actors.storage import run_files
from actors.storage.benchmark import ACCOUNT, AUDIT, TABLES, Benchmark
from actors.storage.folder import Folder
from jobs.results.documents import NO_DOCUMENTS, KeptDocuments, keep_texts, kept_documents, write_documents
from jobs.results.drilldown import kept_unfolded
from jobs.results.evidence import RunEvidence
from jobs.results.live_pages import MARKDOWN, remove_pages
from jobs.results.size import counted
from longform.errors import UsageError
from longform.report import document_pages, matrix_page
from longform.report.document_pages import CitedPlaces, DocumentFiles, packed_summaries, summary_pages
from longform.report.first_page import Quotes
from longform.report.page import PageLink, markdown
from longform.report.parts import haystack_name
from longform.report.shown_names import shown_names, unfolded_with_shown_names, with_shown_names
from longform.report.site import SUMMARIES, SummaryPage, points, site_of, site_pages
from longform.results.aggregate import models_tables, several_models
from longform.results.cells import systems_in, table_rows
from longform.results.evidence import Unfolded
from longform.results.in_sample import TWINS_ONLY, Models, mark_in_sample
from longform.results.judges import judges_tables
from longform.results.order_dependence import independent_systems, order_table
from longform.results.results import SCHEMA, JudgeRow, Results, document, of_document
from longform.studies import cells
from longform.studies.schema_1 import as_before, with_tables
from longform.studies.study import Study, study_results
from longform.tables.packed import packed
from longform.tables.table import Table

RESULTS = run_files.RESULTS
REPORT = "report"
"""Folder of a run's pages."""


def write_results(
    evidence: RunEvidence,
    record: dict[str, Any],
    studies: Iterable[Study],
    *,
    title: str,
    judges: Sequence[JudgeRow],
    fitted: Mapping[str, Models] = TWINS_ONLY,
    more: Results | None = None,
    tables: Sequence[Table] = (),
) -> dict[str, Any]:
    """
    Return the content of the `results.json` of a run, which is written, and with the drill-down as pages.

    Rows of *judges* are `judge, scale, card`, in the report's order; *fitted* are the parts that are fitted models;
    *more* and *tables* are what the caller knows and no study makes.
    """
    run, benchmark, aggregate = evidence.run, evidence.benchmark, evidence.averaging.aggregate
    judged, tables = set(evidence.score_table.judges), [*cells.tables(evidence), *tables]
    found = {table.name: table.as_json() for table in tables}
    size, clusters = counted(evidence, systems_in({"tables": found}))
    results: Results = {
        "title": title,
        "aggregate": aggregate,
        "benchmark": _benchmark_facts(benchmark),
        "size": size,
        "haystack_topics": {one.haystack_id: one.topic for one in benchmark.queries.values()},
        "clusters": clusters,
        "several_models": several_models(evidence.all_summaries),
        "judges": [row for row in judges if row["judge"] in judged],
    }
    if pooled := evidence.pooled_datasets:
        results["pooled_datasets"] = pooled
        results["title"] = f"{title} (data sets pooled: {', '.join(pooled)})"
    made = list(studies)
    beside = study_results(made, evidence)
    found |= beside.pop("tables", {})
    results = cast("Results", {**results, **(more or {}), "run": record, "tables": found})
    by_place = any(row.get("mode") == "document" for row in table_rows(results, "faithfulness"))
    orders = order_table(independent_systems(evidence.all_summaries), by_place=by_place)
    found |= {table.name: table.as_json() for table in (*models_tables(results["several_models"]), orders)}
    targets = (target for query in evidence.query_ids for target in benchmark.targets.get(query, []))
    mark_in_sample(results, {target.text for target in targets}, fitted)
    users = {study.name for study in made if study.of_user}
    results["beside"] = {**beside, **as_before(found, users)}
    again = found["retest"]["rows"] if "retest" in found and "retest" not in users else ()
    results["tables"] = found | {table.name: table.as_json() for table in judges_tables(results["judges"], again)}
    beside_benchmark = {"audit": AUDIT, "synthesis": ACCOUNT, "benchmark_tables": TABLES}
    there = {name: file for name, file in beside_benchmark.items() if benchmark.folder.has(file)}
    results = cast("Results", {**results, **{name: benchmark.folder.read_json(file) for name, file in there.items()}})
    content = document(results)
    run.write_json(RESULTS, {**content, "tables": packed(content["tables"])}, sealed=True)
    keep_texts(run, evidence)
    del evidence  # it may be large, and the pages are written from what is stored
    gc.collect()  # it and its frames refer to each other
    write_pages(run.child(REPORT), results, kept_unfolded(run), kept_documents(run))
    return content


def write_pages(
    folder: Folder,
    results: Results,
    unfolded: Iterable[Unfolded],
    documents: KeptDocuments = NO_DOCUMENTS,
    *,
    over: PageLink | None = None,
) -> None:
    """
    Write `report.md` and the report's site, whose first page is `index.html`; pages of a report before are removed.

    One page of summaries or documents is in memory at a time. *over* is a page over several runs, the last link.
    """
    names = shown_names(results)
    results, unfolded = with_shown_names(results, names), unfolded_with_shown_names(unfolded, names)
    folder.write_bytes(MARKDOWN, markdown(results).encode())
    matrix = None if (why := matrix_page.too_large(results)) else matrix_page.MatrixRows(results)
    cited, quotes = CitedPlaces(results), Quotes(results)
    passing = _shown_to(unfolded, cited.add, quotes.add, *([matrix.add] if matrix else []))
    pages = packed_summaries(passing, points(results))
    first = next(pages, None)
    line = f"{SUMMARIES.line} {why}" if why else SUMMARIES.line
    texts = iter(documents.documents)
    some = list(islice(texts, 1))
    beside = [*([matrix_page.LINK] if matrix else []), SUMMARIES._replace(line=line)]
    beside += [document_pages.LINK] if some else []
    site = site_of(results, beside=[*([] if first is None else beside), *([over] if over else [])])
    files: DocumentFiles = ()
    if first is not None and some:
        files = write_documents(folder, site, chain(some, texts), partial(haystack_name, results))
    links: list[SummaryPage] = []
    file_of: dict[str, str] = {}
    passing_pages = chain([first] if first else [], pages)
    for link, html in summary_pages(site, results, passing_pages, files, documents.reason):
        folder.write_bytes(link.file, html.encode())
        links.append(link)
        file_of |= dict.fromkeys(link.summary_ids, link.file)
    written = {link.file for link in links} | {one["file"] for one in files}
    if matrix and links:
        folder.write_bytes(matrix_page.LINK.file, matrix_page.matrix_html(site, matrix.packed(file_of)).encode())
        written.add(matrix_page.LINK.file)
    document_of = partial(cited.address, files, file_of)
    quoted = quotes.quotes(file_of)
    for file, text in site_pages(
        site, results, summaries=links, file_of=file_of, document_of=document_of, quotes=quoted
    ):
        folder.write_bytes(file, text.encode())
        written.add(file)
    remove_pages(folder, but=written)


def _shown_to(unfolded: Iterable[Unfolded], *those: Callable[[Unfolded], None]) -> Iterator[Unfolded]:
    """Yield summaries as they came, each once all of *those* have seen it."""
    for one in unfolded:
        for see in those:
            see(one)
        yield one


def read_results(run: Folder) -> Results:
    """
    Return the results of a finished run.

    Raises:
        UsageError: The run has no results yet.
    """
    if not run.has(RESULTS):
        raise UsageError(f"{run.url}: expected a finished run with {RESULTS}; run it to its end first")
    content = run.read_json(RESULTS, needs=())
    return of_document(content if content.get("schema") == SCHEMA else with_tables(content))


def _benchmark_facts(benchmark: Benchmark) -> dict[str, JsonValue]:
    manifest = benchmark.manifest
    return {
        "url": benchmark.folder.url,
        "dataset_hash": manifest["dataset_hash"],
        "n_haystacks": manifest["n_haystacks"],
        **{f"n_{table}": manifest["rows"][table] for table in ("documents", "queries", "targets")},
        "sources": manifest["sources"],
    }
