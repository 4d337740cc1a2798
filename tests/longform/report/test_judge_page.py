"""The page of several judges: its tables in Markdown and HTML, marks, unknowns, and texts of anybody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.judges.meta_evaluation import LabelledSummary, Scoring
from longform.judges.support_meta import SupportJudge, SupportMeta, support_meta
from longform.judges.target_cards import LabelledTarget
from longform.judges.target_meta import TargetJudge, TargetMeta, target_meta
from longform.metrics.agreement import Label
from longform.report.judge_page import JudgePage, judge_html, judge_markdown
from tests.longform.report.pages import HOSTILE, Page, pipe_tables

PEOPLE = ["full", "none", "partial", "full"] * 4
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


def of_targets(*judges: TargetJudge) -> TargetMeta:
    return target_meta(judges, SUMMARIES, task="coverage", settings={"seed": 1, "resamples": 100})


def page(found: TargetMeta | None = None, support: SupportMeta | None = None, **more: Any) -> JudgePage:
    empty: JudgePage = {"title": "Judges", "facts": {}, "failed": [], "of_targets": found, "of_support": support}
    return {**empty, **more}  # type: ignore[typeddict-item]


GOOD, BAD = [*PEOPLE], ["none", "full", "none", "none"] * 4


def test_judges_stand_by_correlation() -> None:
    shown = Page(judge_html(page(of_targets(target_judge("bad", BAD), target_judge("good", GOOD)))))
    rows = shown.tables["agreement"][0][-2:]

    assert [row[0] for row in rows] == ["good", "bad"]
    assert rows[0][1].startswith("1.000")


def test_an_unknown_cost_has_its_reason_and_a_known_one_its_dollars() -> None:
    unknown = target_judge("good", GOOD)
    known = unknown._replace(name="paid", cost={"usd": 1.5, "why": "4 calls"})

    assert "Left out: cost (there is no ledger)." in judge_markdown(page(of_targets(unknown)))
    both = judge_markdown(page(of_targets(unknown, known)))
    assert "| $1.50 |" in both
    assert "cost: – in 1 cell (there is no ledger)." in both


def test_a_fitted_judge_is_marked_wherever_its_figures_stand() -> None:
    text = judge_markdown(page(of_targets(target_judge("fitted", GOOD, fitted=True), target_judge("other", BAD))))

    assert "fitted is higher (in sample: fitted)" in text
    assert "| fitted (in sample) |" in text
    assert "1.000 [1.000, 1.000] in sample" in text
    assert "the judge was fitted on some of these very labels" in text


def test_the_printed_table_stands_beside_labels_of_the_study_alone() -> None:
    name = "released:gpt-4o"
    of_study = judge_markdown(page(of_targets(target_judge(name, GOOD))))
    own = judge_markdown(page(of_targets(target_judge(name, GOOD, annotator="ann"))))

    assert "8 of the 200 summaries" in of_study
    assert "Beside SummHay's table 1" in of_study
    assert "0.716" in of_study
    assert "table 1, printed" not in own


def test_names_of_anybody_are_text_alone() -> None:
    failed = [{"judge": HOSTILE, "reason": HOSTILE, "exit_code": 2}]
    found = of_targets(target_judge(HOSTILE, GOOD), target_judge("b|c", BAD))
    html = judge_html(page(found, failed=failed, title=HOSTILE))
    shown = Page(html)

    assert shown.tags.count("script") == 1
    assert "img" not in shown.tags
    assert "default-src 'none'" in html
    assert all(len(row) == len(table[0]) for table in pipe_tables(judge_markdown(page(found))) for row in table)


def test_the_figure_tells_its_numbers_in_words() -> None:
    html = judge_html(page(of_targets(target_judge("good", GOOD), target_judge("bad", BAD))))

    assert 'aria-label="Correlation with people: good 1.000; bad -0.' in html


# ---------------------------------------------------------------- support

SETS = [LabelledSummary(f"a{n}", "said", f"x{n}", "summary", (n % 2 == 0,)) for n in range(8)]


def support_judge(name: str, n_right: int) -> SupportJudge:
    cells = {
        (mode, one.summary_id): np.array([[float(one.labels[0] if place < n_right else True)]])
        for mode in ("document", "full", "chunk-1024", "full-top", "full-middle", "full-bottom")
        for place, one in enumerate(SETS)
    }
    return SupportJudge(
        name, cells, False, None, [], Scoring(resamples=100), {"usd": 0.0, "why": "none"}, "its card", 0, 8
    )


def of_support(*judges: SupportJudge) -> SupportMeta:
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
    return support_meta(judges, SETS, statistics, labels, ("document", "full", "chunk-1024"), importance=None)


def test_best_and_second_of_a_column_are_marked_and_ties_share_the_mark() -> None:
    found = of_support(support_judge("best", 8), support_judge("second", 6), support_judge("third", 2))
    rows = Page(judge_html(page(support=found))).tables["merges"][0]
    marks = {(row[0], row[1]): row[2].rpartition("] ")[2] for row in rows[1:]}

    assert {marks["best", name] for name in ("full", "min", "mean", "max")} == {"best"}
    assert {marks["second", name] for name in ("full", "min", "mean", "max")} == {"second"}
    assert not any(mark in {"best", "second"} for (judge, _), mark in marks.items() if judge == "third")


def test_one_value_in_a_column_is_no_best() -> None:
    rows = Page(judge_html(page(support=of_support(support_judge("one", 8))))).tables["merges"][0]

    assert not any("best" in cell for row in rows[1:] for cell in row)


@pytest.mark.parametrize(
    ("anchor", "first"),
    [("sets", "said"), ("chunks", "one"), ("grid", "one"), ("judged", "one")],
)
def test_every_table_of_the_paper_has_its_section(anchor: str, first: str) -> None:
    shown = Page(judge_html(page(support=of_support(support_judge("one", 8)))))

    assert shown.tables[anchor][0][1][0] == first


def test_chunks_are_natural_whole_and_by_tokens() -> None:
    shown = Page(judge_html(page(support=of_support(support_judge("one", 8)))))

    assert [row[1] for row in shown.tables["chunks"][0][1:]] == ["natural", "full", "1024 tokens"]


def test_a_judge_of_support_without_a_second_has_no_differences() -> None:
    shown = Page(judge_html(page(support=of_support(support_judge("one", 8)))))

    assert "differences" not in shown.tables
