"""Coverage, citation and joint score: the paper's worked examples, and what undefined means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.metrics.coverage import citation_quality, insight_score, score_summary, summary_scores
from longform.metrics.measure import Verdict
from longform.text.citations import bullets, cited_numbers, words_per_bullet

# SummHay, figure 2: reference documents of three insights, and the summary's lines (its citations only).
FIGURE_2_GOLD = {
    "pomodoro": [8, 32, 79, 83, 95],
    "calm": [11, 30, 46, 53, 79, 80],
    "breathing": [8, 32, 46, 53, 69, 91, 95],
}
FIGURE_2_SUMMARY = """Insights on stress:
- Relaxation with an application [79,11,46,53,54].
- Twenty-five minutes, then a break [79,80].
- A timetable [80,23]."""
FIGURE_2_LABELS = {"pomodoro": ("full", 2), "calm": ("partial", 1), "breathing": ("none", None)}

# SummHay, figure 4: five insights and four summaries (their citations only).
FIGURE_4_GOLD = [
    [8, 32, 46, 53, 69, 91, 95],
    [11, 20, 48, 54, 80, 91],
    [8, 32, 37, 48, 79, 83, 95],
    [11, 30, 46, 53, 79, 80],
    [13, 27, 37, 54, 68, 83],
]
GPT_4O_ORACLE = [
    [8, 11, 46, 53, 91],
    [11, 53, 54, 80, 91],
    [8, 11, 37, 53, 54, 79, 83, 95],
    [11, 53, 79, 83, 91],
    [13, 37, 46, 83],
]
OPUS_RERANK3 = [[54, 79, 83, 91], [27, 30, 79], [11, 54, 91], [37, 54], [37]]
GEMINI_RANDOM = [[4, 46, 95], [46, 53, 80], [46, 74, 80], [53], [53, 95]]

GPT_35_VECTOR = [[46, 54, 80]] * 5


def verdicts(labels: dict[str, tuple[str | None, int | None]]) -> list[Verdict]:
    return [Verdict(target, answer, linked_unit=unit) for target, (answer, unit) in labels.items()]


def percent(scores: list, measure: str) -> float:
    return 100 * next(score.value for score in scores if score.measure == measure)


def test_figure_2_of_the_paper() -> None:
    """50 / 51 / 22 in print; the joint score is 21.65 where nothing is rounded on the way."""
    scores = score_summary(verdicts(FIGURE_2_LABELS), bullets(FIGURE_2_SUMMARY), FIGURE_2_GOLD, partial_score=0.5)

    assert percent(scores, "coverage") == pytest.approx(50)
    assert percent(scores, "citation") == pytest.approx(100 * (2 / 7 + 8 / 11) / 2)
    assert percent(scores, "joint") == pytest.approx(100 * (2 / 7 + 0.5 * 8 / 11) / 3)
    assert round(percent(scores, "joint"), 2) == 21.65


@pytest.mark.parametrize(
    ("citations", "labels", "printed"),
    [
        pytest.param(
            GPT_4O_ORACLE,
            [("partial", 0), ("full", 1), ("full", 2), ("partial", 3), ("partial", 4)],
            (70, 64, 46),
            id="gpt-4o-oracle",
        ),
        pytest.param(
            OPUS_RERANK3,
            [("partial", 0), ("full", 2), ("full", 1), ("full", 2), ("full", 0)],
            (90, 33, 32),
            id="opus-rerank3",
        ),
        pytest.param(
            GEMINI_RANDOM,
            [("partial", 0), ("partial", 2), ("none", None), ("partial", 1), ("none", None)],
            (30, 43, 13),
            id="gemini-random",
        ),
        pytest.param(
            GPT_35_VECTOR,
            [("partial", 0), ("none", None), ("partial", 0), ("partial", 0), ("none", None)],
            (30, 21, 6),
            id="gpt-3.5-vector",
        ),
    ],
)
def test_figure_4_of_the_paper(citations: list, labels: list, printed: tuple[int, int, int]) -> None:
    """The figure prints triples but no labels; these labels give the triples, which only the right formulas can."""
    scores = summary_scores(
        insight_score(answer, unit, citations=citations, gold=gold)
        for (answer, unit), gold in zip(labels, FIGURE_4_GOLD, strict=True)
    )

    assert tuple(round(percent(scores, m)) for m in ("coverage", "citation", "joint")) == printed


def test_no_covered_insight_leaves_citation_undefined_and_joint_zero() -> None:
    scores = {s.measure: s for s in summary_scores([insight_score("none", None, citations=[[1]], gold=[1])])}

    assert scores["citation"].value is None
    assert scores["citation"].reason == "no insight is covered"
    assert scores["joint"].value == 0


def test_unjudged_insight_is_left_out_and_counted() -> None:
    """A missing judgement must never become a 0."""
    scores = {
        s.measure: s
        for s in summary_scores(
            [
                insight_score("full", 0, citations=[[1]], gold=[1]),
                insight_score(None, None, citations=[[1]], gold=[2]),
            ]
        )
    }

    assert scores["coverage"].value == 1
    assert (scores["coverage"].n, scores["coverage"].n_unjudged) == (1, 1)


@pytest.mark.parametrize("link", [None, -1, 2, 99])
def test_covered_insight_without_a_usable_link_has_citation_zero_and_is_counted(link: int | None) -> None:
    """The released code scores the last-but-one bullet here: [7] would be right."""
    scores = {s.measure: s for s in summary_scores([insight_score("full", link, citations=[[7], [8]], gold=[7])])}

    assert (scores["coverage"].value, scores["citation"].value, scores["unlinked"].value) == (1, 0, 1)


def test_unknown_gold_documents_leave_only_coverage() -> None:
    scores = {s.measure: s for s in summary_scores([insight_score("full", 0, citations=[[1]], gold=None)])}

    assert scores["coverage"].value == 1
    assert scores["joint"].value is None
    assert scores["joint"].reason == "the gold documents are not known"


@given(st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30), min_size=1))
def test_f1_lies_between_precision_and_recall(cited: set[int], gold: set[int]) -> None:
    quality = citation_quality(cited, gold)

    assert min(quality[:2]) - 1e-12 <= quality.f1 <= max(quality[:2]) + 1e-12
    assert citation_quality(gold, gold).f1 == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[1][4]", [1, 4]),
        ("[4, 1,4]", [1, 4]),
        ("[Article 3] [References: 1, 2] [2-4]", []),
        ("[ , ] [,7]", [7]),
        ("year [2023] said", [2023]),
    ],
)
def test_only_digits_commas_and_spaces_cite(text: str, numbers: list[int]) -> None:
    assert cited_numbers(text) == numbers


def test_header_line_is_a_bullet_and_empty_lines_are_not() -> None:
    """Bullet ids of released labels count header lines."""
    assert [b.text for b in bullets("Here they are:\n\n - one [1]\n   \n- two [2]")] == [
        "Here they are:",
        "- one [1]",
        "- two [2]",
    ]


def test_words_per_bullet_counts_spaces_of_the_joined_lines() -> None:
    assert words_per_bullet(["a b c", "d e"]) == (3 + 1) / 2
    assert words_per_bullet([]) is None
