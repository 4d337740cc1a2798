"""Several judges as tables and sentences: their order, marks, unknowns, and texts of anybody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.judges.card_figures import LabelledTarget
from longform.judges.meta_evaluation import LabelledSummary, Scoring
from longform.judges.several import SupportJudge, TargetJudge, support_meta, target_meta
from longform.metrics.agreement import Label
from longform.report.answers import answer_html, answer_markdown
from longform.results.answer import VerbAnswer
from longform.results.judges_compared import support_answer, targets_answer
from longform.tables.table import Table, checked
from tests.longform.report.pages import HOSTILE, Page, pipe_tables

PEOPLE = ["full", "none", "partial", "full"] * 4
GOOD, BAD = [*PEOPLE], ["none", "full", "none", "none"] * 4
SUMMARIES: dict[str, Any] = {
    f"s{n}": {"summarizer": "ab"[n % 2], "text": "\n".join(["one two"] * (n + 1))} for n in range(8)
}


def target_judge(name: str, answers: list[str], *, fitted: bool = False, annotator: str = "human") -> TargetJudge:
    targets = [
        LabelledTarget(
            f"s{place // 2}",
            f"i{place % 2}",
            annotator,
            "h",
            "news",
            {"answer": label, "linked_unit": 0},  # type: ignore[typeddict-item]
            {"answer": answer, "linked_unit": 0, "probability": None, "failure": None},  # type: ignore[typeddict-item]
        )
        for place, (label, answer) in enumerate(zip(PEOPLE, answers, strict=True))
    ]
    seen = frozenset({"h"} if fitted else ())
    return TargetJudge(name, targets, seen, {"usd": None, "why": "there is no ledger"}, "its card")


def of_targets(*judges: TargetJudge) -> VerbAnswer:
    settings = {"seed": 1, "resamples": 100}
    return targets_answer(target_meta(judges, SUMMARIES, task="coverage", settings=settings))


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
    of_study, own = (of_targets(target_judge(name, GOOD, annotator=people)) for people in ("human", "ann"))

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

SETS = [LabelledSummary(f"a{n}", "said", f"x{n}", "summary", (n % 2 == 0,)) for n in range(8)]


def support_judge(name: str, n_right: int) -> SupportJudge:
    cells = {
        (mode, one.summary_id): np.array([[float(one.labels[0] if place < n_right else True)]])
        for mode in ("document", "full", "chunk-1024", "full-top", "full-middle", "full-bottom")
        for place, one in enumerate(SETS)
    }
    return SupportJudge(name, cells, False, None, Scoring(resamples=100), {"usd": 0.0, "why": "none"}, "its card", 0, 8)


def of_support(*judges: SupportJudge) -> VerbAnswer:
    labels = [
        Label("ann", one.summary_id, (one.summary_id, None), "supported" if one.labels[0] else "unsupported")
        for one in SETS
    ]
    statistics: Any = [
        {
            "data_set": "said", "n_examples": 8, "documents": 1.0, "document_words": 3299.15, "summary_sentences": 10.4,
            "summary_words": 2.0, "level": "summary", "n_labels": 8, "n_supported": 4, "models": [],
        }
    ]  # fmt: skip
    modes = ("document", "full", "chunk-1024")
    found = support_meta(judges, SETS, statistics, labels, modes, importance=None)
    return support_answer({"task": "support", **found})


def test_the_best_of_a_column_is_named_and_ties_share_it() -> None:
    answer = of_support(support_judge("best", 8), support_judge("second", 6), support_judge("third", 2))
    found = {(row["judge"], row["documents"]): row["best"] for row in table(answer, "merges").rows}

    assert {found["best", name] for name in ("full", "min", "mean", "max")} == {"said; average"}
    assert not any(best for (judge, _), best in found.items() if judge != "best")


def test_one_value_in_a_column_is_no_best() -> None:
    assert set(column(of_support(support_judge("one", 8)), "merges", "best")) == {None}


def test_tables_describe_themselves_and_those_of_the_papers_have_their_sections() -> None:
    two, one = (target_judge("a", GOOD), target_judge("b", BAD)), support_judge("one", 8)
    targets, support = ([checked(one).name for one in answer.tables] for answer in (of_targets(*two), of_support(one)))

    assert targets == ["agreement", "differences", "bias", "length", "verdicts", "judges"]
    assert support == ["merges", "chunks", "grid", "differences", "data_sets", "verdicts", "judges"]
    assert "## Differences between judges" not in answer_markdown(of_support(one))  # of one judge there are none


def test_chunks_are_natural_whole_and_by_tokens() -> None:
    names = column(of_support(support_judge("one", 8)), "chunks", "documents")

    assert list(dict.fromkeys(names)) == ["natural", "full", "1024 tokens"]
