"""
The stages of a run: their order, the check that each reads what those before it write, and what is made again.

A second command tries calls again if the failure passes or people have put its cause right. Their rows, and all rows
made from them, are forgotten; then they are work that is not done, like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from actors.storage.folder import Folder
from actors.terminal import say
from jobs.command.parser import STEPS
from jobs.files.write_benchmark import TABLES
from jobs.stages import judge, pack, repair, rerank, retrieve, score, shipped, split, summarize, verdicts
from jobs.stages.items import WHOLE
from jobs.stages.stage import Plan, Site, Stage
from longform.chat.failures import may_pass_later
from longform.schemas import SCHEMAS
from longform.settings.experiment import Experiment

Makes = Callable[[Experiment, Site], Sequence[Stage[Any]]]
"""A configuration -> the stages of one kind, none if it asks for none."""

_MAKES: tuple[Makes, ...] = (
    retrieve.stages, rerank.stages, pack.stages, shipped.stages, summarize.stages, split.stages, judge.stages,
    verdicts.stages, repair.stages, score.stages,
)  # fmt: skip


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


# ---------------------------------------------------------------- what a second command makes again


def forget_passing_failures(run: Folder, plan: Plan) -> int:
    """Forget what is made again, say so, and return how many summaries and judgements of *plan* had failed so."""
    forgotten, n_failed = made_again(run, plan)
    for table, work_ids in forgotten.items():
        if there := work_ids & run.locate(table).keys():
            run.forget(table, sorted(there))
    if n_failed:
        say(f"{n_failed} rows had failed for a reason that may pass; they are made again", file=sys.stderr)
    return n_failed


def made_again(run: Folder, plan: Plan) -> tuple[dict[str, set[str]], int]:
    """Return by table what failed for a reason that may pass and what is made from it, and how much failed."""
    found: dict[str, set[str]] = {}
    n_failed = 0
    for stage in plan.stages:
        items = plan.items(stage)
        failed = passing_failures(run, stage.table, [item.work_id for item in items]) if stage.chat else set()
        n_failed += len(failed)
        made_from_them = {
            one.work_id for one in items if any(of.work_id in found.get(of.table, ()) for of in one.sources)
        }
        found.setdefault(stage.table, set()).update(failed | made_from_them)
    return found, n_failed


def say_what_is_redone(run: Folder, plan: Plan, record: Mapping[str, Any]) -> None:
    """Say which stages of *record*, a run's, this version does again, whose work ids are all others now."""
    if redone := list(_redone(run, plan, {stage["name"]: stage for stage in record["stages"]})):
        say(
            f"{run.url}: a part of this run was made by other rules, of another version of longform or of other "
            f"`units`; it is made again: {', '.join(redone)}. Replies of models in the ledger are not paid again",
            file=sys.stderr,
        )


def _redone(run: Folder, plan: Plan, noted: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for stage in plan.stages:
        if (before := noted.get(stage.name)) is None:
            continue
        made = min(before["wanted"], before["pieces"] + before["pieces_untold"])
        work_ids = {item.work_id for item in plan.items(stage)}
        if made and work_ids and work_ids.isdisjoint(run.locate(stage.table)):
            yield f"{stage.name} ({made:,} {stage.unit})"


def passing_failures(run: Folder, table: str, work_ids: Iterable[str]) -> set[str]:
    """Return those *work_ids* of which a row failed so."""
    rows = run.read(table, work_ids=work_ids, columns=["work_id", "failure"]).to_pylist()
    return {row["work_id"] for row in rows if row["failure"] is not None and may_pass_later(row["failure"])}
