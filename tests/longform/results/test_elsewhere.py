"""Texts that were written elsewhere, as a table: which queries they leave out, and what their writers saw."""

from __future__ import annotations

from longform.report.result_tables import table_sections
from longform.studies.schema_1 import with_tables

ROW = {
    "summarizer": "theirs",
    "setting": "full",
    "n_summaries": 5,
    "n_failed": 1,
    "n_empty": 0,
    "n_queries": 5,
    "unanswered": [f"q{n}" for n in range(8)],
    "documents": {"all": 3, "unknown": 2},
}


def test_a_system_stands_with_the_first_queries_that_it_leaves_out() -> None:
    (section,) = table_sections(with_tables({"elsewhere": [ROW]}))
    table = section.tables[0]
    shown = {column.head: table.rows[0][column.name] for column in table.columns}

    assert section.title == "Written elsewhere"
    assert table.caption == "Texts that this run took as they are, and did not write."
    assert (shown["without an answer"].text, shown["without an answer"].detail) == (
        "8",
        "of them: q0; q1; q2; q3; q4; q5; ...",
    )
    assert [shown[name].text for name in ("documents named", "all documents", "documents not known")] == ["0", "3", "2"]


def test_a_run_that_wrote_all_has_no_such_section() -> None:
    assert list(table_sections(with_tables({"elsewhere": []}))) == []
