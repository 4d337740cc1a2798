"""Two runs on common queries: what is paired, what is tested together, and what may be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
import pytest

from longform.evidence.scores import ScoreTable
from longform.evidence.summaries import clustered
from longform.metrics.measure import Description
from longform.results.aggregate import Averaging
from longform.results.comparison import cost_table, setting_rows
from longform.results.differences import OF, compare_runs, datasets_of, scored, told_of, values_of
from longform.results.several_runs import grouped
from longform.settings.systems import SystemName
from longform.tables.table import checked
from tests.frames import SummaryInfo, summary_frame

HOW = Averaging("pooled", 1, 200)
JOINT: Description = {
    "name": "joint", "title": "joint", "unit": "points", "better": "higher", "told": "", "judged_by": "coverage",
}  # fmt: skip
ERRORS: Description = {**JOINT, "name": "errors", "unit": "count", "better": "lower"}
PAIR = (SystemName("s", "bm25"), SystemName("s", "bm25"))


class MadeRun(NamedTuple):
    """A run of a test."""

    label: str
    summaries: pl.DataFrame
    table: ScoreTable

    def scored(self, summaries: pl.DataFrame) -> pl.DataFrame:
        return scored(summaries, self.table).with_columns(run=pl.lit(self.label))


def run(label: str, scores: Mapping[str, Sequence[float | None]], *, measure: str = "joint") -> MadeRun:
    """Return a run whose system has a score for each query; None: no score."""
    infos, rows = {}, []
    for system, values in scores.items():
        for q, value in enumerate(values):
            info = SummaryInfo(f"{label}{system}{q}", f"q{q}", system, "bm25", "given", None, None, None)
            infos[info.summary_id] = info
            n = 0 if value is None else 1
            rows.append({"judge": "j", "summary_id": info.summary_id, "measure": measure, "total": value, "n": n})
    content: Any = [{**row, "n_unjudged": 0, "reason": None} for row in rows]
    return MadeRun(label, summary_frame(infos.values()), ScoreTable(content, infos, ["j"]))


def compared(first: MadeRun, second: MadeRun, *measures: Description, pairs: Any = (PAIR,)) -> list[Any]:
    """Return the rows, with the bounds of each difference beside it."""
    sides = clustered(first.summaries, second.summaries)
    scores = pl.concat(one.scored(own) for one, own in zip((first, second), sides, strict=True))
    values = values_of(scores, "pooled", "run", *OF, with_empty=True)
    labels, own = (first.label, second.label), {"j": measures or (JOINT,)}
    datasets = datasets_of(*sides)
    table = compare_runs(values, labels, "differences", datasets=datasets, measures=own, pairs=pairs, seed=1)
    rows: list[Any] = [*checked(table).rows]
    return [
        {**row, "difference": row["difference"].value, "low": row["difference"].low, "high": row["difference"].high}
        for row in rows
    ]


def steady(mean: float, n: int = 8) -> list[float]:
    return [mean + 0.02 * (q % 3 - 1) for q in range(n)]


def test_a_run_against_itself_differs_by_nothing() -> None:
    (row,) = compared(run("a", {"s": steady(0.5)}), run("b", {"s": steady(0.5)}))

    assert (row["difference"], row["low"], row["high"], row["p"]) == (0, 0, 0, 1)
    assert row["finding"] == "not distinguishable"


def test_a_steady_difference_of_eight_queries_has_the_smallest_p() -> None:
    (row,) = compared(run("a", {"s": steady(0.2)}), run("b", {"s": [x + 0.3 for x in steady(0.2)]}))

    assert row["difference"] == pytest.approx(30)
    assert row["p"] == pytest.approx(2 / 2**8)
    assert (row["finding"], row["better"]) == ("second better", "b")
    assert told_of(row["finding"], 8, ("a", "b")) == "b is better"


def test_less_of_what_is_bad_is_better() -> None:
    runs = run("a", {"s": steady(5)}, measure="errors"), run("b", {"s": steady(3)}, measure="errors")
    (row,) = compared(*runs, ERRORS)

    assert row["difference"] == pytest.approx(-2)
    assert row["finding"] == "second better"


def test_queries_that_one_of_both_has_no_score_of_are_left_out_and_counted() -> None:
    first, second = [*steady(0.2), 1.0], [*steady(0.2), None]
    (row,) = compared(run("a", {"s": first}), run("b", {"s": second}))

    assert row["difference"] == 0
    assert (row["n_queries"], row["n_left_out"]) == (8, 1)


def test_five_queries_show_nothing_and_hide_nothing_of_others() -> None:
    few = [0.0] * 5 + [None] * 3
    first = run("a", {"s": steady(0.2), "few": few})
    second = run("b", {"s": [x + 0.3 for x in steady(0.2)], "few": [1.0] * 5 + [None] * 3})
    pairs = (PAIR, (SystemName("few", "bm25"), SystemName("few", "bm25")))
    rows = compared(first, second, pairs=pairs)

    assert [row["finding"] for row in rows] == ["second better", "too few"]
    assert rows[0]["p"] == pytest.approx(2 / 2**8), "what cannot be tested is no member of the family"
    assert (rows[1]["p"], rows[1]["low"], rows[1]["difference"]) == (None, None, 100)


def test_more_comparisons_make_each_less_certain() -> None:
    chance = [0.9 if q % 2 else 0.7 for q in range(8)]
    near = [x + (0.2, 0.1, -0.05, 0.15)[q % 4] for q, x in enumerate(steady(0.5))]
    one = compared(run("a", {"s": steady(0.5)}), run("b", {"s": near}))[0]
    others = {f"o{n}": [x * (1 + n) % 1 for x in chance] for n in range(5)}
    moved = {name: [(x + 0.13 * (q % 4)) % 1 for q, x in enumerate(values)] for name, values in others.items()}
    pairs = [(SystemName(name, "bm25"), SystemName(name, "bm25")) for name in ["s", *others]]
    many = compared(run("a", {"s": steady(0.5), **others}), run("b", {"s": near, **moved}), pairs=pairs)[0]

    assert many["difference"] == one["difference"]
    assert many["p"] > one["p"]
    assert many["high"] - many["low"] > one["high"] - one["low"]


def test_an_interval_excludes_0_exactly_if_p_is_small() -> None:
    for n in range(12):
        second = [x + 0.05 * ((q * 7 + n) % 5 - 1) for q, x in enumerate(steady(0.5))]
        (row,) = compared(run("a", {"s": steady(0.5)}), run("b", {"s": second}))
        if row["low"] is not None:
            assert (row["low"] > 0 or row["high"] < 0) == (row["p"] <= 0.05)


def test_groups_are_of_the_systems_of_both_runs() -> None:
    runs = run("a", {"s": steady(0.2)}), run("b", {"s": steady(0.2), "t": steady(0.8)})
    scores = pl.concat(one.scored(clustered(one.summaries)[0]) for one in runs)
    best, others = (row["systems"] for row in grouped(scores, "j", JOINT, HOW))

    assert best == ["b: t, bm25"]
    assert isinstance(others, list)
    assert sorted(others) == ["a: s, bm25", "b: s, bm25"]


def test_each_differing_key_is_told() -> None:
    first = {"seed": 1, "retrievers": {"b": {"k1": 1.5}}, "systems": [{"budget": 400}], "same": None}
    second = {"seed": 1, "retrievers": {"b": {"k1": 1.2}, "c": 1}, "systems": [{"budget": None}], "same": None}

    assert [*setting_rows(first, second)] == [
        {"key": "retrievers.b.k1", "first": "1.5", "second": "1.2"},
        {"key": "retrievers.c", "first": None, "second": "1"},
        {"key": "systems.0.budget", "first": "400", "second": "not set"},
    ]


def test_a_cost_that_is_not_known_is_not_0() -> None:
    spend: Any = {"calls": 3, "known_usd": 0.5, "n_unknown_usd": 1, "open": 0, "input_tokens": 7, "refused": 0}
    nothing: Any = {"calls": 0, "known_usd": 0.0, "n_unknown_usd": 0, "open": 0, "refused": 0}
    found = {row["quantity"]: row for row in cost_table(nothing, spend, ("a", "b")).rows}

    assert (found["dollars"]["first"], found["dollars"]["second"], found["dollars"]["difference"]) == (0, None, None)
    assert found["calls"]["difference"] == 3
    assert found["input tokens"]["difference"] == 7
