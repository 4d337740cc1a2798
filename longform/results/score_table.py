"""The scores of a run as one frame, with its judges and their measures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain

import pyarrow as pa

from longform.evidence.scan import pl
from longform.evidence.scores import in_order, names_of, rows_table, score_frame
from longform.rows import ScoreRow


class ScoreTable:
    """
    Args:
        rows: Rows of the scores table. Of two rows of a judge, its repeat, measure and summary the later counts.
        summary_ids: The summaries that are reported; rows of others are left out.
        judges: In the report's order. A judge that is not among them comes first, like scores without a judge.
        aside: Judges whose scores are kept, and that are not among `judges`.
        parts: Further rows as Arrow, with `longform.evidence.scores.SCORE_COLUMNS`.
    """

    def __init__(
        self,
        rows: Iterable[ScoreRow],
        summary_ids: Iterable[str],
        judges: Sequence[str] = (),
        *,
        aside: Collection[str] = (),
        parts: Iterable[pa.Table] = (),
    ) -> None:
        scores = score_frame(chain([rows_table(rows)], parts), summary_ids)
        self.frame = in_order(scores)
        self._names, self._aside = names_of(scores, judges), aside

    @property
    def judges(self) -> Sequence[str | None]:
        """Return the judges that have scores; None: some scores have none."""
        return [judge for judge in self._names if judge is None or judge not in self._aside]

    @property
    def reported(self) -> pl.DataFrame:
        """Return the scores by `judges`."""
        return self.frame.filter(pl.col("judge").is_null() | ~pl.col("judge").is_in(list(self._aside)))

    def measures(self, judge: str | None) -> Sequence[str]:
        """Return the measures of a judge."""
        return self._names.get(judge, [])
