"""The measures of a run, and what they need of its configuration."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from actors.measures import Listed, check_listed, open_measures
from longform.errors import UsageError
from longform.judges.kinds import KINDS
from longform.measures import default_names
from longform.metrics.measure import Measure, RankingMeasure
from longform.settings.experiment import Experiment


class Measures(NamedTuple):
    """The measures that a configuration lists, by their level."""

    of_summaries: list[Measure]
    of_rankings: list[RankingMeasure]


def check_measures(experiment: Experiment) -> Measures:
    """
    Return the measures of an experiment.

    Raises:
        UsageError: One is unknown, or reads the verdicts of a kind of judge that the experiment does not name.
    """
    tasks = {judge.task for judge in experiment.judges.values()}
    shipped = [task for task in KINDS if task in tasks]
    return measures_of(experiment.measures, [*shipped, *sorted(tasks.difference(shipped))])


def measures_of(listed: Listed | None, kinds: Collection[str]) -> Measures:
    """Return the measures *listed*, or those that follow from the *kinds* of judges; check that their judges exist."""
    if listed is not None:
        check_listed(listed)
    found = open_measures(default_names(kinds) if listed is None else listed)
    measures = Measures(
        [measure for measure in found if isinstance(measure, Measure)],
        [measure for measure in found if isinstance(measure, RankingMeasure)],
    )
    for measure in measures.of_summaries:
        if measure.judged_by is not None and measure.judged_by not in kinds:
            raise UsageError(
                f"measures: {measure.name} reads the verdicts of a judge of {measure.judged_by}, and the configuration "
                f"names none; its judges are of {' and '.join(kinds) or 'no kind'}"
            )
    return measures
