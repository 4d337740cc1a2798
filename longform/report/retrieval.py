"""The section of retrieval."""

from __future__ import annotations

from collections.abc import Iterator

from longform.report.parts import INTERVAL, Section
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import CUT, Cell, Column, Table, count, percent, reason, scored
from longform.results.results import Results
from longform.results.retrieval_tables import RetrievalRow

_HOW = (
    "Recall at budget: share of an insight's documents that reach the prompt, mean over insights. Share cut: of the "
    "retrieved tokens, what the limit took away. P@K: share of the first K documents that state an insight of the "
    "query. R@K: share of the documents that do which stand among the first K. nDCG@K: their discounted gain over that "
    "of the best possible list. MAP@K: mean precision at each of them."
)


def retrieval_sections(results: Results) -> Iterator[Section]:
    """One section if the benchmark judges documents."""
    rows = results.get("retrieval") or []
    if not rows:
        return
    listed = {*RetrievalRow.__annotations__, "reasons"}
    cutoffs = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in listed]
    caption = f"The documents that each ranking puts first, held against those that state an insight. {INTERVAL}"
    names = with_dataset(rows, "system")
    columns = [*name_columns(names), Column("budget in tokens"), Column("recall at budget"), Column(CUT)]
    columns += [Column(name) for name in cutoffs]
    body = [
        [
            *named(results, row, names),
            Cell("no limit") if row.get("budget_tokens") is None else count(row["budget_tokens"]),
            scored(row, "recall_at_budget", factor=100),
            percent(row.get("cut_share"), reason=reason(row, "cut_share")),
            *(scored(row, name, factor=100) for name in cutoffs),
        ]
        for row in rows
    ]
    yield Section("retrieval", "Retrieval", [], [Table(caption, columns, body, _HOW)])
