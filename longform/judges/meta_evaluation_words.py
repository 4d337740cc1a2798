"""Print the findings of a support judge's calibration as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from longform.judges.card_columns import GridRow, HeldOutCounts, OrderStudy, SupportFound
from longform.judges.meta_evaluation import ORDERS
from longform.judges.support_cards import with_interval
from longform.metrics.balanced import Separation


def meta_evaluation_words(found: SupportFound) -> str:
    """The labels, the grid and the orders of *found*: balanced accuracy in percent with its 95 % interval, AUROC."""
    scoring = found["scoring"]
    rule = f"A number above {scoring['threshold']:g} is supported; merging as in `{scoring['fidelity']}`."
    parts = [f"{found['judge']}: {found['n_cells']:,} cells, {_unjudged(found)}. {rule}", _labels(found["data_sets"])]
    if found["grid"]:
        parts.append(_grid(found["grid"], [row["data_set"] for row in found["data_sets"]]))
    if held_out := [row["data_set"] for row in found["data_sets"] if row["held_out"]]:
        parts.append(f"The judge was fitted on {', '.join(held_out)}: each article there by a model without it.")
    if found["orders"]:
        parts.append(_orders(found["orders"]))
    return "\n\n".join(parts)


def _unjudged(found: SupportFound) -> str:
    reasons = ", ".join(f"{n} {reason}" for reason, n in found["failures"].items())
    return f"{found['n_cells_unjudged']:,} unjudged" + (f" ({reasons})" if reasons else "")


def _labels(rows: Sequence[HeldOutCounts]) -> str:
    body: list[list[str | int]] = [
        [
            row["data_set"],
            row["level"],
            row["n_labels"],
            row["n_supported"],
            row["n_summaries"],
            row["n_articles"],
        ]
        for row in rows
    ]
    return _table(["data set", "labels of", "labels", "supported", "summaries", "articles"], body)


def _grid(rows: Sequence[GridRow], names: Sequence[str]) -> str:
    body = [
        [row["documents"], row["sentences"], *(_cell(row["data_sets"].get(name)) for name in names), _mean(row)]
        for row in rows
    ]
    heads = [f"{name}: bal. acc. %, AUROC" for name in names]
    return _table(["documents", "sentences", *heads, "mean"], body)


def _cell(found: Separation | None) -> str:
    if found is None:
        return "not judged"
    if found["reason"]:
        return f"unknown: {found['reason']}"
    unjudged = f", {found['n_unjudged']} unjudged" if found["n_unjudged"] else ""
    return f"{with_interval(found['balanced_accuracy'], 100, 1)}, {with_interval(found['auroc'], 1, 2)}{unjudged}"


def _mean(row: GridRow) -> str:
    accuracy, auroc = row["mean"]["balanced_accuracy"], row["mean"]["auroc"]
    if accuracy is None or auroc is None:
        return f"unknown: {row['mean_reason']}"
    return f"{100 * accuracy:.1f}, {auroc:.2f}"


def _orders(study: OrderStudy) -> str:
    sensitivity = study["sensitivity"]
    body: list[list[str]] = [
        [
            row["data_set"],
            *(_cell(one) for one in (row["original"], row["top"], row["middle"], row["bottom"])),  # as ORDERS
            "unknown" if sensitivity is None else f"{100 * sensitivity['data_sets'][row['data_set']]:.1f}",
        ]
        for row in study["rows"]
    ]
    if sensitivity is not None:
        body.append(["sensitivity", *(f"{100 * sensitivity['orders'][order]:.1f}" for order in ORDERS), ""])
    told = f"\n\nSensitivity is unknown: {study['reason']}." if study["reason"] else ""
    return _table(["all documents joined", *ORDERS, "sensitivity"], body) + told


def _table(heads: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
