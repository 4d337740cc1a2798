"""
Try failed model calls again in a second command, if the failure passes or people have put its cause right.

Their rows, and all rows made from them, are forgotten; then they are work that is not done, like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from actors.storage.folder import Folder
from jobs.runs.plan import RunPlan
from jobs.stages.check import Checked
from jobs.stages.score import score_work_id
from jobs.stages.score_bullets import classify_work_id
from jobs.stages.score_support import support_score_work_id
from jobs.stages.split import unit_work_id
from longform.chat.retries import may_pass_later


def forget_passing_failures(run: Folder, plan: RunPlan, partial_score: float) -> int:
    """How many summaries and judgements of *plan* had failed so, and are to be made again."""
    summaries = passing_failures(run, "summaries", plan.written_work_ids)
    judged = passing_failures(run, "verdicts", plan.asked.values())
    failed = passing_failures(run, "verdicts", [source.work_id for source in plan.checks.values()])
    checked = failed | _means_of(plan, failed)
    forgotten: dict[str, set[str]] = {table: set() for table in ("summaries", "units", "verdicts", "scores")}
    cited = {
        s.summary for s, source in plan.checks.items() if s.judge == plan.citing_judge and source.work_id in checked
    }
    gone = summaries | {plan.repaired[summary] for summary in (summaries | cited) & plan.repaired.keys()}
    forgotten["summaries"] = gone
    forgotten["units"] = {unit_work_id(summary, plan.units) for summary in gone}
    again = {ids.summary for ids, work_id in plan.asked.items() if work_id in judged}
    for found in (plan.asked, plan.means):
        for ids, work_id in found.items():
            of_failed_judge = work_id in judged or (found is plan.means and ids.summary in again)
            if ids.summary in summaries or of_failed_judge:
                forgotten["verdicts"] |= {work_id, plan.copied.get(work_id, work_id)}
            elif ids.summary in cited:
                forgotten["verdicts"].add(plan.copied[work_id])
    forgotten["scores"] = {
        scored
        for verdict in forgotten["verdicts"]
        for scored in (score_work_id(verdict, partial_score), classify_work_id(verdict))
    }
    of_summaries = {source.work_id for ids, source in plan.checks.items() if ids.summary in summaries}
    forgotten["verdicts"] |= checked | of_summaries
    forgotten["scores"] |= {support_score_work_id(verdict) for verdict in checked | of_summaries}
    _forget(run, forgotten)
    return len(summaries) + len(judged) + len(failed)


def _means_of(plan: RunPlan, failed: Collection[str]) -> set[str]:
    """The means of support judges that read one of the *failed* verdicts."""
    return {
        source.work_id
        for ids, source in plan.checks.items()
        for member in plan.support_means.get(ids.judge, ())
        if plan.checks[Checked(ids.summary, member)].work_id in failed
    }


def passing_failures(run: Folder, table: str, work_ids: Iterable[str]) -> set[str]:
    """Return those *work_ids* of which a row failed so."""
    rows = run.read(table, work_ids=work_ids, columns=["work_id", "failure"]).to_pylist()
    return {row["work_id"] for row in rows if row["failure"] is not None and may_pass_later(row["failure"])}


def _forget(run: Folder, work_ids: Mapping[str, set[str]]) -> None:
    for table, ids in work_ids.items():
        if there := ids & run.locate(table).keys():
            run.forget(table, sorted(there))
