"""Several judges as tables and sentences: their order, marks, unknowns, and texts of anybody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.judges.merges import grid, merged_rows
from longform.judges.meta_evaluation import HeldJudge
from longform.judges.worth import WORTHS
from longform.report.answers import answer_html, answer_markdown
from longform.results.judges_compared import judges_answer
from longform.results.results import VerbAnswer
from longform.tables.table import Table, checked
from tests.longform.judges.labelled import (
    SCORING,
    by_documents,
    by_targets,
    compared_by_documents,
    compared_by_targets,
    summary,
)
from tests.longform.report.pages import HOSTILE, Page, pipe_tables

PEOPLE = ["full", "none", "partial", "full"] * 4
GOOD, BAD = [*PEOPLE], ["none", "full", "none", "none"] * 4
SUMMARIES: dict[str, Any] = {
    f"s{n}": {
        "summarizer": "ab"[n % 2], "text": "\n".join(["one two"] * (n + 1)), "haystack_id": "h", "text_kind": "news",
    }
    for n in range(8)
}  # fmt: skip


def target_judge(name: str, answers: list[str], *, fitted: bool = False) -> HeldJudge:
    return by_targets(name, PEOPLE, answers, SUMMARIES, fitted=frozenset({"h"} if fitted else ()))


def of_targets(*judges: HeldJudge, annotator: str = "human") -> VerbAnswer:
    return judges_answer(compared_by_targets(judges, annotator=annotator), WORTHS["correlation"])


def table(answer: VerbAnswer, name: str) -> Table:
    return next(table for table in answer.tables if table.name == name)


def column(answer: VerbAnswer, name: str, column_name: str) -> list[Any]:
    return [row[column_name] for row in table(answer, name).rows]


def test_judges_stand_by_correlation_and_the_best_is_named() -> None:
    answer = of_targets(target_judge("bad", BAD), target_judge("good", GOOD))

    assert column(answer, "agreement", "judge") == ["good", "bad"]
    assert table(answer, "agreement").rows[0]["pearson"].value == pytest.approx(1)  # type: ignore[union-attr]
    assert answer.told[0].startswith("good: correlation with people 1.000 [1.000, 1.000], the highest. It is surely")


def test_an_unknown_cost_has_its_reason_and_a_known_one_its_dollars() -> None:
    unknown = target_judge("good", GOOD)
    known = unknown._replace(name="paid", cost={"usd": 1.5, "why": "4 calls"})
    verdicts = table(of_targets(unknown, known), "verdicts")

    assert [row["usd"] for row in verdicts.rows] == [None, 1.5]
    assert verdicts.reason(0, "usd") == "there is no ledger"


def test_a_fitted_judge_is_marked_wherever_its_figures_stand() -> None:
    answer = of_targets(target_judge("fitted", GOOD, fitted=True), target_judge("other", BAD))
    text = answer_markdown(answer)

    assert column(answer, "agreement", "in_sample") == [["judge"], []]
    assert column(answer, "differences", "in_sample") == [["first"]]
    assert text.count("| fitted (in sample) |") == 3  # agreement, length, verdicts
    assert "In sample: fitted was fitted on some of these very labels" in text
    assert "fitted (in sample) 1.000" in answer_html(answer)  # a figure in words


def test_the_printed_table_stands_beside_labels_of_the_study_alone() -> None:
    name = "released:gpt-4o"
    of_study, own = (of_targets(target_judge(name, GOOD), annotator=people) for people in ("human", "ann"))

    assert "8 of the 200 summaries" in " ".join(of_study.told)
    assert column(of_study, "printed", "printed_pearson") == [0.716]
    assert "printed" not in [one.name for one in own.tables]


def test_names_of_anybody_are_text_alone() -> None:
    answer = of_targets(target_judge(HOSTILE, GOOD), target_judge("b|c", BAD))._replace(title=HOSTILE)
    html = answer_html(answer)

    assert "img" not in Page(html).tags
    assert "default-src 'none'" in html
    assert all(len(row) == len(rows[0]) for rows in pipe_tables(answer_markdown(answer)) for row in rows)


def test_the_figure_tells_its_numbers_in_words() -> None:
    html = answer_html(of_targets(target_judge("good", GOOD), target_judge("bad", BAD)))

    assert 'aria-label="Correlation: good 1.000; bad -0.' in html


# ---------------------------------------------------------------- support

SETS = [summary(f"a{n}", n % 2 == 0, data_set="said", article=f"x{n}") for n in range(8)]
MODES = ("document", "full", "chunk-1024")


def cells_of(n_right: int) -> dict[tuple[str, str], Any]:
    return {
        (mode, one.summary_id): np.array([[float(one.said[0] if place < n_right else True)]])
        for mode in MODES
        for place, one in enumerate(SETS)
    }


def of_support(**n_right: int) -> VerbAnswer:
    """Hold judges beside each other that are right on the first so many summaries."""
    statistics: Any = [
        {
            "data_set": "said", "n_examples": 8, "documents": 1.0, "document_words": 3299.15, "summary_sentences": 10.4,
            "summary_words": 2.0, "level": "summary", "n_labels": 8, "n_supported": 4, "models": [],
        }
    ]  # fmt: skip
    cells = {name: cells_of(n) for name, n in n_right.items()}
    found = compared_by_documents([by_documents(name, SETS, own) for name, own in cells.items()], SETS)
    merges = [
        {"judge": name, **row}
        for name, own in cells.items()
        for row in merged_rows(grid(SETS, own, MODES, SCORING), cuts=False)
    ]
    return judges_answer({**found, "statistics": statistics, "grid": merges}, WORTHS["balanced_accuracy"])


def test_the_best_of_a_column_is_named_and_ties_share_it() -> None:
    answer = of_support(best=8, second=6, third=2)
    found = {(row["judge"], row["documents"]): row["best"] for row in table(answer, "merges").rows}

    assert {found["best", name] for name in ("full", "min", "mean", "max")} == {"said; average"}
    assert not any(best for (judge, _), best in found.items() if judge != "best")


def test_one_value_in_a_column_is_no_best() -> None:
    assert set(column(of_support(one=8), "merges", "best")) == {None}


def test_tables_describe_themselves_and_those_of_the_papers_have_their_sections() -> None:
    two, one = of_targets(target_judge("a", GOOD), target_judge("b", BAD)), of_support(one=8)
    targets, support = ([checked(table).name for table in answer.tables] for answer in (two, one))

    assert targets == ["agreement", "differences", "bias", "length", "verdicts", "judges"]
    assert support == ["merges", "chunks", "grid", "differences", "data_sets", "verdicts", "judges"]
    assert "## Differences between judges" not in answer_markdown(one)  # of one judge there are none


def test_chunks_are_natural_whole_and_by_tokens() -> None:
    names = column(of_support(one=8), "chunks", "documents")

    assert list(dict.fromkeys(names)) == ["natural", "full", "1024 tokens"]
