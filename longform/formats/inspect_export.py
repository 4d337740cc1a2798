"""
A run as logs of Inspect AI: a file `SYSTEM.json` for each system, which `inspect view` and `read_eval_log` load.

A sample is a query: its text is the input, its targets are the target, and the summary is the output. Several summaries
of a query by one system are epochs. A scorer is a judge, whose value has a number for each measure, in the report's
unit; measures without a judge are those of the scorer `longform`. The metrics of the results are the report's cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from longform.formats.exported import Export, ExportedFile, RunToExport, SystemOf
from longform.formats.ranking_exports import file_names
from longform.formats.table_export import cell_rows
from longform.keys import in_groups
from longform.records import Query, Target
from longform.rows import SummaryRow

_VERSION = 2  # of the log format
_NO_JUDGE = "longform"
_POINTS = 100.0

Scores = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Judge -> measure -> `value` in the report's unit, and `reason` if there is none."""


def inspect_export(run: RunToExport) -> Iterable[ExportedFile]:
    """
    Yield a log for each system.

    Raises:
        UsageError: Two systems would have one file.
    """
    scores = _scores(run)
    samples: dict[SystemOf, list[dict[str, Any]]] = {}
    for haystack in run.haystacks:
        queries = {query.query_id: query for query in haystack.queries}
        targets = in_groups((target.query_id, target) for target in haystack.targets)
        for row in haystack.summaries:
            if (system := run.systems.get(row["summary_id"])) is not None:
                own = samples.setdefault(system, [])
                epoch = 1 + sum(sample["id"] == row["query_id"] for sample in own)
                query, wanted = queries[row["query_id"]], targets.get(row["query_id"], [])
                own.append(_sample(row, query, wanted, epoch, scores.get(row["summary_id"], {})))
    names = file_names([str(system) for system in samples])
    for system, of_system in samples.items():
        yield ExportedFile(f"{names[str(system)]}.json", _log(run, system, of_system), len(of_system))


def _scores(run: RunToExport) -> Mapping[str, Scores]:
    """Return the scores of each summary by the measures of the results; of several repeats of a judge the mean."""
    units = {one["name"]: one["unit"] for one in run.results["tables"]["measures"]["rows"]}
    values: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in run.table("scores").to_pylist():
        if row["measure"] in units:
            values.setdefault((row["summary_id"], row["judge"] or _NO_JUDGE, row["measure"]), []).append(row)
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for (summary_id, judge, measure), rows in values.items():
        known = [row["value"] for row in rows if row["value"] is not None]
        factor = _POINTS if units[measure] == "points" else 1.0
        score = {
            "value": factor * sum(known) / len(known) if known else None,
            "reason": None if known else rows[0]["reason"],
        }
        found.setdefault(summary_id, {}).setdefault(judge, {})[measure] = score
    return found


def _sample(row: SummaryRow, query: Query, targets: Sequence[Target], epoch: int, scores: Scores) -> dict[str, Any]:
    text = row["text"] or ""
    user = {"role": "user", "content": query.text, "source": "input"}
    assistant = {"role": "assistant", "content": text, "source": "generate"}
    failed = {"message": row["failure"], "traceback": "", "traceback_ansi": ""} if row["failure"] else None
    return {
        "id": row["query_id"],
        "epoch": epoch,
        "input": query.text,
        "target": [target.text for target in targets],
        "messages": [user] if failed else [user, assistant],
        "output": _output(row, assistant) if failed is None else {"model": row["model"] or "none", "choices": []},
        "scores": {judge: _score(text, measures) for judge, measures in scores.items()},
        "metadata": {
            "summary_id": row["summary_id"],
            "haystack_id": row["haystack_id"],
            "target_ids": [target.target_id for target in targets],
        },
        **({"error": failed} if failed else {}),
        **({"total_time": row["seconds"]} if row["seconds"] is not None else {}),
    }


def _output(row: SummaryRow, message: Mapping[str, str]) -> dict[str, Any]:
    stop = "max_tokens" if row["finish_reason"] == "length" else "stop"
    found: dict[str, Any] = {
        "model": row["model"] or row["summarizer"],
        "choices": [{"message": message, "stop_reason": stop}],
        "completion": message["content"],
    }
    given, made = row["input_tokens"], row["output_tokens"]
    if given is not None and made is not None:
        found["usage"] = {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}
    return found


def _score(text: str, measures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    reasons = {name: one["reason"] for name, one in measures.items() if one["reason"]}
    return {
        "value": {name: one["value"] for name, one in measures.items()},
        "answer": text,
        **({"explanation": "; ".join(f"{name}: {why}" for name, why in reasons.items())} if reasons else {}),
    }


def _log(run: RunToExport, system: SystemOf, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    ids = list(dict.fromkeys(sample["id"] for sample in samples))
    facts = run.results["run"]
    return {
        "version": _VERSION,
        "status": "success",
        "eval": {
            "created": run.exported_at,
            "task": str(run.results["title"]),
            "model": f"longform/{system}",
            "dataset": {"name": facts["benchmark"]["url"], "samples": len(ids), "sample_ids": ids},
            "config": {"epochs": max(sample["epoch"] for sample in samples)},
            "metadata": {"dataset_hash": facts["benchmark"]["dataset_hash"], "exported_by": "longform"},
        },
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum("error" not in sample for sample in samples),
            "scores": list(_metrics(run.results, system)),
        },
        "samples": list(samples),
    }


def _metrics(results: Mapping[str, Any], system: SystemOf) -> Iterator[dict[str, Any]]:
    """Yield the report's cells of a system; a measure without a value has no metric."""
    for row in cell_rows(results):
        if (row["summarizer"], row["setting"], row["dataset"]) == system and row["value"] is not None:
            values = {"mean": row["value"], "interval_low": row["low"], "interval_high": row["high"]}
            yield {
                "name": row["measure"],
                "scorer": row["judge"] or _NO_JUDGE,
                "params": {"aggregate": results["aggregate"]},
                "metrics": {key: {"name": key, "value": one} for key, one in values.items() if one is not None},
            }


EXPORT = Export(inspect_export, "a log of Inspect AI for each system: queries, texts, scores")
