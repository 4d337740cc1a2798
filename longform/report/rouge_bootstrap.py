"""The section of ROUGE as MSRS's release aggregates it."""

from __future__ import annotations

from collections.abc import Iterator

from longform.report.measures import all_heads
from longform.report.parts import Section
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import Column, Table
from longform.results.results import Results
from longform.results.rouge_bootstrap import RESAMPLES
from longform.tables.cells import Cell, count, number

_DIGITS = 2  # as in print


def bootstrap_sections(results: Results) -> Iterator[Section]:
    """One section if summaries were scored by ROUGE as released."""
    rows = results.get("rouge_bootstrap") or []
    if not rows:
        return
    caption = (
        f"ROUGE as MSRS's release aggregates it: percentiles 2.5 (low), 50 (mid) and 97.5 (high) of the means of "
        f"{RESAMPLES:,} resamples of the summaries, one by one. The paper prints high, which is above the mean: hold "
        "printed numbers against it, and all else against the mean."
    )
    titles = {head.name: head.title for head in all_heads(results)}
    names = with_dataset(rows, "summarizer", "setting")
    columns = [*name_columns(names), Column("measure", numeric=False), *map(Column, ("mean", "low", "mid", "high"))]
    body = [
        [
            *named(results, row, names),
            Cell(titles.get(row["measure"], row["measure"])),
            *(number(value, digits=_DIGITS) for value in (row["mean"], row["low"], row["mid"], row["high"])),
            count(row["n_summaries"]),
        ]
        for row in rows
    ]
    yield Section("rouge-as-released", "ROUGE as released", [], [Table(caption, [*columns, Column("summaries")], body)])
