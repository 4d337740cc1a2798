"""Frames of scores that tests write down a summary at a time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from longform.evidence.infos import summary_frame
from longform.evidence.scores import facts_of
from longform.results.aggregate import Scored

COLUMNS = {
    "judge": pl.Categorical, "summary_id": pl.String, "measure": pl.Categorical, "repeat": pl.Int32,
    "total": pl.Float64, "n": pl.Float64, "unjudged": pl.Float64, "reason": pl.Categorical,
}  # fmt: skip


def frames_of(group: Sequence[Scored], judge: str | None = "j") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the scores of *group* and the facts of its summaries, as `Family` has them."""
    rows = [
        (judge, one.info.summary_id, measure, repeat, *score, one.reasons.get(measure))
        for one in group
        for measure, mean in one.measures.items()
        for repeat, score in enumerate(one.repeats.get(measure, [mean]))
    ]
    ids = pl.Enum([one.info.summary_id for one in group])
    scores = pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(pl.col("summary_id").cast(ids))
    return scores, facts_of(scores, summary_frame(one.info for one in group).lazy())
