"""
The studies that ship: one file each, written as a user's (`docs/extending.md`).

Nothing else knows a study: what shows, exports or compares its tables asks their columns.
"""

from __future__ import annotations

from collections.abc import Mapping

LISTED: Mapping[str, str] = {
    "comparisons": "longform.studies.comparisons:Comparisons",
    "pairwise": "longform.studies.pairwise:Pairwise",
    "retrieval_pairs": "longform.studies.retrieval_pairs:RetrievalPairs",
    "position": "longform.studies.position:Position",
    "faithfulness": "longform.studies.faithfulness:Faithfulness",
    "retrieval": "longform.studies.retrieval:Retrieval",
    "retrieval_against_generation": "longform.studies.retrieval_against_generation:RetrievalAgainstGeneration",
    "repair": "longform.studies.repair:Repair",
    "retest": "longform.studies.retest:Retest",
    "facets": "longform.studies.facets:Facets",
    "key_points": "longform.studies.key_points:KeyPoints",
    "curve": "longform.studies.curve:Curve",
    "failure_modes": "longform.studies.failure_modes:FailureModes",
    "cost": "longform.studies.cost:Cost",
    "calls": "longform.studies.calls:Calls",
    "rouge_bootstrap": "longform.studies.rouge_bootstrap:RougeBootstrap",
}
"""Name -> import path."""
