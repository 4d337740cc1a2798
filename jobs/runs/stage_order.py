"""The order of a run's stages, and the check that each reads what those before it write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from jobs.command.parser import STEPS
from jobs.files.write_benchmark import TABLES
from jobs.stages import (
    judge,
    pack,
    repair,
    rerank,
    retrieve,
    score,
    shipped,
    split,
    summarize,
    verdicts,
)
from jobs.stages.items import WHOLE
from jobs.stages.stage import Site, Stage
from longform.schemas import SCHEMAS
from longform.settings.experiment import Experiment

Makes = Callable[[Experiment, Site], Sequence[Stage[Any]]]
"""A configuration -> the stages of one kind, none if it asks for none."""

_MAKES: tuple[Makes, ...] = (
    retrieve.stages,
    rerank.stages,
    pack.stages,
    shipped.stages,
    summarize.stages,
    split.stages,
    judge.stages,
    verdicts.stages,
    repair.stages,
    score.stages,
)


def stages_of(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return the stages of a run, in their order; all keep vectors at one place, and call models for one command."""
    made = sorted((stage for make in _MAKES for stage in make(experiment, site)), key=lambda one: STEPS.index(one.step))
    return [replace(one, vectors=site.vectors, context=site.calling.context(one.name)) for one in made]


def check_order(stages: Iterable[Stage[Any]]) -> None:
    """
    Compare the columns that each stage reads with those that the benchmark has and that the stages before it write.

    A benchmark may ship rankings and summaries, too; a stage that reads those of the run waits for the run's own.

    Raises:
        ValueError: A stage reads a column that nothing has written.
    """
    known = {table: set(SCHEMAS[table].names) for table in set(TABLES) - {"rankings", "summaries"}}
    for stage in stages:
        for table, columns in stage.reads.items():
            if missing := sorted(set(columns) - known.get(table, set()) - set(WHOLE)):
                raise ValueError(f"{stage.name} reads {missing} of {table}, and no stage before it writes that")
            if table not in known:
                raise ValueError(f"{stage.name} reads {table}, and no stage before it writes that")
        known.setdefault(stage.table, set()).update(stage.columns)


def steps_until(until: str) -> Sequence[str]:
    """Return the names of the steps up to and with *until*."""
    return STEPS[: STEPS.index(until) + 1]
