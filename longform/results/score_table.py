"""The scores of a run in a few bytes each: arrays over its summaries, one for each judge and measure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from sys import intern

import numpy as np
from numpy.typing import NDArray

from longform.rows import ScoreRow

Cell = tuple[float, float, float]
"""
Total, n and unjudged; a measure that is undefined for its summary adds nothing.

They are whole numbers but for the total, unless they are means over repeats of a judge.
"""


class _Column:
    """The scores by one measure; each array has shape (summaries,)."""

    def __init__(self, n: int) -> None:
        self.totals = np.zeros(n)
        self.counts, self.unjudged = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self.there = np.zeros(n, np.bool_)
        self.why = np.zeros(n, np.int32)  # place of the reason among those of the table; 0: none

    def cell(self, place: int) -> Cell:
        return float(self.totals[place]), int(self.counts[place]), int(self.unjudged[place])


class _Repeats:
    """The scores by one measure: a column for each repeat of its judge, or one."""

    def __init__(self, n: int) -> None:
        self._n, self._columns = n, [_Column(n)]

    def of(self, repeat: int) -> _Column:
        """Return the column of a repeat, from 0."""
        self._columns += [_Column(self._n) for _ in range(repeat + 1 - len(self._columns))]
        return self._columns[repeat]

    def there(self) -> NDArray[np.bool_]:
        """Return whether there is a score, shape (summaries,)."""
        there: NDArray[np.bool_] = np.any([column.there for column in self._columns], axis=0)
        return there

    def has(self, place: int) -> bool:
        return any(column.there[place] for column in self._columns)

    def cells(self, place: int) -> list[Cell]:
        """Return the score of each repeat."""
        return [column.cell(place) for column in self._columns if column.there[place]]

    def cell(self, place: int) -> Cell:
        """Return the mean over repeats: of totals and counts where the measure is defined, of the unjudged over all."""
        cells = self.cells(place)
        if len(cells) == 1:
            return cells[0]
        defined = [cell for cell in cells if cell[1]] or cells
        total, n = (sum(cell[part] for cell in defined) / len(defined) for part in (0, 1))
        return total, n, sum(unjudged for _, _, unjudged in cells) / len(cells)

    def why(self, place: int) -> int:
        """Return the place of the reason; 0 if some repeat has a value."""
        if any(cell[1] for cell in self.cells(place)) and len(self._columns) > 1:
            return 0
        return next((int(column.why[place]) for column in self._columns if column.there[place]), 0)


class ScoreTable:
    """
    Args:
        rows: Of the scores table; read once. Of two rows of a judge, its repeat, measure and summary the later counts.
        summary_ids: Of the summaries that are reported; rows of others are left out.
        judges: In the report's order. A judge that is not among them comes first, like scores without a judge.
        aside: Judges whose scores are kept, and that are not among `judges`.
    """

    def __init__(
        self,
        rows: Iterable[ScoreRow],
        summary_ids: Iterable[str],
        judges: Sequence[str] = (),
        *,
        aside: Collection[str] = (),
    ) -> None:
        self._place = {summary_id: place for place, summary_id in enumerate(summary_ids)}
        self._reasons: dict[str | None, int] = {None: 0}
        self._columns: dict[str | None, dict[str, _Repeats]] = {}
        for row in rows:
            self._add(row)
        order = {judge: place for place, judge in enumerate(judges)}
        ordered = sorted(self._columns, key=lambda judge: -1 if judge is None else order.get(judge, -1))
        self._columns = {judge: self._columns[judge] for judge in ordered}
        self._words, self._aside = list(self._reasons), aside

    def _add(self, row: ScoreRow) -> None:
        place = self._place.get(row["summary_id"])
        if place is None:
            return
        of_judge = self._columns.setdefault(row["judge"], {})
        if (repeats := of_judge.get(row["measure"])) is None:
            repeats = of_judge[intern(row["measure"])] = _Repeats(len(self._place))
        column = repeats.of(row.get("repeat") or 0)
        column.totals[place], column.counts[place] = row["total"] or 0.0, row["n"] or 0
        column.unjudged[place], column.there[place] = row["n_unjudged"], True
        column.why[place] = self._reasons.setdefault(row.get("reason") or None, len(self._reasons))

    @property
    def judges(self) -> Sequence[str | None]:
        """Return the judges that have scores; None: some scores have none."""
        return [judge for judge in self._columns if judge is None or judge not in self._aside]

    def measures(self, judge: str | None) -> Sequence[str]:
        """Return the measures of a judge."""
        return list(self._columns.get(judge, ()))

    def cell(self, judge: str | None, measure: str, summary_id: str) -> Cell | None:
        """Return a score; None if it is not there."""
        column = self._columns.get(judge, {}).get(measure)
        place = self._place.get(summary_id)
        return None if column is None or place is None or not column.has(place) else column.cell(place)

    def scored(self, judge: str | None) -> Mapping[str, Scores]:
        """Summary id -> its scores under *judge*, with those that need none; only of summaries that *judge* has."""
        own = self._columns[judge]
        any_of_own = np.any([column.there() for column in own.values()], axis=0)
        columns = {name: [column] for name, column in own.items()}
        if judge is not None:
            for name, column in self._columns.get(None, {}).items():
                columns.setdefault(name, []).append(column)
        return {
            summary_id: Scores(columns, place, self._words)
            for summary_id, place in self._place.items()
            if any_of_own[place]
        }


class Scores(Mapping[str, Cell]):
    """The scores of one summary by measure."""

    __slots__ = ("_columns", "_place", "_words")

    def __init__(self, columns: Mapping[str, Sequence[_Repeats]], place: int, words: Sequence[str | None]) -> None:
        self._columns, self._place, self._words = columns, place, words

    def _of(self, measure: str) -> _Repeats | None:
        return next((one for one in self._columns.get(measure, ()) if one.has(self._place)), None)

    def __getitem__(self, measure: str) -> Cell:
        if (column := self._of(measure)) is None:
            raise KeyError(measure)
        return column.cell(self._place)

    def __iter__(self) -> Iterator[str]:
        return (measure for measure in self._columns if self._of(measure) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def repeats(self, measure: str) -> Sequence[Cell]:
        """
        Return a score by each repeat of the judge; one if it was asked once.

        Raises:
            KeyError: There is no such score.
        """
        if (column := self._of(measure)) is None:
            raise KeyError(measure)
        return column.cells(self._place)

    def why(self, measure: str) -> str | None:
        """Return why a measure has no value; None if it has one, or nobody said why."""
        return None if (column := self._of(measure)) is None else self._words[column.why(self._place)]


class RepeatCells(Mapping[str, Sequence[Cell]]):
    """Measure -> its score by each repeat of the judge."""

    __slots__ = ("_scores",)

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def __getitem__(self, measure: str) -> Sequence[Cell]:
        return self._scores.repeats(measure)

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)


class Reasons(Mapping[str, str]):
    """Measure -> why it has no value."""

    __slots__ = ("_scores",)

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def __getitem__(self, measure: str) -> str:
        if (why := self._scores.why(measure)) is None:
            raise KeyError(measure)
        return why

    def __iter__(self) -> Iterator[str]:
        return (measure for measure in self._scores if self._scores.why(measure) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)
