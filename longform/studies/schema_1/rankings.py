"""Retrieval, what it does to summaries, and repaired citations as older results had them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.measures import SHIPPED
from longform.metrics.retrieval import MEASURES
from longform.repair.twins import twin_label
from longform.results.repaired_examples import example_as_before, examples_in
from longform.studies import repair, retrieval, retrieval_against_generation
from longform.studies.schema_1.rows import OF_AXES, Json, Rows, rows_in
from longform.tables.table import Table

_RANKERS = ("dataset", "system", "retriever", "reranker", "budget_tokens", "cut_share", "in_sample")


def retrieval_before(tables: Mapping[str, Json]) -> Rows:
    """Return a row for each ranker and budget, its measures as columns, their bounds under `intervals`."""
    content = tables["retrieval"]
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for place, row in enumerate(content["rows"]):
        measure, score = row["measure"], row["score"]
        key = tuple(row[name] for name in ("dataset", "system", "budget_tokens"))
        own = found.setdefault(key, {**{name: row[name] for name in _RANKERS}, "intervals": {}})
        own[measure] = score["value"]
        own["intervals"][measure] = [score["low"], score["high"]]
        if content["reasons"] and (reason := content["reasons"][place].get("score")):
            own["reasons"] = {measure: reason, "cut_share": reason}
    return list(found.values())


def of_retrieval(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    return [retrieval.table([one for row in rows for one in _by_ranking_measure(row)])]


def _by_ranking_measure(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    intervals = row.get("intervals") or {}
    for measure in [name for name in row if name not in (*_RANKERS, "intervals", "reasons")]:
        low, high = intervals.get(measure) or (None, None)
        score = {"value": row[measure], "low": low, "high": high, "n": 0}  # how many queries was not said
        yield {**{name: row.get(name) for name in _RANKERS}, "measure": measure, "score": score}


AGAINST = "retrieval_against_generation"
CORRELATED = ("systems", "queries")
_UNIT_OF = {measure.name: measure.unit for measure in SHIPPED}


def against_before(tables: Mapping[str, Json]) -> dict[str, Any]:
    """Return a row a system with what it has by each measure, and the correlations in one list."""
    systems: dict[tuple[Any, ...], dict[str, Any]] = {}
    rows = tables[AGAINST]["rows"]
    for row in rows:
        kept = {name: row[name] for name in ("dataset", "summarizer", "setting", "left_out")}
        ranked = {measure.name: row[measure.name] for measure in MEASURES if measure.name in row}
        own = systems.setdefault(tuple(kept.values()), {**kept, "retrieval": ranked, "generation": []})
        own["generation"].append({name: row[name] for name in ("judge", "measure", "score")})
    correlations = [
        {"level": level, "setting": None, **{name: value for name, value in row.items() if name != "aside"}}
        for level in CORRELATED
        for row in rows_in(f"{AGAINST}_{level}")(tables)
    ]
    return {"k": rows[0]["k"], "systems": list(systems.values()), "correlations": correlations}


def of_against(found: Mapping[str, Any]) -> list[Table]:
    systems = [
        {
            **{name: row[name] for name in ("dataset", "summarizer", "setting", "left_out")},
            **row["retrieval"],
            "k": found["k"],
            "unit": _UNIT_OF.get(cell["measure"], "points"),
            **cell,
        }
        for row in found["systems"]
        for cell in row["generation"]
    ]
    return retrieval_against_generation.tables(systems, found["correlations"], k=found["k"])


_OF_CHANGE = ("p", "p_alone", "finding")


def repair_before(tables: Mapping[str, Json]) -> dict[str, Any]:
    """Return a row a system, in it a mapping for each measure, with the counts and the examples beside the rows."""
    systems: dict[tuple[Any, ...], dict[str, Any]] = {}
    rows = rows_in(repair.NAME)(tables)
    for row in rows:
        kept = {name: row[name] for name in ("dataset", "setting", "summarizer", "judge", "n_summaries")}
        own = systems.setdefault(tuple(kept.values()), kept)
        own["axes"] = {name: row[name] for name in (*OF_AXES, "order")} if "retriever" in row else None
        difference = row["difference"]
        own[row["measure"]] = {
            **{name: row[name] for name in ("before", "after")},
            "difference": difference["value"],
            **{name: difference[name] for name in ("low", "high")},
            **{name: row[name] for name in _OF_CHANGE if name in row},
        }
        own |= {name: row[name] for name in ("faithfulness",) if name in row}
    changes, bullets = (rows_in(name)(tables) for name in (repair.CHANGES, repair.CITATIONS))
    by = rows[0]["cited_by"]
    return {
        "by": by,
        "label": twin_label(by),
        **({"bullets": {row["how"]: row["n_bullets"] for row in bullets}} if bullets else {}),
        "rows": list(systems.values()),
        "judge": changes[0]["judge"] if changes else None,
        "changes": {row["kind"]: row["n_bullets"] for row in changes},
        "examples": list(map(example_as_before, examples_in(tables))),
        "in_sample": rows[0]["fitted"],
    }
