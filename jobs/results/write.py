"""
Results: a run's tables -> `results.json` and the report's pages.

Everything here reads committed parts; it can be done again at any time from what a run stored.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.in_sample import TWINS_ONLY, Fitted, mark_in_sample
from jobs.results.repair import BY_MATRIX, repair_results, repaired_originals
from jobs.runs.record import RunRecord
from jobs.stages.runner import Row
from jobs.stages.score import score_work_id, summary_tables
from jobs.stages.score_bullets import MEASURES, classify_work_id
from jobs.stages.split import unit_work_id
from jobs.synthesis.files import ACCOUNT, AUDIT
from longform.axes import COLUMNS, axes_of
from longform.errors import UsageError
from longform.keys import content_key
from longform.records import Query
from longform.repair.twins import METHOD
from longform.report import page as report
from longform.results.aggregate import Aggregate, SummaryInfo, several_models, with_clusters
from longform.results.order_dependence import order_dependence
from longform.settings.experiment import UnitKind

RESULTS = "results.json"
DRILLDOWN = "report/drilldown.json.gz"
_INFO_COLUMNS = [
    "summary_id", "query_id", "summarizer", "setting", "order", "elapsed_minutes", "cut_share", "failure",
    "haystack_id", "dataset", "model", "cause", "cited_by",
]  # fmt: skip


def summary_infos(
    run: Folder, work_ids: Sequence[str], *, queries: Mapping[str, Query] | None = None
) -> dict[str, SummaryInfo]:
    """
    Summary work id -> what the tables need of it, in the order given.

    With *queries*, those of the benchmark, data sets and keys of texts are known, too; else texts are not read.
    """
    more = ["method", "parents", "repeat", *COLUMNS, *(["text"] if queries is not None else [])]
    found: dict[str, SummaryInfo] = {}
    originals: dict[str, str] = {}  # work id of a twin -> summary id of its original
    for batch in run.batches("summaries", work_ids=work_ids, columns=["work_id", "step", *_INFO_COLUMNS, *more]):
        for row in batch.to_pylist():
            if row["step"] is None:
                axes = axes_of(row)
                info = SummaryInfo(**{name: row[name] for name in _INFO_COLUMNS}, axes=axes)
                if row["retriever"] is None:  # written elsewhere: orders of one setting are systems, too
                    info = info._replace(setting=axes.words(with_budget=False))
                else:  # rows that were made before repeats were thought of do not say that they are the first
                    info = info._replace(repeat=row["repeat"] or 0)
                found[row["work_id"]] = info if queries is None else _with_text(info, row["text"], queries)
                if row["method"] == METHOD:
                    originals[row["work_id"]] = row["parents"][0]
    written = {info.summary_id: info for info in found.values()}
    for work_id, original in originals.items():
        before = written[original]
        found[work_id] = found[work_id]._replace(axes=before.axes, twin_of=before.summarizer)
    return {work_id: found[work_id] for work_id in work_ids if work_id in found}


def _with_text(info: SummaryInfo, text: str | None, queries: Mapping[str, Query]) -> SummaryInfo:
    text_key = None if text is None else content_key(text)
    return info._replace(dataset=queries[info.query_id].dataset, text_key=text_key)


def write_results(
    run: Folder,
    benchmark: Benchmark,
    record: RunRecord,
    *,
    title: str,
    summary_work_ids: Sequence[str],
    verdict_work_ids: Sequence[str],
    judges: Sequence[Mapping[str, Any]],
    partial_score: float,
    aggregate: Aggregate,
    seed: int,
    resamples: int,
    compare_with: str | None = None,
    units: UnitKind = "bullets",
    driver: Mapping[str, Any] = BY_MATRIX,
    fitted: Fitted = TWINS_ONLY,
    ignoring_order: Collection[str] = (),
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """
    The results of a run, written to `results.json` and, with the drill-down, as pages.

    *judges* has a row `judge, scale, card` for each judge, in the report's order; *compare_with* names the system that
    all others are compared with; *driver* says what drove the citations of twins, if there are any; *fitted* says which
    parts are fitted models; *ignoring_order* names summarizers that say so of themselves; *more* adds tables of the
    caller's own.
    """
    infos, clusters = with_clusters(summary_infos(run, summary_work_ids, queries=benchmark.queries).values())
    dependence = order_dependence(infos.values(), ignoring_order)
    compared = {summary_id: info for summary_id, info in infos.items() if summary_id not in dependence.idle}
    score_ids = [score_work_id(work_id, partial_score) for work_id in verdict_work_ids]
    score_ids += [classify_work_id(work_id) for work_id in verdict_work_ids]
    places = {row["judge"]: place for place, row in enumerate(judges)}
    scores = run.read("scores", work_ids=score_ids).to_pylist()
    checked = (more or {}).get("faithfulness", {}).get("cells", [])
    judged = {row["judge"] for row in [*scores, *checked]}
    scores.sort(key=lambda score: places[score["judge"]])  # a resumed run has its parts in another order
    settings: dict[str, Any] = {"aggregate": aggregate, "seed": seed, "resamples": resamples}
    drilldown: dict[str, Any] = {
        "queries": dict(_query_facts(benchmark, {info.query_id for info in infos.values()})),
        "summaries": _summary_facts(
            run, infos, scores, [unit_work_id(work_id, units) for work_id in summary_work_ids], verdict_work_ids
        ),
    }
    contents = {summary["summary_id"]: _content(summary) for summary in drilldown["summaries"]}
    results: dict[str, Any] = summary_tables(scores, compared, compare_with=compare_with, contents=contents, **settings)
    results |= {
        "title": title,
        "aggregate": aggregate,
        "benchmark": _benchmark_facts(benchmark),
        "clusters": [row._asdict() for row in clusters],
        "several_models": several_models(infos.values()),
        "order_independent": dependence.rows(),
        "judges": [dict(row) for row in judges if row["judge"] in judged],
        **(more or {}),
        "run": record.content,
    }
    pairs = repaired_originals(run, summary_work_ids).items()
    if originals := {twin: original for twin, original in pairs if {twin, original} <= compared.keys()}:
        facts: dict[str, Any] = {"scores": scores, "infos": compared, "drilldown": drilldown, "checked": checked}
        facts |= {"driver": driver, "aggregate": aggregate, "seed": seed}
        results["repair"] = repair_results(benchmark, originals=originals, **facts)
    mark_in_sample(results, benchmark, drilldown["queries"], fitted)
    if benchmark.folder.has(AUDIT):
        results["audit"] = benchmark.folder.read_json(AUDIT)
    if benchmark.folder.has(ACCOUNT):
        results["synthesis"] = benchmark.folder.read_json(ACCOUNT)
    run.write_json(RESULTS, results)
    run.write_bytes(DRILLDOWN, gzip.compress(json.dumps(drilldown, allow_nan=False).encode(), mtime=0))
    write_pages(run.child("report"), "report", results | {"drilldown": drilldown})
    return results


def _content(summary: Mapping[str, Any]) -> str:
    """The same for summaries of the same text and citations."""
    return content_key([(bullet["text"], bullet["citations"]) for bullet in summary["bullets"]], summary["failure"])


def write_pages(folder: Folder, name: str, results: Mapping[str, Any]) -> None:
    folder.write_bytes(f"{name}.html", report.html(results).encode())
    folder.write_bytes(f"{name}.md", report.markdown(results).encode())


def read_results(run: Folder) -> dict[str, Any]:
    """
    Return the contents of a finished run's pages.

    Raises:
        UsageError: The run has no results yet.
    """
    if not run.has(RESULTS):
        raise UsageError(f"{run.url}: expected a finished run with {RESULTS}; run it to its end first")
    drilldown = json.loads(gzip.decompress(run.read_bytes(DRILLDOWN)))
    return dict(run.read_json(RESULTS)) | {"drilldown": drilldown}


def _benchmark_facts(benchmark: Benchmark) -> dict[str, Any]:
    manifest = benchmark.manifest
    return {
        "url": benchmark.folder.url,
        "dataset_hash": manifest["dataset_hash"],
        "n_haystacks": manifest["n_haystacks"],
        **{f"n_{table}": manifest["rows"][table] for table in ("documents", "queries", "targets")},
        "sources": manifest["sources"],
    }


# ---------------------------------------------------------------- drill-down


def _query_facts(benchmark: Benchmark, query_ids: set[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    for query_id, query in benchmark.queries.items():
        if query_id in query_ids:
            gold = benchmark.gold_numbers(query.haystack_id) or {}
            yield (
                query_id,
                {
                    "haystack": query.haystack_id,
                    "topic": query.topic,
                    "subtopic": query.subtopic_name,
                    "text": query.text,
                    "targets": [
                        {
                            "target_id": t.target_id,
                            "name": t.name,
                            "text": t.text,
                            "gold": sorted(gold.get(t.target_id, ())),
                        }
                        for t in benchmark.targets.get(query_id, [])
                    ],
                },
            )


def _summary_facts(
    run: Folder,
    infos: Mapping[str, SummaryInfo],
    scores: Sequence[Row],
    unit_work_ids: Sequence[str],
    verdict_work_ids: Sequence[str],
) -> list[dict[str, Any]]:
    facts: dict[str, dict[str, Any]] = {
        summary_id: {
            "summary_id": summary_id,
            "query_id": info.query_id,
            "setting": info.setting,
            "summarizer": info.summarizer,
            "order": info.order,
            "repeat": info.repeat,
            "failure": info.failure,
            "bullets": [],
            "verdicts": [],
            "scores": {},
        }
        for summary_id, info in infos.items()
    }
    for batch in run.batches("units", work_ids=unit_work_ids):
        for row in batch.to_pylist():
            facts[row["summary_id"]]["bullets"].append({"text": row["text"], "citations": row["citations"]})
    for batch in run.batches("verdicts", work_ids=verdict_work_ids):
        for row in batch.to_pylist():
            facts[row["summary_id"]]["verdicts"].append({key: row[key] for key in _VERDICT_FACTS})
    for row in scores:
        if row["measure"] not in MEASURES:
            facts[row["summary_id"]]["scores"].setdefault(row["judge"], {})[row["measure"]] = row["value"]
    return list(facts.values())


_VERDICT_FACTS = ("judge", "target_id", "answer", "linked_unit", "probability", "reply", "failure")
