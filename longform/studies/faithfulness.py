"""
Faithfulness to documents: by system, by place in the prompt, by order, by length, methods against the plain one.

Wan et al. (2025). Every number is in points of 100 and stands with its interval over queries. The statistics are those
of `longform.results.faithfulness_tables`, `alignment` and `against_plain`; here they become tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.judges.cited_first import BEST
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import GRID
from longform.results import faithfulness_tables as statistics
from longform.results.against_plain import against_plain
from longform.results.alignment import alignment_rows, placed_twice
from longform.results.checked import CheckedRun, CheckedSummary
from longform.results.evidence import Evidence
from longform.results.spent import mean_spent
from longform.studies.faithfulness_columns import (
    APART,
    KEY,
    NAMED_BY,
    NO_SCORE,
    SETTING,
    TOP,
    Row,
    flat,
)
from longform.studies.faithfulness_lengths import lengths
from longform.studies.faithfulness_orders import against, against_told, orders, permutations
from longform.studies.faithfulness_places import placed_twice_table, places
from longform.tables.names import SYSTEM
from longform.tables.table import Column, Table

_MODES = {
    "cited": f"the documents that it cites and, if none of these supports it, the {BEST} others that an index finds "
    "nearest to it. No more are checked: nothing is said of places (`faithfulness: {mode: document}` checks all)",
    "document": "each document apart",
    "full": "all documents of the prompt as one text",
}
_COSTS = [
    Column(
        "usd_a_summary",
        "usd",
        "dollars a summary",
        "over the calls that wrote it, judges apart; 0 only if no model is asked or its price is 0",
        digits=5,
    ),
    Column("tokens_in", "number", "tokens in, a summary", digits=0),
    Column("tokens_out", "number", "tokens out, a summary", digits=0),
    Column("seconds", "number", "seconds a summary"),
]


class Faithfulness:
    """All tables of summaries that support judges checked."""

    name = "faithfulness"
    needs = ("scores", "summaries", "verdicts", "contexts")
    measures = (*(merging.name for merging in GRID), SHARE)

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return the tables; None if no support judge was asked."""
        checked = evidence.checked
        if checked is None:
            return None
        how = evidence.averaging._replace(aggregate="pooled")
        summaries = [summary for summary in checked.summaries if summary.judge not in checked.aligners]
        untestable = {(one.judge, one.dataset): why for one in checked.attributions if (why := one.untestable)}
        return tables(
            {
                "mode": checked.mode,
                "merging": {"documents": checked.merging.documents, "sentences": checked.merging.sentences},
                "attribution": checked.attribution,
                "attributed": [one.as_json() for one in checked.attributions if one.judge not in checked.aligners],
                "cells": statistics.cells(summaries, how),
                "places": statistics.place_rows(summaries, how, untestable),
                "orders": statistics.order_rows(summaries, how),
                "against_plain": against_plain(summaries, how),
                "lengths": statistics.length_rows(summaries, how, untestable),
                "alignment": alignment_rows(checked.summaries, how),
                "placed_twice": placed_twice(summaries, checked.summaries, how, untestable),
                "permutations": [
                    {**row, "stopped": _why_enough(row, checked)}
                    for row in statistics.permutation_rows(summaries, checked.permutations.half_width)
                ],
                "not_applicable": [
                    {"summarizer": system.summarizer, "setting": system.setting, "method": system.method}
                    for system in checked.not_applicable
                ],
            },
            costs=_costs(summaries, evidence),
        )


def _costs(summaries: Sequence[CheckedSummary], evidence: Evidence) -> Mapping[tuple[Any, ...], Row]:
    """Return the mean cost of each row of cells, with reasons; none if the run knows of no cost."""
    groups = statistics.groups(summaries) if evidence.spent else ()
    found = {}
    for key, group in groups:
        means, reasons = mean_spent([one.info.summary_id for one in group], evidence.spent)
        named = key.named()
        found[tuple(named.get(name) for name in KEY)] = {**means, "reasons": reasons}
    return found


def _why_enough(row: Row, checked: CheckedRun) -> str:
    settings = checked.permutations
    if settings.half_width is None:
        return "as many as asked for"
    if row["narrow"]:
        return f"narrower than {settings.half_width:g} to either side"
    if checked.budget_ended:
        return "the budget ended"
    return "the most allowed" if row["n_orders"] >= settings.most else "not narrow yet"


def tables(found: Row, *, costs: Mapping[tuple[Any, ...], Row] | None = None) -> list[Table]:
    """Return the tables of the study; *costs* are those of the rows of cells, by their keys."""
    untested = {(row["judge"], row.get("dataset")) for row in found["attributed"] if row["untestable"]}
    made = [
        _cells(found, costs or {}),
        _not_applicable(found["not_applicable"]),
        against(found.get("against_plain") or []),
        orders(found["orders"]),
        permutations(found["permutations"]),
        *places(found, untested),
        placed_twice_table(found.get("placed_twice") or []),
        *lengths(found["lengths"]),
    ]
    return [table for table in made if table.rows]


# ---------------------------------------------------------------- by system


def _cells(found: Row, costs: Mapping[tuple[Any, ...], Row]) -> Table:
    merging, cells = found["merging"], _best_first(found["cells"])
    run_wide = {
        "mode": found["mode"],
        "documents_merged": merging["documents"],
        "sentences_merged": merging["sentences"],
        "attribution": found["attribution"],
    }
    own = [costs.get(tuple(row.get(name) for name in KEY), {}) for row in cells]
    known = [column for column in _COSTS if any(column.name in cost for cost in own)]
    columns = [
        *NAMED_BY,
        *SYSTEM[4:5],
        *SETTING,
        Column(
            "supported",
            "points",
            "sentences supported",
            "the share with the answer supported on some document, at the judge's own cut",
            "higher",
        ),
        Column(
            "faithfulness",
            "points",
            "mean probability",
            f"of support, times 100, called faithfulness below; of each sentence the {merging['documents']} over "
            f"documents, of each summary the {merging['sentences']} over sentences",
            "higher",
        ),
        Column("n_summaries", "count", "summaries"),
        Column(
            "n_repeats",
            "count",
            "repeats",
            "summaries of one query from the same documents, which are averaged within it and count as one",
            shown=any((row.get("n_repeats") or 1) > 1 for row in cells),
        ),
        Column("n_failed", "count", "failed", "summaries without a text"),
        Column(
            "failures",
            title="failed by",
            told="reasons, and the summaries of each (length: cut at the model's `max_tokens`)",
            shown=any(row.get("failures") for row in cells),
        ),
        Column("n_without_score", "count", "without score", "summaries that have no sentence, or none that is decided"),
        Column(
            "unjudged_share",
            "share",
            "unjudged",
            "share of cells without a readable verdict",
            "lower",
            unknown="nothing to judge",
        ),
        *known,
        Column("mode", told="the documents that a sentence is judged against", shown=False),
        Column("documents_merged", told="how documents become one number a sentence", shown=False),
        Column("sentences_merged", told="how sentences become one number a summary", shown=False),
        Column("attribution", told="the judge that the configuration names for placing sentences", shown=False),
    ]
    names = ("supported", "faithfulness", "n_summaries", "n_repeats", "n_failed", "n_without_score", "unjudged_share")
    rows = [
        {
            **flat(row),
            **{name: row.get(name) for name in ("order", *names)},
            **({"elsewhere": row["elsewhere"]} if "elsewhere" in row else {}),
            "failures": _reasons(row),
            **{column.name: cost.get(column.name) for column in known},
            **run_wide,
        }
        for row, cost in zip(cells, own, strict=True)
    ]
    about = (
        "Whether documents support what summaries say. Each sentence is judged against "
        f"{_MODES[found['mode']]}. A verdict that is missing leaves undecided what it could change."
    )
    told = [about, *against_told(found.get("against_plain") or [])]
    reasons = [
        {"supported": _why_no_score(row), "faithfulness": _why_no_score(row), **cost.get("reasons", {})}
        for row, cost in zip(cells, own, strict=True)
    ]
    return Table(
        TOP,
        columns,
        (),
        title="Faithfulness",
        told="\n\n".join(told),
        key=KEY,
        reasons=reasons,
        apart=APART,
        page="faithfulness",
    ).having(rows)


def _best_first(cells: Sequence[Row]) -> list[Row]:
    judges = list(dict.fromkeys(row["judge"] for row in cells))

    def place(row: Row) -> tuple[int, float]:
        return judges.index(row["judge"]), -((row.get("supported") or row["faithfulness"])["value"] or 0.0)

    return sorted(cells, key=place)


def _reasons(row: Row) -> list[str]:
    """Return the reasons of failed summaries with their counts, the most frequent first; older results have none."""
    return [
        f"{reason} {n}" for reason, n in sorted((row.get("failures") or {}).items(), key=lambda failure: -failure[1])
    ]


def _why_no_score(row: Row) -> str:
    if row["n_failed"] < row["n_summaries"]:
        return NO_SCORE
    failures = row.get("failures") or {}
    why = ", ".join(_reasons(row)) if len(failures) > 1 else "".join(failures)
    return f"every summary failed: {why or 'no reason recorded'}"


def _not_applicable(rows: Sequence[Row]) -> Table:
    return Table(
        "faithfulness_not_applicable",
        [Column("method"), *SYSTEM[:2]],
        (),
        told="Not applicable, because the method needs a chat model.",
        key=("setting", "summarizer"),
        section=TOP,
    ).having(rows)
