"""The sections of faithfulness: by system, by place in the prompt, by order, by length (Wan et al., 2025)."""

from __future__ import annotations

from collections.abc import Iterator

from longform.judges.cited_first import BEST
from longform.report.against_plain import against_tables, against_told
from longform.report.cost import cost_cells, cost_columns, system_costs
from longform.report.estimates import NO_SCORE, estimate_cell
from longform.report.lengths import length_sections
from longform.report.orders import BY_CHANCE, sensitivity_cells
from longform.report.parts import INTERVAL, Section, by_judge, judge_line, repeats_told
from longform.report.places import place_sections
from longform.report.tables import Column, Table, summarizer_cell
from longform.results.faithfulness import Faithfulness
from longform.results.faithfulness_rows import FaithfulCell, estimate_in
from longform.results.results import Results
from longform.results.spent import TOLD
from longform.tables.cells import Cell, count, number, percent, words

FAITHFULNESS = "faithfulness"
_ORDERS = ("given", "top", "middle", "bottom", "random")
_MODES = {
    "cited": f"the documents that it cites and, if none of these supports it, the {BEST} others that an index finds "
    "nearest to it. No more are checked: nothing is said of places (`faithfulness: {mode: document}` checks all)",
    "document": "each document apart",
    "full": "all documents of the prompt as one text",
}
_OLD = "These results were made by an older version; `longform evaluate` on the same run makes them again."


def faithfulness_sections(results: Results) -> Iterator[Section]:
    """Up to three sections if support judges were asked, else none."""
    found = results.get("faithfulness")
    if not found:
        return
    if "attributed" not in found:
        yield Section(FAITHFULNESS, "Faithfulness", [_OLD], [])
        return
    yield Section(
        FAITHFULNESS,
        "Faithfulness",
        [_about(found), *repeats_told(found["cells"]), *_not_applicable(found), *against_told(found)],
        [
            *_scores(results, found),
            *against_tables(results, found),
            *_orders(results, found),
            *_permutations(results, found),
        ],
    )
    yield from place_sections(results, found)
    yield from length_sections(results, found)


def _about(found: Faithfulness) -> str:
    merging = found["merging"]
    return (
        "Whether documents support what summaries say, higher is better. Each sentence is judged against "
        f"{_MODES[found['mode']]}. Sentences supported: the share with the answer supported on some document, at the "
        f"judge's own cut. Mean probability of support, called faithfulness below: times 100; of each sentence the "
        f"{merging['documents']} over documents, of each summary the {merging['sentences']} over sentences. A verdict "
        "that is missing leaves undecided what it could change."
    )


def _not_applicable(found: Faithfulness) -> list[str]:
    rows = found["not_applicable"]
    if not rows:
        return []
    names = ", ".join(dict.fromkeys(f"{row['method']} with {row['summarizer']}" for row in rows))
    return [f"Not applicable, because the method needs a chat model: {names}."]


def _scores(results: Results, found: Faithfulness) -> Iterator[Table]:
    names = [Column(name, numeric=False) for name in ("summarizer", "setting")]
    names += [Column(name) for name in ("sentences supported", "mean probability", "summaries", "failed")]
    names += [Column(name) for name in ("without score", "unjudged")]
    for judge, rows in by_judge(found["cells"]):
        ordered = sorted(rows, key=lambda row: -((row.get("supported") or row["faithfulness"])["value"] or 0.0))
        costs = system_costs(results, ordered)
        columns = [*names, *cost_columns(costs)]
        body = [
            [
                summarizer_cell(row),
                words(row["setting"]),
                estimate_cell(row.get("supported"), reason=_why_no_score(row)),
                estimate_cell(row["faithfulness"], reason=_why_no_score(row)),
                count(row["n_summaries"]),
                _failed(row),
                count(row["n_without_score"]),
                percent(row["unjudged_share"], reason="nothing to judge"),
                *cost_cells(cost, costs),
            ]
            for row, cost in zip(ordered, costs, strict=True)
        ]
        caption = (
            f"{judge_line(results, judge)}. {INTERVAL} Failed: summaries without a text, by reason (length: cut at the "
            "model's `max_tokens`). Without score: summaries that have no sentence, or none that is decided. Unjudged: "
            f"share of cells without a readable verdict; lower is better.{f' {TOLD}' if cost_columns(costs) else ''}"
        )
        yield Table(caption, columns, body)


def _failed(row: FaithfulCell) -> Cell:
    return count(row["n_failed"])._replace(detail=_reasons(row) or None)


def _reasons(row: FaithfulCell) -> str:
    """Name the reasons of failed summaries, the most frequent first; older results have none."""
    by_reason = sorted((row.get("failures") or {}).items(), key=lambda item: -item[1])
    return ", ".join(reason if n == row["n_failed"] else f"{reason} {n}" for reason, n in by_reason)


def _why_no_score(row: FaithfulCell) -> str:
    if row["n_failed"] < row["n_summaries"]:
        return NO_SCORE
    return f"every summary failed: {_reasons(row) or 'no reason recorded'}"


def _orders(results: Results, found: Faithfulness) -> Iterator[Table]:
    for judge, rows in by_judge(found["orders"]):
        orders = [order for order in _ORDERS if any(order in row for row in rows)]
        columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
        columns += [Column(name) for name in (*orders, "sensitivity", "by chance", "p", "independent")]
        body = [
            [
                words(row["summarizer"]),
                words(row["setting"]),
                *(estimate_cell(estimate_in(row, order)) for order in orders),
                *sensitivity_cells(row),
            ]
            for row in rows
        ]
        caption = (
            f"{judge_line(results, judge)}. Mean probability of support by where important documents stand. {INTERVAL} "
            f"Sensitivity: largest less smallest of the row; lower is better. {BY_CHANCE}"
        )
        yield Table(caption, columns, body)


def _permutations(results: Results, found: Faithfulness) -> Iterator[Table]:
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
    columns += [Column(name) for name in ("mean", "orders", "lowest", "highest")] + [
        Column("why so many", numeric=False)
    ]
    for judge, rows in by_judge(found["permutations"]):
        body = [
            [
                words(row["summarizer"]),
                words(row["setting"]),
                estimate_cell(row["calibrated"]),
                count(row["n_orders"]),
                number(row["lowest"], reason=NO_SCORE),
                number(row["highest"], reason=NO_SCORE),
                words(row["stopped"]),
            ]
            for row in rows
        ]
        caption = (
            f"{judge_line(results, judge)}. Mean probability of support over drawn orders: the mean, with its 95 % "
            "interval over orders."
        )
        yield Table(caption, columns, body)
