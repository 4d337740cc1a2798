"""Score: `verdicts` -> `scores`, the measures of each summary. N:1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import Item, PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from longform.errors import UsageError
from longform.keys import content_key
from longform.metrics.scoring import score_summary
from longform.text.citations import Bullet

VERSION = "summhay@1"
_SUMMARIES_A_TASK = 256


def score_work_id(verdict_work_id: str, partial_score: float) -> str:
    return content_key("scores", verdict_work_id, partial_score, VERSION)


def score_stage(run: Folder, bench_url: str, partial_score: float) -> Stage:
    return Stage(
        name="score",
        table="scores",
        identity=content_key(run.url, bench_url, partial_score),
        make_worker=partial(_worker, run, bench_url, partial_score),
    )


def score_tasks(run: Folder, judged: Mapping[str, str], partial_score: float) -> list[Task]:
    """
    The tasks that are not done.

    Args:
        run: Where the tables are.
        judged: Verdict work id -> work id of the units it judged.
        partial_score: What partial coverage counts.
    """
    items = score_items(run, judged, lambda verdict: score_work_id(verdict, partial_score))
    return plan(run, "verdicts", run, "scores", items, per_task=_SUMMARIES_A_TASK)


def score_items(run: Folder, judged: Mapping[str, str], work_id: Callable[[str], str]) -> list[Item]:
    """
    Items of a stage that reads verdicts together with the units they judged.

    Raises:
        UsageError: The run does not hold all units, as after a change of configuration that means other summaries.
    """
    parts = run.locate("units")
    if missing := [units for units in judged.values() if units not in parts]:
        raise UsageError(
            f"{run.url}: expected the bullets of {len(judged)} judged summaries, {len(missing)} are not there; "
            "do the stages before this one first, with `longform evaluate` or `longform replay`"
        )
    return [
        {"work_id": work_id(source), "source": source, "units": units, "units_part": parts[units]}
        for source, units in judged.items()
    ]


def _worker(run: Folder, bench_url: str, partial_score: float) -> Any:
    verdicts, units = PartReader(run), PartReader(run)
    benchmark = Benchmark(bench_url)

    def score(payload: Mapping[str, Any]) -> list[Row]:
        return [
            row
            for item in payload["items"]
            for row in _summary_rows(
                item["work_id"],
                verdicts.rows(item["part"], item["source"]),
                units.rows(item["units_part"], item["units"]),
                benchmark,
                partial_score,
            )
        ]

    return score


def _summary_rows(
    work_id: str, verdicts: Sequence[Row], units: Sequence[Row], benchmark: Benchmark, partial_score: float
) -> Iterable[Row]:
    if not verdicts:
        return
    target = benchmark.target(verdicts[0]["target_id"])
    bullets = [Bullet(unit["text"], unit["citations"]) for unit in units]
    gold = benchmark.gold_numbers(target.haystack_id)
    for score in score_summary(verdicts, bullets, gold, partial_score=partial_score):
        yield {
            "work_id": work_id,
            "judge": verdicts[0]["judge"],
            "summary_id": verdicts[0]["summary_id"],
            "query_id": target.query_id,
            "haystack_id": target.haystack_id,
            "measure": score.measure,
            "value": score.value,
            "total": score.total,
            "n": score.n,
            "n_unjudged": score.n_unjudged,
            "reason": score.reason,
        }
