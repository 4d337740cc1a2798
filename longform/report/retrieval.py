"""The section of retrieval."""

from __future__ import annotations

from collections.abc import Iterator

from longform.report.parts import INTERVAL, Section
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import Cell, Column, Table, count, percent, reason, scored
from longform.results.results import Results
from longform.results.retrieval_tables import RetrievalRow


def retrieval_sections(results: Results) -> Iterator[Section]:
    """One section if the benchmark judges documents."""
    rows = results.get("retrieval") or []
    if not rows:
        return
    listed = {*RetrievalRow.__annotations__, "reasons"}
    cutoffs = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in listed]
    caption = (
        "Recall at budget: share of an insight's documents that reach the prompt, mean over insights. All measures "
        f"from 0 to 1, higher is better. {INTERVAL} Cut: share of the retrieved tokens that the limit took away."
    )
    names = with_dataset(rows, "system")
    columns = [*name_columns(names), Column("budget, tokens"), Column("recall at budget"), Column("cut")]
    columns += [Column(name) for name in cutoffs]
    body = [
        [
            *named(results, row, names),
            Cell("no limit") if row.get("budget_tokens") is None else count(row["budget_tokens"]),
            scored(row, "recall_at_budget", digits=3),
            percent(row.get("cut_share"), reason=reason(row, "cut_share")),
            *(scored(row, name, digits=3) for name in cutoffs),
        ]
        for row in rows
    ]
    yield Section("retrieval", "Retrieval", [], [Table(caption, columns, body)])
