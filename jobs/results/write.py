"""
Results: a run's tables -> `results.json` and the report's pages.

Everything here reads committed parts; it can be done again at any time from what a run stored.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, cast

from pydantic import JsonValue

from actors.storage import json_files
from actors.storage.benchmark import ACCOUNT, AUDIT, TABLES, Benchmark
from actors.storage.folder import Folder
from jobs.results.documents import (
    NO_DOCUMENTS,
    KeptDocuments,
    keep_texts,
    kept_documents,
    kept_unfolded,
    write_documents,
)
from jobs.results.evidence import RunEvidence
from jobs.results.run_status import SO_FAR
from longform.errors import UsageError
from longform.evidence.scan import pl
from longform.evidence.scores import means
from longform.evidence.summaries import clusters_of
from longform.judges.kinds import KINDS
from longform.report.first_page import Quotes
from longform.report.page import INDEX, PageLink, markdown
from longform.report.parts import haystack_name
from longform.report.shown_names import shown_names, unfolded_with_shown_names, with_shown_names
from longform.report.site import SUMMARIES, SummaryPage, is_page, moved_html, points, site_of, site_pages
from longform.report.text_pages import (
    DOCUMENTS_LINK,
    MATRIX_LINK,
    CitedPlaces,
    DocumentFiles,
    MatrixRows,
    matrix_html,
    packed_summaries,
    summary_pages,
    too_large,
)
from longform.results.aggregate import models_tables, several_models
from longform.results.cells import CellRow, main_measure, systems_in, table_rows
from longform.results.evidence import Family, Unfolded
from longform.results.in_sample import TWINS_ONLY, Models, mark_in_sample
from longform.results.judges import judges_tables
from longform.results.order_dependence import independent_systems, order_table
from longform.results.results import SCHEMA, JudgeRow, Results, document, of_document
from longform.results.run_status import LIVE
from longform.studies import cells
from longform.studies.schema_1 import with_tables
from longform.studies.study import Study, study_tables
from longform.tables.packed import packed
from longform.tables.table import Table

RESULTS = json_files.RESULTS
REPORT = "report"
"""Folder of a run's pages."""
MARKDOWN = "report.md"


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
    Return the results of a run, which are written as `results.json`, and with the drill-down as pages.

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
    found |= study_tables(made, evidence)
    results = cast("Results", {**results, **(more or {}), "run": record, "tables": found})
    by_place = any(row.get("mode") == "document" for row in table_rows(results, "faithfulness"))
    orders = order_table(independent_systems(evidence.all_summaries), by_place=by_place)
    found |= {table.name: table.as_json() for table in (*models_tables(results["several_models"]), orders)}
    targets = (target for query in evidence.query_ids for target in benchmark.targets.get(query, []))
    mark_in_sample(results, {target.text for target in targets}, fitted)
    retests = [one for one in made if one.name == "retest" and not one.of_user]
    again = found["retest"]["rows"] if retests and "retest" in found else ()
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
    return {**results}


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
    matrix = None if (why := too_large(results)) else MatrixRows(results)
    cited, quotes = CitedPlaces(results), Quotes(results)
    passing = _shown_to(unfolded, cited.add, quotes.add, *([matrix.add] if matrix else []))
    pages = packed_summaries(passing, points(results), partial(haystack_name, results))
    first = next(pages, None)
    line = f"{SUMMARIES.line} {why}" if why else SUMMARIES.line
    texts = iter(documents.documents)
    some = list(islice(texts, 1))
    beside = [*([MATRIX_LINK] if matrix else []), SUMMARIES._replace(line=line)]
    beside += [DOCUMENTS_LINK] if some else []
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
        folder.write_bytes(MATRIX_LINK.file, matrix_html(site, matrix.packed(file_of)).encode())
        written.add(MATRIX_LINK.file)
    document_of = partial(cited.address, files, file_of)
    quoted = quotes.quotes(file_of)
    for file, text in site_pages(
        site, results, summaries=links, file_of=file_of, document_of=document_of, quotes=quoted
    ):
        folder.write_bytes(file, text.encode())
        written.add(file)
    remove_pages(folder, but=written)


def remove_pages(folder: Folder, *, but: Collection[str]) -> None:
    """Remove the pages of a report that stood there before, except those named; other files stay."""
    for file in folder.names():
        if is_page(file) and file not in but:
            folder.delete(file)


def retire(run: Folder) -> None:
    """Let the first page of a live report, if there is one, lead to the run's own report; the others are removed."""
    live = run.child(LIVE)
    if live.has(SO_FAR):
        live.write_bytes(INDEX, moved_html(f"../{INDEX}").encode())
        live.delete(SO_FAR)
        live.delete(MARKDOWN)
        remove_pages(live, but={INDEX})


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
    if (content := run.read_json(RESULTS, needs=())).get("schema", 1) not in (1, SCHEMA):
        raise UsageError(f"{run.url}: {RESULTS} is of schema {content['schema']!r:.40}, expected 1 or {SCHEMA}")
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


# ---------------------------------------------------------------- the size of a run


def counted(evidence: RunEvidence, cells: Sequence[CellRow]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the size of a run and its clusters; a query is scored if it has a value of the main measure."""
    benchmark, queries = evidence.benchmark, list(evidence.query_ids)
    own, every = (one.filter(pl.col("twin_of").is_null()) for one in (evidence.summaries, evidence.all_summaries))
    haystacks = dict.fromkeys(benchmark.queries[query_id].haystack_id for query_id in queries)
    mains = {cell["dataset"]: _main(evidence, cell) for cell in reversed(cells)}  # of each data set the first judge
    datasets, scored = evidence.datasets, {dataset: _scored(scores) for dataset, (_, scores) in mains.items()}
    unscored = Counter(
        _why_not(evidence, query, *mains[datasets[query]])
        for query in queries
        if datasets[query] in mains and query not in scored[datasets[query]]
    )
    size = {
        "n_queries": len(queries),
        "unscored_queries": dict(unscored.most_common()) if mains else None,  # by reason; null: nothing is scored
        "haystacks": list(haystacks),
        "n_documents": _n_documents(benchmark, haystacks),
        "n_systems": own.select("summarizer", "setting").n_unique(),  # without twins
        "n_summaries": len(own),
        "n_repeating": len(every) - len(own),  # which repeat others in another order of documents
    }
    return size, _clusters(evidence, scored)


def _main(evidence: RunEvidence, cell: CellRow) -> tuple[str, pl.DataFrame]:
    """Return the main measure of a judge, and its summaries; `n` is null of those without a score by it."""
    measure = main_measure(cell)
    own = Family(cell["judge"], cell["dataset"], evidence)
    scores = means(own.scores.filter(pl.col("measure") == measure)).select("summary_id", "n", "reason")
    facts = own.facts.select("summary_id", "query_id", "haystack_id", "failure")
    return measure, facts.join(scores, on="summary_id", how="left", maintain_order="left")


def _scored(scores: pl.DataFrame) -> dict[str, str | None]:
    """Return the queries with a value, each with its haystack."""
    found = scores.filter(pl.col("n") > 0).unique("query_id", keep="first", maintain_order=True)
    return dict(found.select("query_id", "haystack_id").iter_rows())


def _why_not(evidence: RunEvidence, query: str, measure: str, scores: pl.DataFrame) -> str:
    """Return why a query has no score: what it lacks, else the most frequent reason of its summaries."""
    task = next((one.judged_by for one in evidence.measures if one.name == measure), None)
    kind = KINDS[task].targets if task is not None and task in KINDS else None
    if kind and all(target.kind != kind for target in evidence.benchmark.targets.get(query, [])):
        return f"no {kind.replace('_', ' ')}s"
    own = scores.filter(pl.col("query_id") == query).select("failure", "reason")
    why = [f"failed with {failure}" if failure else reason for failure, reason in own.iter_rows()]
    reasons = Counter(reason.partition(":")[0] for reason in why if reason)
    return reasons.most_common(1)[0][0] if reasons else "no summary of it was scored"


def _clusters(evidence: RunEvidence, scored: Mapping[str | None, Mapping[str, str | None]]) -> list[dict[str, Any]]:
    rows = []
    for one in clusters_of(evidence.all_summaries).iter_rows(named=True):
        own = scored.get(one["dataset"])
        n, n_haystacks = (len(own), len({*own.values()})) if own else (one["n_queries"], one["n_haystacks"])
        rows.append({"dataset": one["dataset"], "kind": one["kind"], "n_queries": n, "n_haystacks": n_haystacks})
    return rows


def _n_documents(benchmark: Benchmark, haystacks: Collection[str]) -> int:
    if len(haystacks) == benchmark.manifest["n_haystacks"]:
        return int(benchmark.manifest["rows"]["documents"])
    return sum(benchmark.rows("documents", one, ["doc_id"]).num_rows for one in haystacks)
