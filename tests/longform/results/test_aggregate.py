"""Cells, curves and comparisons from scores whose answers are known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from jobs.results.gated import shortfall
from longform.axes import SystemAxes
from longform.evidence.scores import ScoreTable, final, means, of_judge, under
from longform.evidence.summaries import clustered, clusters_of
from longform.measures import default_names, named
from longform.metrics.measure import Measure, Score
from longform.report.parts import failures_told
from longform.results.aggregate import (
    Averaging,
    models_tables,
    several_models,
)
from longform.results.cells import BESIDE_SCORES
from longform.studies import cells as study
from longform.studies.curve import curve
from longform.studies.schema_1 import with_tables
from longform.tables.table import Column, checked
from tests.frames import Scored, SummaryInfo, cell_tables, cells, frames_of, summary_frame
from tests.longform.report.pages import Page, html, markdown

LISTED = named(default_names(["coverage"]))
SUMMARIES = [measure for measure in LISTED if isinstance(measure, Measure)]
SETTINGS: dict[str, Any] = {"judge": "j", "seed": 1, "resamples": 200}
POOLED = Averaging("pooled", seed=1, resamples=200)
PER_SUMMARY = POOLED._replace(aggregate="per_summary")


def scored(
    summary_id: str, *, query: str = "q", setting: str = "bm25", order: str | None = "given",
    minutes: float | None = None, coverage: tuple[float, int] = (1, 2), joint: tuple[float, int] = (1, 2),
    citation: tuple[float, int] = (1, 1), unjudged: int = 0, summarizer: str = "s", axes: SystemAxes | None = None,
) -> Scored:  # fmt: skip
    info = SummaryInfo(summary_id, query, summarizer, setting, order, minutes, 0.1, None, axes=axes)
    measures = {
        "coverage": (*coverage, unjudged),
        "joint": (*joint, unjudged),
        "citation": (*citation, 0),
        "precision": (*citation, 0),
        "recall": (*citation, 0),
        "unlinked": (0.0, citation[1], 0),
        "words_per_bullet": (10.0, 1, 0),
    }
    return Scored(info, measures, {} if citation[1] else {"citation": "no insight is covered"})


def test_pooled_weighs_insights_and_per_summary_weighs_summaries() -> None:
    group = [scored("a", query="q1", coverage=(1, 1)), scored("b", query="q2", coverage=(0, 9))]

    assert cells(*frames_of(group), SUMMARIES, POOLED, judge="j")[0]["coverage"] == pytest.approx(10)
    assert cells(*frames_of(group), SUMMARIES, PER_SUMMARY, judge="j")[0]["coverage"] == pytest.approx(50)


def test_summary_without_a_covered_insight_is_left_out_of_citation_and_not_zero() -> None:
    group = [scored("a", query="q1", citation=(1, 1)), scored("b", query="q2", citation=(0, 0))]

    assert cells(*frames_of(group), SUMMARIES, PER_SUMMARY, judge="j")[0]["citation"] == pytest.approx(100)


def test_cell_where_nothing_is_covered_is_unknown_and_says_why() -> None:
    cell = cells(*frames_of([scored("a", citation=(0, 0))]), SUMMARIES, POOLED, judge="j")[0]

    assert cell["citation"] is None
    assert cell["reasons"]["citation"] == "no insight is covered"


def test_summaries_that_failed_are_counted_by_their_reason_and_told() -> None:
    """Numbers behind a colon are no other reason, and the cause of a failed step is what a reader looks for."""
    windows = [f"context_exceeds_window: {n} input + 600 output tokens > 1000" for n in (900, 950)]
    failures: list[tuple[str | None, str | None]] = [*((window, None) for window in windows), (None, None)]
    failures.append(("parent_failed: document-1: http_500", "http_500"))
    group = [
        one._replace(info=one.info._replace(failure=failure, cause=cause))
        for place, (failure, cause) in enumerate(failures)
        for one in [scored(str(place), query=f"q{place}")]
    ]
    found = cells(*frames_of(group), SUMMARIES, POOLED, judge="j")
    assert found[0]["failures"] == {"context_exceeds_window": 2, "http_500": 1}
    assert failures_told(found) == [
        "Summaries that failed stand in no mean. s, bm25: 3 of 4 (context_exceeds_window 2, http_500 1)."
    ]
    assert failures_told(cells(*frames_of(group[2:3]), SUMMARIES, POOLED, judge="j")) == []


def test_unjudged_insights_stand_beside_the_mean() -> None:
    cell = cells(*frames_of([scored("a", coverage=(2, 2), unjudged=2)]), SUMMARIES, POOLED, judge="j")[0]

    assert (cell["coverage"], cell["unjudged_share"]) == (pytest.approx(100), 0.5)


def test_what_is_known_of_a_system_is_declared_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry more, and pages have a column more, with its head, its words, its unit and its reason."""
    told = Column("shouted", "share", "share shouted", "of the words, those in capitals", "lower")
    fact = study.Fact(told, lambda cell: study.Unknown("nobody read it") if cell.judge else 0.25, BESIDE_SCORES)
    monkeypatch.setattr(study, "FACTS", (*study.FACTS, fact))
    group = frames_of([scored("a", query="q1"), scored("b", query="q2", summarizer="t")])
    known, unknown = (
        {"title": "t", "aggregate": "pooled", **cell_tables(*group, SUMMARIES, POOLED, judge=judge)}
        for judge in (None, "j")
    )

    heads, *rows = Page(html(known)).tables["scores"][1]
    assert (heads[-1], {row[-1] for row in rows}) == ("share shouted", {"25.0 %"})
    assert "Share shouted: of the words, those in capitals." in html(known)
    assert "Lower is better" in html(known)
    assert "| share shouted |" in markdown(known)
    assert "Left out: share shouted (nobody read it)." in markdown(unknown)


def test_unjudged_targets_of_another_task_stand_beside_the_mean() -> None:
    mentioned = Measure("mentioned", lambda _: Score("mentioned", 0, 0), judged_by="my_kind:MENTION")
    group = [
        scored(name)._replace(measures={"mentioned": counts}) for name, counts in (("a", (1, 2, 0)), ("b", (1, 1, 1)))
    ]

    (cell,) = cells(*frames_of(group), [mentioned], POOLED, judge="j")

    assert (cell["n_judged"], cell["n_unjudged"], cell["unjudged_share"]) == (3, 1, 0.25)
    assert shortfall(with_tables({"cells": [cell]}), 0.25) is None
    assert (
        shortfall(with_tables({"cells": [cell]}), 0.2)
        == "25.0% of what a cell asks its judge is unjudged (more than 20%)"
    )


def test_a_summary_that_failed_is_no_failure_of_its_judge() -> None:
    group = [scored("a", coverage=(2, 2)), scored("b", coverage=(0, 0), unjudged=2)]
    group[1] = group[1]._replace(info=group[1].info._replace(failure="length"))

    (cell,) = cells(*frames_of(group), SUMMARIES, POOLED, judge="j")

    assert (cell["n_failed"], cell["n_unjudged"], cell["unjudged_share"]) == (1, 0, 0.0)
    told = shortfall(with_tables({"cells": [cell]}), 0.02)
    assert told is not None
    assert "50.0% of the summaries of" in told
    assert "unjudged" not in told


def test_rows_of_the_scores_table_join_their_summaries() -> None:
    row = {"judge": "j", "summary_id": "a", "measure": "joint", "total": 1.0, "n": 2, "n_unjudged": 0}

    free = row | {"judge": None, "measure": "words", "total": None, "n": 0, "reason": "no bullet"}
    table = ScoreTable([row, row | {"summary_id": "elsewhere"}, free], ["a", "b"], ["j"])
    columns = ("summary_id", "measure", "total", "n", "unjudged", "reason")

    assert table.judges == [None, "j"]
    assert means(under(table.frame, "j")).select(columns).rows() == [
        ("a", "words", 0.0, 0, 0, "no bullet"),
        ("a", "joint", 1.0, 2, 0, None),
    ]
    assert means(under(table.frame, None)).select(columns).rows() == [("a", "words", 0.0, 0, 0, "no bullet")]


def test_a_judge_aside_is_no_judge_of_the_table_but_its_scores_are_there() -> None:
    row = {"judge": "j", "summary_id": "a", "measure": "joint", "total": 1.0, "n": 2, "n_unjudged": 0}
    table = ScoreTable([row, row | {"judge": "aligner"}], ["a"], ["aligner", "j"], aside="aligner")

    assert table.judges == ["j"]
    assert of_judge(table.frame, "aligner")["total"].to_list() == [1.0]


def test_curve_keeps_a_session_that_ended_at_its_last_snapshot() -> None:
    """Figure 3 is over sessions of different lengths: one that is done does not leave the mean."""
    group = [
        scored("a10", query="a", minutes=10, coverage=(1, 4)),
        scored("a20", query="a", minutes=20, coverage=(2, 4)),
        scored("b10", query="b", minutes=10, coverage=(4, 4)),
    ]

    points = curve(*frames_of(group), SUMMARIES, judge="j")

    assert [(p["minutes"], p["n_summaries"], p["score"]) for p in points if p["measure"] == "coverage"] == [
        (10.0, 2, pytest.approx(62.5)),
        (20.0, 2, pytest.approx(75.0)),
    ]


def test_only_the_last_snapshot_counts_in_a_cell() -> None:
    group = [scored("a10", minutes=10), scored("a20", minutes=20), scored("other", query="q2")]

    assert {*final(frames_of(group)[1])["summary_id"]} == {"a20", "other"}


def test_haystacks_are_clusters_where_there_are_enough_of_them() -> None:
    """Queries of one haystack share its documents."""
    shared = [scored(f"{h}{q}", query=f"{h}{q}").info._replace(haystack_id=f"h{h}") for h in range(6) for q in "ab"]
    few = [info for info in shared if info.haystack_id != "h5"]
    alone = [info for info in shared if info.query_id.endswith("a")]

    assert clusters(shared) == [(None, 12, 6, "haystack")]
    assert clusters(few) == [(None, 10, 5, "query")]
    assert clusters(alone) == [(None, 6, 6, "query")]
    assert clustered(summary_frame(shared))[0]["cluster"][0] == "h0"


def clusters(infos: list[SummaryInfo]) -> list[tuple[Any, ...]]:
    return clusters_of(summary_frame(infos)).rows()


def repeated(query: str, *shares: float, n: int = 4) -> list[Scored]:
    """Summaries of one query in repeats, with these shares of *n* insights covered."""
    found = [scored(f"{query}{place}", query=query, coverage=(share * n, n)) for place, share in enumerate(shares)]
    return [Scored(one.info._replace(repeat=place), one.measures) for place, one in enumerate(found)]


def test_repeats_are_averaged_within_a_query_and_are_no_further_samples() -> None:
    once = [row for place in range(8) for row in repeated(f"q{place}", place / 8)]
    thrice = [row for place in range(8) for row in repeated(f"q{place}", place / 8, place / 8, place / 8)]

    for aggregate in ("pooled", "per_summary"):
        (one,), (three,) = (
            cells(*frames_of(group), SUMMARIES, POOLED._replace(aggregate=aggregate), judge="j")
            for group in (once, thrice)
        )
        assert three["coverage"] == pytest.approx(one["coverage"])
        assert three["intervals"]["coverage"] == pytest.approx(one["intervals"]["coverage"])
        assert (one["n_repeats"], three["n_repeats"], three["n_summaries"]) == (1, 3, 24)


@pytest.mark.parametrize("aggregate", ["pooled", "per_summary"])
def test_a_query_counts_the_same_however_many_of_its_repeats_have_a_score(aggregate: Any) -> None:
    group = [*repeated("q1", 1.0, 0.5, 0.0), *repeated("q2", 0.0)]

    (cell,) = cells(*frames_of(group), SUMMARIES, POOLED._replace(aggregate=aggregate), judge="j")

    assert cell["coverage"] == pytest.approx(25)


def test_summaries_written_elsewhere_are_no_repeats_of_each_other() -> None:
    several = [scored("a", coverage=(4, 4)), scored("b", coverage=(4, 4)), scored("c", query="r", coverage=(0, 4))]

    (cell,) = cells(*frames_of(several), SUMMARIES, POOLED, judge="j")

    assert cell["coverage"] == pytest.approx(200 / 3)


def test_clusters_of_one_data_set_do_not_depend_on_another() -> None:
    many = [scored(f"{h}{q}", query=f"{h}{q}").info._replace(haystack_id=f"h{h}") for h in range(6) for q in "ab"]
    few = [info._replace(query_id=f"x{info.query_id}", dataset="few") for info in many if info.haystack_id in "h0h1"]

    both = summary_frame([*many, *(info._replace(summary_id=f"x{info.summary_id}") for info in few)])

    assert clusters_of(both).rows() == [(None, 12, 6, "haystack"), ("few", 4, 2, "query")]
    found = clustered(both)[0].group_by("dataset", maintain_order=True).agg(pl.col("cluster").n_unique())
    assert found.rows() == [(None, 6), ("few", 4)]


def test_models_that_answered_under_one_name_are_told_of_each_data_set() -> None:
    infos = [scored(str(n), query=str(n)).info._replace(model=model) for n, model in enumerate(["m-1", "m-2", "m-2"])]

    assert [row["models"] for row in several_models(summary_frame(infos))] == [{"m-2": 2, "m-1": 1}]
    assert several_models(summary_frame(info._replace(dataset=info.model) for info in infos)) == []
    (table,) = models_tables(several_models(summary_frame(infos)))
    assert [(row["model"], row["n_summaries"]) for row in checked(table).rows] == [("m-2", 2), ("m-1", 1)]


def test_interval_over_haystacks_is_wider_where_their_queries_agree() -> None:
    group = [scored(f"{h}{q}", query=f"{h}{q}", coverage=(h % 2, 1)) for h in range(8) for q in "abcd"]
    by_haystack = [
        Scored(s.info._replace(haystack_id=s.info.query_id[0], cluster_kind="haystack"), s.measures) for s in group
    ]
    (narrow,), (wide,) = (cells(*frames_of(g), SUMMARIES, POOLED, judge="j") for g in (group, by_haystack))
    width = [high - low for low, high in (narrow["intervals"]["coverage"], wide["intervals"]["coverage"])]

    assert narrow["coverage"] == wide["coverage"]
    assert width[1] > 1.5 * width[0]
