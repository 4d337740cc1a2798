"""Summaries of a run as support judges checked them, and how their sentences were placed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from longform.metrics.faithfulness import Merging
from longform.results.attribution import Attribution
from longform.results.faithfulness_tables import CheckedSummary
from longform.settings.experiment import Permutations
from longform.settings.systems import System


class CheckedRun(NamedTuple):
    """
    All that the study of faithfulness reads.

    Attributes:
        mode: Whether each document was judged apart, or all of a prompt as one text.
        merging: How cells become one number.
        attribution: The judge that the configuration names for placing sentences; None: none.
        aligner: The judge that was added for placing sentences alone; it has no rows of its own.
        attributions: Who places the sentences of each judge on each data set.
        summaries: Each under each support judge, the aligner among them.
        permutations: How many drawn orders were asked for.
        not_applicable: Combinations that need a chat model and had none.
        budget_ended: Whether the budget ended before all orders were drawn.
    """

    mode: Literal["document", "full"]
    merging: Merging
    attribution: str | None
    aligner: str
    attributions: Sequence[Attribution]
    summaries: Sequence[CheckedSummary]
    permutations: Permutations
    not_applicable: Sequence[System]
    budget_ended: bool
