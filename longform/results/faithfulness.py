"""The study of faithfulness: by system, by place in the prompt, by order and by length (Wan et al., 2025)."""

from __future__ import annotations

from typing import TypedDict

from longform.results import faithfulness_rows as rows
from longform.results import faithfulness_tables as tables
from longform.results.against_plain import AgainstFamily, against_plain
from longform.results.alignment import AlignmentRow, PlacedTwiceRow, alignment_rows, placed_twice
from longform.results.attribution import AttributionRow
from longform.results.checked import CheckedRun
from longform.results.evidence import Evidence
from longform.settings.experiment import SupportMode


class MergingColumns(TypedDict):
    documents: str
    sentences: str


class NotApplicable(TypedDict):
    summarizer: str
    setting: str
    method: str


class Faithfulness(TypedDict):
    mode: SupportMode
    merging: MergingColumns
    attribution: str | None  # the judge that the configuration names for placing sentences; null: none
    attributed: list[AttributionRow]
    cells: list[rows.FaithfulCell]
    places: list[rows.PlacesRow]
    orders: list[rows.OrdersRow]
    against_plain: list[AgainstFamily]
    lengths: list[rows.LengthsRow]
    alignment: list[AlignmentRow]
    placed_twice: list[PlacedTwiceRow]
    permutations: list[rows.StoppedRow]
    not_applicable: list[NotApplicable]


def faithfulness(evidence: Evidence) -> Faithfulness | None:
    """Return the tables of the study; None if no support judge was asked."""
    checked = evidence.checked
    if checked is None:
        return None
    how = evidence.averaging._replace(aggregate="pooled")
    summaries = [summary for summary in checked.summaries if summary.judge not in checked.aligners]
    attributions = checked.attributions
    untestable = {(one.judge, one.dataset): why for one in attributions if (why := one.untestable) is not None}
    return {
        "mode": checked.mode,
        "merging": {"documents": checked.merging.documents, "sentences": checked.merging.sentences},
        "attribution": checked.attribution,
        "attributed": [one.as_json() for one in attributions if one.judge not in checked.aligners],
        "cells": tables.cells(summaries, how),
        "places": tables.place_rows(summaries, how, untestable),
        "orders": tables.order_rows(summaries, how),
        "against_plain": against_plain(summaries, how),
        "lengths": tables.length_rows(summaries, how, untestable),
        "alignment": alignment_rows(checked.summaries, how),
        "placed_twice": placed_twice(summaries, checked.summaries, how, untestable),
        "permutations": [
            {**row, "stopped": _why_enough(row, checked)}
            for row in tables.permutation_rows(summaries, checked.permutations.half_width)
        ],
        "not_applicable": [
            {"summarizer": system.summarizer, "setting": system.setting, "method": system.method}
            for system in checked.not_applicable
        ],
    }


def _why_enough(row: rows.DrawnRow, checked: CheckedRun) -> str:
    settings = checked.permutations
    if settings.half_width is None:
        return "as many as asked for"
    if row["narrow"]:
        return f"narrower than {settings.half_width:g} to either side"
    if checked.budget_ended:
        return "the budget ended"
    return "the most allowed" if row["n_orders"] >= settings.most else "not narrow yet"
