"""
Rankings of a run for ir_measures, with the measures by which it finds the report's numbers.

    run.SYSTEM.txt            a ranking, as in `longform.formats.trec`
    qrels.txt, qrels.DATASET.txt
                              relevance 1 of each document that states a target of the query; a file for each data set
    measures.txt              the report's measures as ir_measures writes them, a line each
    report.json               qrels file -> system -> measure -> the report's number
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from longform.formats.exported import Export, ExportedFile, RunToExport
from longform.formats.trec import file_names, rankings_of, run_lines, word
from longform.records import relevance_by_query

_NAMES = {"P": "P", "R": "R", "nDCG": "nDCG", "MAP": "AP"}
"""Measure of the report -> of ir_measures, where a mean over queries is no part of a name."""
_NO_RANKING = "queries that a system has no ranking of, which ir_measures counts as 0 and the report leaves out"


def ir_measures_export(run: RunToExport) -> Iterable[ExportedFile]:
    """
    Yield runs, judgements, measures and the report's numbers.

    Raises:
        UsageError: An id holds white space, at which these files are split, or two rankings would have one file.
    """
    told: Counter[str] = Counter()
    runs: dict[str, list[str]] = {}
    ranked: dict[str, set[str]] = {}
    qrels: dict[str | None, dict[str, list[str]]] = {}
    for haystack in run.haystacks:
        datasets = {query.query_id: query.dataset for query in haystack.queries}
        relevance = relevance_by_query(haystack.qrels)
        for system, rankings in rankings_of(haystack.rankings, told).items():
            runs.setdefault(system, []).extend(run_lines(system, rankings))
            ranked.setdefault(system, set()).update(rankings)
            for query_id in rankings:
                gold = [doc_id for doc_id, n in relevance.get(query_id, {}).items() if n > 0]
                lines = [f"{word(query_id, 'query')} 0 {word(doc_id, 'document')} 1" for doc_id in gold]
                if lines:
                    qrels.setdefault(datasets[query_id], {})[query_id] = lines
    if not runs:
        return
    judged = {query_id for of_dataset in qrels.values() for query_id in of_dataset}
    if lacking := sum(len(judged - queries) for queries in ranked.values()):
        told[_NO_RANKING] = lacking
    names, judgements = file_names(runs), _judgements(qrels)
    for system, lines in runs.items():
        yield ExportedFile(f"run.{names[system]}.txt", _lines(lines))
    for place, (dataset, file) in enumerate(judgements.items()):
        lines = [line for of_query in qrels[dataset].values() for line in of_query]
        yield ExportedFile(file, _lines(lines), 0, +told if place == 0 else {})
    found = _report(run.results, judgements)
    measures = dict.fromkeys(name for systems in found.values() for row in systems.values() for name in row)
    yield ExportedFile("measures.txt", _lines(measures))
    yield ExportedFile("report.json", found)


def _judgements(datasets: Iterable[str | None]) -> dict[str | None, str]:
    """Return data set -> the file of its judgements."""
    known = list(datasets)
    if len(known) == 1:
        return {known[0]: "qrels.txt"}
    names = file_names([dataset or "none" for dataset in known])
    return {dataset: f"qrels.{names[dataset or 'none']}.txt" for dataset in known}


def _report(results: Mapping[str, Any], judgements: Mapping[str | None, str]) -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in (results["tables"].get("retrieval") or {"rows": ()})["rows"]:
        name, _, cutoff = row["measure"].partition("@")
        if cutoff and row["score"]["value"] is not None and row["dataset"] in judgements:
            of_system = found.setdefault(judgements[row["dataset"]], {}).setdefault(row["system"], {})
            of_system[f"{_NAMES[name]}@{cutoff}"] = row["score"]["value"]
    return found


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


EXPORT = Export(
    ir_measures_export,
    "the same with binary judgements and the measures by which ir_measures finds the report's numbers",
    of="rankings",
)
