"""The axes on which systems differ, as values that travel with contexts and summaries; words are made in reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class SystemAxes(NamedTuple):
    """Everything about a system except the writer of its summaries."""

    retriever: str  # for a summary that was written elsewhere, the name of its input
    reranker: str | None = None
    budget_tokens: int | None = None  # for the prompt's documents; None: no limit
    n_documents: int | None = None  # documents from the top of the ranking; None: all
    length_tokens: int | None = None  # length of the first documents, of which each fits whole; None: all
    order: str | None = "given"  # the order of the documents in the prompt; None: unknown
    permutation: int | None = None  # number of the order `permuted`, from 0
    method: str = "plain"  # of `longform.summaries.methods`
    document_tokens: int | None = None  # each document is cut to its first so many, before any budget; None: none is

    @property
    def ranking(self) -> str:
        """The name its ranking goes by in the tables."""
        return self.retriever if self.reranker is None else f"{self.retriever}+{self.reranker}"

    @property
    def unordered(self) -> SystemAxes:
        """The same with the documents in the order given."""
        return self._replace(order="given", permutation=None)

    def words(self, *, with_budget: bool) -> str:
        """Return the name that a report gives it."""
        parts = [
            self.ranking,
            f"{self.budget_tokens or 'all'} tokens" if with_budget else "",
            f"first {self.n_documents}" if self.n_documents else "",
            f"within {self.length_tokens} tokens" if self.length_tokens else "",
            f"{self.document_tokens} tokens a document" if self.document_tokens else "",
            self.order if self.order and self.order != "given" else "",
            f"{self.permutation + 1}" if self.permutation is not None else "",
            self.method if self.method != "plain" else "",
        ]
        return "/".join(part for part in parts if part)


COLUMNS = (
    "retriever", "reranker", "budget_tokens", "n_documents", "length_tokens", "document_tokens", "permutation",
)  # fmt: skip
"""Columns of contexts and summaries beside `order` and `method`, which they had first."""


def axes_of(row: Mapping[str, Any]) -> SystemAxes:
    """Read the axes of a row of summaries; one without a retriever was written elsewhere and has its setting alone."""
    values = {name: row[name] for name in COLUMNS} | {"retriever": row["retriever"] or row["setting"]}
    return SystemAxes(**values, order=row["order"], method=row["method"] or "plain")


def names(found: Iterable[SystemAxes]) -> dict[SystemAxes, str]:
    """Return words for each of *found*, with the budget if the rest would not tell two of them apart."""
    distinct = list(dict.fromkeys(found))
    n_of = Counter(axes.words(with_budget=False) for axes in distinct)
    return {axes: axes.words(with_budget=n_of[axes.words(with_budget=False)] > 1) for axes in distinct}
