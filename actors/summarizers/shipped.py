"""Summaries that the benchmark ships, in place of written ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow.compute as pc

from actors.storage.benchmark import Benchmark
from actors.summarizers.summarizer import AskedContext, Means, Summarizer, summary_row
from longform.chat.call import ChatReply
from longform.errors import UsageError
from longform.rows import SummaryRow
from longform.settings.chat import ShippedSummarizerSettings
from longform.settings.methods import MethodSettings

RELEASED = "released@1"
"""Version of looking a shipped summary up."""

NOT_SHIPPED = "not_shipped"
"""The failure of a query for which the benchmark has no summary by this summarizer in this setting."""


class ShippedSummarizer(Summarizer[ShippedSummarizerSettings]):
    """
    Looks a summary up by query, summarizer and setting; the setting is the name of the ranking of its system.

    Systems without a ranking take no summarizer: `jobs.stages.shipped` copies all that there is.

    A summary whose order the benchmark states stands in systems of this order alone, by ranking and order.

    What the prompt of the released summary held is not known: the context beside it is the one that the run packed.

    Raises:
        UsageError: The benchmark ships no summary of such a summarizer.
    """

    def __init__(self, settings: ShippedSummarizerSettings, means: Means) -> None:
        super().__init__(settings, means)
        assert settings.name is not None, "a configuration refuses it beside a retriever"
        self._name = settings.name
        self.check(settings, self._benchmark, False)

    @classmethod
    def version(cls, _settings: ShippedSummarizerSettings, _method: MethodSettings, _prompts: str | None, /) -> str:
        return RELEASED

    @classmethod
    def check(cls, settings: ShippedSummarizerSettings, benchmark: Benchmark, _with_keys: bool, /) -> None:
        batches = benchmark.folder.batches("summaries", columns=["summarizer"])
        known = sorted({name for batch in batches for name in batch["summarizer"].unique().to_pylist()})
        if settings.name not in known and (settings.name is not None or not known):
            named = f"summaries of {settings.name!r}" if settings.name is not None else "summaries"
            raise UsageError(
                f"expected {named} in the benchmark at {benchmark.folder.url!r}, which ships "
                f"{f'those of {known}' if known else 'none'}; leave such systems out, or ingest the outputs too "
                "(`longform ingest outputs`)"
            )

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        """Return the shipped summary of each row."""
        return [self._row(row) for row in rows]

    def _row(self, row: AskedContext) -> SummaryRow:
        of_any_order = self._texts.get((row["query_id"], row["system"], None))
        text = self._texts.get((row["query_id"], row["system"], row["order"]), of_any_order)
        failure = NOT_SHIPPED if text is None else None
        return summary_row(row, ChatReply(text=text, failure=failure, model=self._name), None)

    @cached_property
    def _texts(self) -> dict[tuple[str, str, str | None], str]:
        """(query id, ranking, order) -> text; the order is None if the benchmark states none."""
        columns = ["query_id", "summarizer", "setting", "retriever", "order", "text"]
        batches = self._benchmark.folder.batches("summaries", columns=columns)
        own = (batch.filter(pc.equal(batch["summarizer"], self._name)) for batch in batches)
        rows = [row for batch in own for row in batch.to_pylist()]
        # a setting is the name of a ranking, but for orders of SummHay, which have settings of their own
        return {(row["query_id"], _ranking(row), row["order"]): row["text"] for row in rows}


def _ranking(row: Mapping[str, Any]) -> str:
    ordered = row["order"] not in (None, "given") and row["retriever"] is not None
    return str(row["retriever"] if ordered else row["setting"])
