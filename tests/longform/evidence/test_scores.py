"""Scores as frames: what is joined, averaged, replaced and ordered, against what a loop over rows finds."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.evidence.scores import (
    facts_of,
    final,
    in_order,
    means,
    names_of,
    rows_table,
    samples,
    score_frame,
    under,
    with_facts,
)
from tests.frames import SummaryInfo, summary_frame


def row(summary: str, measure: str = "m", judge: str | None = "j", **more: Any) -> Any:
    return {"judge": judge, "summary_id": summary, "measure": measure, "total": 1.0, "n": 2, "n_unjudged": 0} | more


def scores_of(rows: list[Any], ids: list[str]) -> pl.DataFrame:
    return in_order(score_frame([rows_table([one]) for one in rows], ids))


def values(scores: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return list(scores.select(columns).iter_rows())


def info(summary: str, **more: Any) -> SummaryInfo:
    return SummaryInfo(summary, more.pop("query", summary), "s", "bm25", "given", None, None, None)._replace(**more)


def facts(scores: pl.DataFrame, *infos: SummaryInfo) -> pl.DataFrame:
    return facts_of(scores, summary_frame(infos).lazy())


def test_rows_stand_in_the_order_of_summaries_and_the_later_of_two_counts() -> None:
    found = scores_of([row("b"), row("a", total=3.0), row("elsewhere"), row("b", total=2.0)], ["a", "b"])

    assert values(found, "summary_id", "total") == [("a", 3.0), ("b", 2.0)]


def test_null_is_nothing_and_an_empty_reason_is_none() -> None:
    found = scores_of([row("a", total=None, n=None, reason=""), row("b", n=0, reason="no bullet")], ["a", "b"])

    assert values(found, "total", "n", "reason", "repeat") == [(0.0, 0, None, 0), (1.0, 0, "no bullet", 0)]


def test_no_rows_are_a_frame_of_the_same_columns() -> None:
    assert scores_of([], ["a"]).schema == scores_of([row("a")], ["a"]).schema
    assert names_of(scores_of([], []), ["j"]) == {}


def test_measures_without_a_judge_stand_under_every_judge_that_has_the_summary() -> None:
    rows = [row("a"), row("b", "words", None), row("a", "words", None), row("b", judge="k")]
    found = scores_of(rows, ["a", "b"])

    assert values(under(found, "j"), "summary_id", "measure") == [("a", "words"), ("a", "m")]
    assert values(under(found, "k"), "summary_id", "measure") == [("b", "words"), ("b", "m")]
    assert values(under(found, None), "summary_id", "measure") == [("a", "words"), ("b", "words")]


def test_a_judge_s_own_score_goes_before_one_without_a_judge() -> None:
    found = scores_of([row("a", judge=None, total=5.0), row("a"), row("b", judge=None), row("b", "other")], ["a", "b"])

    assert values(under(found, "j"), "summary_id", "measure", "total") == [
        ("a", "m", 1.0),
        ("b", "other", 1.0),
        ("b", "m", 1.0),
    ]


def test_judges_have_the_report_s_order_and_their_measures_that_of_appearance() -> None:
    rows = [row("a", "z", "second"), row("a", "m", "first"), row("a", "y", "second"), row("a", "words", None)]

    found = names_of(score_frame([rows_table(rows)], ["a"]), ["first", "second"])

    assert list(found.items()) == [(None, ["words"]), ("first", ["m"]), ("second", ["z", "y"])]


def test_means_over_repeats_leave_out_those_without_a_value_and_their_reason() -> None:
    repeats = [(1.0, 2, 0, None), (2.0, 2, 0, None), (None, 0, 3, "unjudged")]
    rows = [
        row("a", total=total, n=n, n_unjudged=unjudged, reason=reason, repeat=repeat)
        for repeat, (total, n, unjudged, reason) in reversed([*enumerate(repeats)])
    ]
    rows += [row("b", total=None, n=0, n_unjudged=1, reason="none said", repeat=repeat) for repeat in range(2)]

    found = means(scores_of(rows, ["a", "b"]))

    assert values(found, "total", "n", "unjudged", "reason") == [(1.5, 2, 1, None), (0, 0, 1, "none said")]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("mn"), st.integers(0, 2), st.integers(0, 3)),
        min_size=1,
        unique_by=lambda one: one[:3],
    )
)
def test_means_are_those_of_a_loop(drawn: list[tuple[str, str, int, int]]) -> None:
    rows = [row(a, m, repeat=repeat, total=n / 3, n=n, n_unjudged=3 - n) for a, m, repeat, n in drawn]
    groups: dict[tuple[str, str], list[int]] = {}
    for a, m, _, n in sorted(drawn):
        groups.setdefault((a, m), []).append(n)

    found = {(a, m): cell for a, m, *cell in values(means(scores_of(rows, list("abc"))), *COLUMNS)}

    for key, counts in groups.items():
        defined = [n for n in counts if n] or counts
        n = sum(defined) / len(defined)
        assert found[key] == pytest.approx([n / 3, n, 3 - sum(counts) / len(counts)])


COLUMNS = ("summary_id", "measure", "total", "n", "unjudged")


def test_facts_stand_in_their_own_order_and_only_if_there_are_scores() -> None:
    scores = scores_of([row("a"), row("b"), row("a", "n")], ["a", "b", "c"])
    own = facts(scores, info("b"), info("c"), info("a"))

    assert own["summary_id"].to_list() == ["b", "a"]
    joined = with_facts(scores, own)
    assert values(joined, "query_id", "measure") == [("b", "m"), ("a", "m"), ("a", "n")]


def test_repeats_of_a_query_are_one_sample_and_summaries_written_elsewhere_are_many() -> None:
    scores = scores_of([row(name, total=total) for name, total in (("a", 2.0), ("b", 1.0), ("c", 0.0))], list("abc"))
    repeated = facts(scores, *(info(name, query="q", repeat=place) for place, name in enumerate("abc")))
    elsewhere = facts(scores, *(info(name, query="q") for name in "abc"))

    assert values(samples(with_facts(scores, repeated), "pooled"), "total", "n") == [(1.0, 2.0)]
    assert values(samples(with_facts(scores, repeated), "per_summary"), "total", "n") == [(0.5, 1.0)]
    assert values(samples(with_facts(scores, elsewhere), "pooled"), "total") == [(2.0,), (1.0,), (0.0,)]


def test_samples_are_in_order_of_appearance_of_those_that_have_a_value() -> None:
    scores = scores_of([row("a", n=0), row("b"), row("c"), row("d")], list("abcd"))
    infos = (info(name, query=query, repeat=0) for name, query in (("a", "z"), ("b", "y"), ("c", "x"), ("d", "z")))

    assert samples(with_facts(scores, facts(scores, *infos)), "pooled")["cluster"].to_list() == ["y", "x", "z"]


def test_the_latest_snapshot_takes_the_place_of_the_first() -> None:
    scores = scores_of([row(name) for name in "abcd"], list("abcd"))
    minutes: dict[str, float | None] = {"a": 20, "b": None, "c": 10, "d": 20}
    own = facts(scores, *(info(name, query="q", elapsed_minutes=when) for name, when in minutes.items()))

    assert final(own)["summary_id"].to_list() == ["d", "b"]
    assert final(own.head(2)).columns == own.columns


def test_columns_that_older_parts_lack_are_null() -> None:
    part = rows_table([row("a")])

    assert part.column_names[-1] == "repeat"
    assert part["repeat"].to_pylist() == [None]
    assert isinstance(part, pa.Table)
