"""
Score: `verdicts` of support judges -> `scores`, the faithfulness of each summary by every merging. N:1.

A summary without a sentence has no rows of verdicts; its scores are null, and say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jobs.stages.check import Checked
from jobs.stages.items import Given, Item, Row, Source
from jobs.stages.runner import Worker
from jobs.stages.stage import Plan, Site, Stage
from longform.judges.kinds.support import SUPPORT
from longform.keys import content_key
from longform.metrics.faithfulness import GRID, merge_documents, summary_faithfulness
from longform.settings.experiment import Experiment
from longform.tables import SCORES

VERSION = "faithfulness@1"


def support_score_work_id(verdict_work_id: str) -> str:
    return content_key("scores", verdict_work_id, VERSION)


@dataclass(frozen=True, kw_only=True)
class ScoreSupport(Stage[Checked]):
    """Scores faithfulness by every merging."""

    step = "aggregate"
    name = "score faithfulness"
    reads: ClassVar = {
        "verdicts": ("doc_position", "unit_index", "answer", "probability"),
        "summaries": ("summary_id", "query_id", "haystack_id", "step", "failure"),
    }
    table = "scores"
    columns = SCORES.names
    per_task = 256

    def items(self, plan: Plan) -> list[Item[Checked]]:
        return [
            Item(
                support_score_work_id(checked.work_id),
                checked.key,
                (Source("verdicts", checked.work_id), Source("summaries", checked.key.summary)),
            )
            for checked in plan.of(Checked)
        ]

    def make_worker(self) -> Worker:
        reader = self.reader()

        def score(given: Sequence[Given[Checked]]) -> list[Row]:
            return [row for one in given for row in _rows(one, *(reader.rows(place) for place in one.sources))]

        return score


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return the stage that scores faithfulness; none without support judges."""
    return [ScoreSupport(run=site.run)] if experiment.support_judges else []


def _rows(given: Given[Checked], verdicts: Sequence[Row], summaries: Sequence[Row]) -> Iterator[Row]:
    (summary,) = (row for row in summaries if row["step"] is None)
    known = {name: summary[name] for name in ("summary_id", "query_id", "haystack_id")}
    known |= {"work_id": given.work_id, "judge": given.key.judge}
    cells = support_cells(verdicts)
    n_unjudged = int(np.isnan(cells).sum())
    for merging in GRID:
        sentences = merge_documents(cells, merging.documents) if cells.size else np.zeros(0)
        found = summary_faithfulness(sentences, merging.sentences)
        yield known | {
            "measure": merging.name,
            "value": found.value,
            "total": found.total,
            "n": found.n,
            "n_unjudged": n_unjudged,
            "reason": None if found.n else _reason(summary, cells),
        }


def _reason(summary: Row, cells: NDArray[np.float64]) -> str:
    if summary["failure"]:
        return f"summary_failed: {summary['failure']}"
    return "undecided" if cells.size else "no_sentences"


def support_cells(verdicts: Iterable[Row]) -> NDArray[np.float64]:
    """
    The verdicts on one summary as an array (texts in prompt order, sentences); NaN: unjudged.

    *verdicts* are rows with `doc_position` (null: all documents as one text), `unit_index`, `answer`, `probability`.
    """
    rows = list(verdicts)
    shape = [1 + max((row[key] or 0 for row in rows), default=-1) for key in ("doc_position", "unit_index")]
    cells = np.full(shape, np.nan)
    for row in rows:
        value = SUPPORT.number(row["answer"], row["probability"])
        cells[row["doc_position"] or 0, row["unit_index"]] = np.nan if value is None else value
    return cells
