"""The tables of a run as lazy frames of polars, for shipped studies, for those of users, and for `longform.Run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from longform.evidence.scan import Read, pl, scan
from longform.evidence.scores import facts_of
from longform.evidence.summaries import OF_STORAGE
from longform.schemas import SCHEMAS

_SCORES = ("judge", "summary_id", "measure", "repeat", "value", "total", "n", "unjudged", "reason")


class Frames:
    """
    The tables of a run. A query reads the columns that it asks for; `collect()` makes it.

    *summaries* gives a row for each, in the report's order, as `longform.evidence.summaries` has them, and *scores*
    those of these and of others, by `longform.evidence.scores.score_frame`; both are asked once. *read*
    returns, for the name of a table, what reads its rows; a missing one has none. *calls* gives rows of the study of
    calls.
    """

    def __init__(
        self,
        summaries: Callable[[], pl.DataFrame],
        scores: Callable[[], pl.DataFrame],
        read: Callable[[str], Read],
        calls: Callable[[], Sequence[Mapping[str, object]]] = tuple,
    ) -> None:
        self._summaries, self._scores, self._read, self._calls = summaries, scores, read, calls

    @cached_property
    def summaries(self) -> pl.LazyFrame:
        """A row for each summary: `summary_id`, its query, system and axes, and what became of it."""
        return self._summaries().drop(OF_STORAGE, strict=False).lazy()

    @cached_property
    def scores(self) -> pl.LazyFrame:
        """
        A row for each judge, summary, measure and repeat of the judge, in the order of `summaries`, with its facts.

        `total` over `n` is `value`, from 0 to 1 if the measure is in points; it is null if n is 0, and `reason` says
        why. `judge` is null if the measure needs none.
        """
        scores = self._scores()
        value = pl.when(pl.col("n") > 0).then(pl.col("total") / pl.col("n"))
        facts = facts_of(scores, self.summaries).lazy()
        found = facts.join(scores.lazy(), on="summary_id", maintain_order="left_right").with_columns(value=value)
        return found.select(*_SCORES, pl.exclude(_SCORES)).with_columns(pl.col("summary_id").cast(pl.String))

    @cached_property
    def units(self) -> pl.LazyFrame:
        """The bullets or sentences of each summary, with their citations: `longform.rows.UnitRow`."""
        return self._table("units")

    @cached_property
    def verdicts(self) -> pl.LazyFrame:
        """The verdicts of all judges: `longform.rows.VerdictRow`."""
        return self._table("verdicts")

    @cached_property
    def rankings(self) -> pl.LazyFrame:
        """The documents of each query as a retriever or reranker ranked them: `longform.rows.RankingRow`."""
        return self._table("rankings")

    @cached_property
    def contexts(self) -> pl.LazyFrame:
        """The documents of each prompt: `longform.rows.ContextRow`."""
        return self._table("contexts")

    @cached_property
    def qrels(self) -> pl.LazyFrame:
        """The judged documents of each query and target: `longform.rows.QrelRow`."""
        return self._table("qrels")

    @cached_property
    def calls(self) -> pl.LazyFrame:
        """A row for each ledger, stage and model that was called: `longform.results.calls.CallsRow`."""
        rows = [{name: value for name, value in row.items() if not isinstance(value, dict)} for row in self._calls()]
        return pl.DataFrame(rows, infer_schema_length=None).lazy()

    def _table(self, name: str) -> pl.LazyFrame:
        return scan(SCHEMAS[name], self._read(name))
