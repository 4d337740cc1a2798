"""The scores of a run in a few bytes each: arrays over its summaries, one for each judge and measure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from sys import intern

import numpy as np

from longform.rows import ScoreRow

Cell = tuple[float, int, int]
"""Total, n and unjudged; a measure that is undefined for its summary adds nothing."""


class _Column:
    """The scores by one measure; each array has shape (summaries,)."""

    def __init__(self, n: int) -> None:
        self.totals = np.zeros(n)
        self.counts, self.unjudged = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self.there = np.zeros(n, np.bool_)
        self.why = np.zeros(n, np.int32)  # place of the reason among those of the table; 0: none

    def cell(self, place: int) -> Cell:
        return float(self.totals[place]), int(self.counts[place]), int(self.unjudged[place])


class ScoreTable:
    """
    Args:
        rows: Of the scores table; read once. Of two rows of a judge, measure and summary the later one counts.
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
        self._columns: dict[str | None, dict[str, _Column]] = {}
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
        if (column := of_judge.get(row["measure"])) is None:
            column = of_judge[intern(row["measure"])] = _Column(len(self._place))
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
        return None if column is None or place is None or not column.there[place] else column.cell(place)

    def scored(self, judge: str | None) -> Mapping[str, Scores]:
        """Summary id -> its scores under *judge*, with those that need none; only of summaries that *judge* has."""
        own = self._columns[judge]
        any_of_own = np.any([column.there for column in own.values()], axis=0)
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

    def __init__(self, columns: Mapping[str, Sequence[_Column]], place: int, words: Sequence[str | None]) -> None:
        self._columns, self._place, self._words = columns, place, words

    def _of(self, measure: str) -> _Column | None:
        return next((one for one in self._columns.get(measure, ()) if one.there[self._place]), None)

    def __getitem__(self, measure: str) -> Cell:
        if (column := self._of(measure)) is None:
            raise KeyError(measure)
        return column.cell(self._place)

    def __iter__(self) -> Iterator[str]:
        return (measure for measure in self._columns if self._of(measure) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def why(self, measure: str) -> str | None:
        """Return why a measure has no value; None if it has one, or nobody said why."""
        return None if (column := self._of(measure)) is None else self._words[int(column.why[self._place])]


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
