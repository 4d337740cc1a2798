"""The scores of a run as one frame, and as mappings of each summary's for studies that read no frame."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from longform.evidence.scan import pl
from longform.evidence.scores import in_order, means, names_of, rows_table, score_frame, under
from longform.rows import ScoreRow

Cell = tuple[float, float, float]
"""
Total, n and unjudged; a measure that is undefined for its summary adds nothing.

They are whole numbers but for the total, unless they are means over repeats of a judge.
"""


class Cells(Mapping[str, Cell]):
    """The scores of one summary by measure; the names stand once for all summaries."""

    __slots__ = ("_cells", "_place")

    def __init__(self, place: Mapping[str, int], cells: Sequence[Cell | None]) -> None:
        self._place, self._cells = place, cells

    def __getitem__(self, measure: str) -> Cell:
        if (cell := self._cells[self._place[measure]]) is None:
            raise KeyError(measure)
        return cell

    def __iter__(self) -> Iterator[str]:
        return (name for name, place in self._place.items() if self._cells[place] is not None)

    def __len__(self) -> int:
        return sum(cell is not None for cell in self._cells)


_NONE: Mapping[str, str] = {}


class Scores(NamedTuple):
    """
    The scores of one summary under a judge.

    Attributes:
        measures: Measure -> its mean over the repeats of the judge.
        reasons: Measure -> why it has no value.
        repeats: Measure -> a score by each repeat of the judge; empty if it was asked once.
    """

    measures: Mapping[str, Cell]
    reasons: Mapping[str, str]
    repeats: dict[str, list[Cell]]


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
        self.scored = cache(self._scored)

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

    def cell(self, judge: str | None, measure: str, summary_id: str) -> Cell | None:
        """Return a score; None if it is not there."""
        if measure not in self.measures(judge):
            return None
        found = self.scored(judge).get(summary_id)
        return None if found is None else found.measures.get(measure)

    def _scored(self, judge: str | None) -> Mapping[str, Scores]:
        """Summary id -> its scores under *judge*, with those that need none; only of summaries that *judge* has."""
        rows = under(self.frame, judge)
        place = {name: number for number, name in enumerate(rows["measure"].unique(maintain_order=True))}
        held: dict[Cell, Cell] = {}  # the same object for all equal ones
        found: dict[str, Scores] = {}
        columns = ("summary_id", "measure", "total", "n", "unjudged", "reason")
        for summary_id, own in groupby(means(rows).select(columns).iter_rows(), key=itemgetter(0)):
            cells: list[Cell | None] = [None] * len(place)
            reasons = {}
            for _, measure, *cell, reason in own:
                cells[place[measure]] = held.setdefault(tuple(cell), tuple(cell))
                if reason is not None:
                    reasons[measure] = reason
            found[summary_id] = Scores(Cells(place, tuple(cells)), reasons or _NONE, {})
        if rows["repeat"].max():
            for summary_id, measure, *cell in rows.select(columns[:-1]).iter_rows():
                found[summary_id].repeats.setdefault(measure, []).append(held.setdefault(tuple(cell), tuple(cell)))
        return found
