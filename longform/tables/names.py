"""Columns that name what a row is about, the same in all tables; renderers know them by their names."""

from __future__ import annotations

from longform.tables.table import Column

DATASET = Column("dataset", title="data set")
JUDGE = Column("judge")
SYSTEM = (
    Column("summarizer"),
    Column("setting"),
    Column("twin_of", told="the summarizer whose summaries a twin repeats with other citations", shown=False),
    Column("cited_by", told="what chose the citations of a twin", shown=False),
    Column("elsewhere", told="written elsewhere, in a run that writes, too", shown=False),
    Column("in_sample", told="what a model made that was fitted on these data", shown=False),
)
"""The writer of a summary, the documents that it had, and marks beside these names."""

NAMED = (DATASET, *SYSTEM, JUDGE)
"""A system under a judge; null: the data set is not stated, the measure needs no judge."""

AXES = (
    Column("retriever", shown=False),
    Column("reranker", shown=False),
    Column("budget_tokens", "count", shown=False),
    Column("n_documents", "count", shown=False),
    Column("length_tokens", "count", shown=False),
    Column("permutation", "count", shown=False),
    Column("method", shown=False),
    Column("document_tokens", "count", shown=False),
)
"""The parts of a setting, but for the order of the documents; see `longform.axes.Axes`."""

CUT = Column("cut_share", "share", "share cut", "of the retrieved tokens, what the limit took away", "lower")
