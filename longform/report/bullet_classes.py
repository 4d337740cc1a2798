"""The section of bullets by what became of them."""

from __future__ import annotations

from collections.abc import Iterator

from longform.report.parts import Section
from longform.report.row_names import name_columns, named, with_dataset
from longform.report.tables import CUT, Column, Table, beside_originals, reason, share_cut
from longform.results.columns import count_in
from longform.results.results import Results
from longform.tables.cells import count

_FAILURE_MODES = ("linked", "header", "other_subtopic", "generic", "unsupported", "unclassified")


def bullet_sections(results: Results) -> Iterator[Section]:
    """One section if bullets were classified."""
    rows = results.get("failure_modes") or []
    if not rows:
        return
    caption = "Bullets by what became of them, and their share. By rule, so indications only."
    how = (
        "Linked: an insight was found in it. Header: introduces a "
        "list. Other subtopic: matches an insight of another query. Generic: names nothing specific. Unsupported: no "
        "document of the haystack has its words. Unclassified: none of these. More linked bullets are better, more of "
        "the others worse."
    )
    judged = ["judge"] if any("judge" in row for row in rows) else []
    names = with_dataset(rows, "summarizer", "setting", *judged)
    columns = [*name_columns(names), Column("bullets")]
    columns += [*(Column(mode.replace("_", " ")) for mode in _FAILURE_MODES), Column(CUT)]
    body = [
        [
            *named(results, row, names),
            count(row.get("n_bullets")),
            *(count(count_in(row, mode), of=row.get("n_bullets"), reason=reason(row, mode)) for mode in _FAILURE_MODES),
            share_cut([row]),
        ]
        for row in beside_originals(rows, "setting", "judge", "dataset")
    ]
    yield Section("failures", "What bullets fail by", [], [Table(caption, columns, body, how)])
