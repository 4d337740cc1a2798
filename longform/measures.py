"""
The measures that ship; a configuration chooses among them by name.

A new measure is a file in `longform/metrics/` and its place in this list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from longform.errors import UsageError, meant
from longform.judges import failure_modes
from longform.judges.kinds import KINDS
from longform.keys import in_groups
from longform.metrics import cited_support, counts, coverage, faithfulness, retrieval, rouge, similarity, verdict_means
from longform.metrics.measure import Measure, RankingMeasure

SHIPPED: tuple[Measure, ...] = (
    *coverage.MEASURES,
    *counts.LENGTHS,
    *rouge.MEASURES,
    *rouge.RELEASED,
    *similarity.MEASURES,
    *faithfulness.MEASURES,
    *cited_support.MEASURES,
    *verdict_means.MEASURES,
    counts.REFUSALS,
    *failure_modes.MEASURES,
)
RANKING: tuple[RankingMeasure, ...] = (*retrieval.MEASURES, retrieval.AT_BUDGET)
UNAVAILABLE: Mapping[str, str] = {
    "bertscore": "numbers of two models do not compare, so say which: bertscore_minilm is by the encoder that ships, "
    "{kind: bertscore, model: roberta-large} by the model of most papers, which has to be in a folder or on a hub; "
    "bertscore_released is what a release has"
}
"""Measures that people ask for by name, with the reason why there is none."""


def default_names(kinds: Collection[str]) -> list[str]:
    """
    Return the measures of a configuration that lists none; *kinds* are those of its judges.

    None follows from support: the study of faithfulness has the one that `faithfulness` chooses.
    """
    return [
        *dict.fromkeys(name for kind in kinds if kind in KINDS for name in KINDS[kind].measures),
        *(measure.name for measure in RANKING),
    ]


def named(names: Sequence[str], own: Sequence[Measure] = ()) -> list[Measure | RankingMeasure]:
    """
    Return the measures of these *names*, in their order; *own* measures are from outside of the package.

    Raises:
        UsageError: There is no such measure.
    """
    listed: list[Measure | RankingMeasure] = [*SHIPPED, *RANKING, *own]
    known = {measure.name: measure for measure in listed}
    for name in names:
        if name in UNAVAILABLE:
            raise UsageError(f"measures: {name} is not available: {UNAVAILABLE[name]}")
        if name not in known:
            raise UsageError(
                f"measures: expected some of {', '.join(sorted(known))}, found {name!r}{meant(name, known)}"
            )
    return [known[name] for name in names]


def scored_together(measures: Collection[Measure]) -> list[tuple[Measure, ...]]:
    """Return measures by what is scored together: all shipped ones of a version, and others of one version or alone."""
    groups = in_groups((one.version or one.name, one) for one in dict.fromkeys((*SHIPPED, *measures)))
    wanted = {one.version or one.name for one in measures}
    return [tuple(group) for key, group in groups.items() if key in wanted]
