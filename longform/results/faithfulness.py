"""The study of faithfulness: by system, by place in the prompt, by order and by length (Wan et al., 2025)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.results import faithfulness_tables as tables
from longform.results.checked import CheckedRun
from longform.results.evidence import Evidence
from longform.settings.experiment import Permutations


def faithfulness(evidence: Evidence) -> dict[str, Any] | None:
    """Return the tables of the study; None if no support judge was asked."""
    checked = evidence.checked
    if checked is None:
        return None
    settings = tables.Settings(evidence.averaging.seed, evidence.averaging.resamples)
    summaries = [summary for summary in checked.summaries if summary.judge != checked.aligner]
    attributions = checked.attributions
    untestable = {(one.judge, one.dataset): why for one in attributions if (why := one.untestable) is not None}
    return {
        "mode": checked.mode,
        "merging": checked.merging._asdict(),
        "attribution": checked.attribution,
        "attributed": [one.as_json() for one in attributions if one.judge != checked.aligner],
        "cells": tables.cells(summaries, settings),
        "places": tables.place_rows(summaries, settings, untestable),
        "orders": tables.order_rows(summaries, settings),
        "lengths": tables.length_rows(summaries, settings, untestable),
        "alignment": tables.alignment_rows(checked.summaries),
        "permutations": [
            row | {"stopped": _why_enough(row, checked)}
            for row in tables.permutation_rows(summaries, checked.permutations.half_width)
        ],
        "not_applicable": [
            {"summarizer": system.summarizer, "setting": system.setting, "method": system.method}
            for system in checked.not_applicable
        ],
    }


def _why_enough(row: Mapping[str, Any], checked: CheckedRun) -> str:
    settings: Permutations = checked.permutations
    if settings.half_width is None:
        return "as many as asked for"
    if row["narrow"]:
        return f"narrower than {settings.half_width:g} to either side"
    if checked.budget_ended:
        return "the budget ended"
    return "the most allowed" if row["n_orders"] >= settings.most else "not narrow yet"
