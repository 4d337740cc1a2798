"""Systems that none beats in both quality and cost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from longform.evidence.scores import ScoreTable
from longform.report.result_figures import table_figures
from longform.report.result_tables import table_sections
from longform.results.aggregate import Averaging
from longform.results.calls import mean_spent
from longform.results.evidence import Evidence
from longform.studies.cost import Cost, frontier_of
from longform.tables.table import Table
from tests.frames import FramesOf, SummaryInfo, contents_of, spent_of

N_QUERIES = 12
Spent = tuple[float | None, ...]


def found(systems: dict[str, tuple[float, Spent]]) -> list[Table]:
    """Return the tables of systems by their score and what each summary took; scores vary by the query alike."""
    infos = {
        f"{name}:{query}": SummaryInfo(f"{name}:{query}", f"q{query}", name, "bm25", "given", None, None, None)
        for name in systems
        for query in range(N_QUERIES)
    }
    rows: list[Any] = [
        {
            "judge": "j", "summary_id": info.summary_id, "measure": "joint", "total": systems[info.summarizer][0],
            "n": 1, "n_unjudged": 0, "reason": None, "repeat": 0,
        }
        for info in infos.values()
    ]  # fmt: skip
    evidence = SimpleNamespace(
        averaging=Averaging("pooled", 1, 200),
        measures=[],
        infos=infos,
        contents=contents_of(),
        frames=FramesOf(infos),
        score_table=ScoreTable(rows, infos, ["j"]),
        spent=spent_of({key: systems[info.summarizer][1] for key, info in infos.items()}),
        calls=None,
    )
    result = Cost().result(cast("Evidence", evidence))
    assert result is not None
    return result


def by_name(systems: dict[str, tuple[float, Spent]]) -> dict[str, Any]:
    """Return the rows of systems by cost and quality, by their summarizers."""
    return {str(row["summarizer"]): row for row in found(systems)[0].rows}


def tokens(n: float, usd: float | None = None) -> Spent:
    return (usd, n, 0.0, None)


def test_a_point_is_on_the_frontier_if_none_is_at_least_as_cheap_and_as_good() -> None:
    points = [(1.0, 0.5), (1.0, 0.4), (2.0, 0.5), (2.0, 0.9), (3.0, 0.9), (2.0, 0.9)]
    assert frontier_of(points) == [True, False, False, True, False, True]


def test_a_dearer_system_that_is_no_better_is_beaten_and_says_by_which() -> None:
    points = by_name({"small": (0.3, tokens(10)), "big": (0.6, tokens(90)), "waste": (0.2, tokens(50))})

    assert {(row["currency"], row["measure"]) for row in points.values()} == {("tokens a summary, in and out", "joint")}
    assert {name: row["place"] for name, row in points.items()} == {
        "small": "frontier",
        "big": "frontier",
        "waste": "beaten",
    }
    assert points["waste"]["beaten_by"] == "small, bm25"
    assert points["big"]["not_distinguishable_from"] == []


def test_dollars_count_where_they_are_known_of_as_many_and_differ() -> None:
    dollars = {"a": (0.3, tokens(10, 0.5)), "b": (0.6, tokens(5, 0.9))}
    assert {row["currency"] for row in by_name(dollars).values()} == {"cost a summary"}
    free = {"a": (0.3, tokens(10, 0.0)), "b": (0.6, tokens(5, 0.0))}
    assert {row["currency"] for row in by_name(free).values()} == {"tokens a summary, in and out"}
    partly = {**dollars, "c": (0.7, tokens(50))}
    assert {row["currency"] for row in by_name(partly).values()} == {"tokens a summary, in and out"}


PARTLY_KNOWN = {
    "offline": (0.3, (0.0, 0.0, 0.0, None)),
    "known": (0.6, tokens(5)),
    "unknown": (0.7, (None, None, None, None)),
}


def test_a_system_of_unknown_cost_has_no_place_and_is_named() -> None:
    placed, systems, _ = found(PARTLY_KNOWN)
    place = [row["summarizer"] for row in placed.rows].index("unknown")
    known = {row["summarizer"]: (row["usd_a_summary"], systems.reasons[at]) for at, row in enumerate(systems.rows)}

    assert (placed.rows[place].get("place"), placed.reason(place, "cost")) == (None, "cost not known")
    assert known["offline"][0] == 0.0
    assert known["unknown"][0] is None
    assert known["unknown"][1]["usd_a_summary"] == "price or usage not known of all summaries"


def test_the_page_names_the_frontier_in_words_in_a_table_and_in_a_figure() -> None:
    shown: Any = {"tables": {table.name: table.as_json() for table in found(PARTLY_KNOWN)}}
    (section,) = table_sections(shown)
    (plot,) = table_figures(section.anchor, shown)
    beside, of_systems, *_ = section.tables

    (told,) = section.paragraphs
    assert told == (
        "Judge j, by joint and tokens a summary, in and out: no system is better and takes fewer tokens than: "
        "offline, bm25 (0 tokens, 30.0); known, bm25 (5 tokens, 60.0)."
    )
    assert [column.head for column in beside.columns][-4:] == [
        "tokens a summary, in and out",
        "joint",
        "frontier",
        "not distinguishable from cheaper",
    ]
    assert beside.caption.startswith("Judge j (")
    assert [row[-4].reason for row in beside.cells] == [None, None, "cost not known"]
    assert of_systems.caption.startswith("Cost is the mean of a summary")
    assert "known, bm25 5 and 60.0" in plot.alt
    assert plot.caption.endswith("The line joins: frontier.")


def test_what_beats_a_system_stands_beside_its_place() -> None:
    shown: Any = {"tables": {"cost": found({"small": (0.3, tokens(10)), "waste": (0.2, tokens(50))})[0].as_json()}}
    (section,) = table_sections(shown)

    assert [(row[-2].text, row[-2].detail) for row in section.tables[0].cells] == [
        ("frontier", None),
        ("beaten", "by: small, bm25"),
    ]


def test_a_mean_is_unknown_if_a_part_of_it_is() -> None:
    costs = spent_of({"a": (0.5, 1.0, 0.0, None), "b": (None, 2.0, 0.0, None), "c": (0.25, 2.0, 0.0, 3.0)})

    means, why = mean_spent(["a", "b"], costs)
    assert means == {"usd_a_summary": None, "tokens_in": 1.5, "tokens_out": 0.0, "seconds": None}
    assert why["usd_a_summary"] == "price or usage not known of 1 of 2 summaries"
    assert mean_spent(["a", "c"], costs)[0]["usd_a_summary"] == pytest.approx(0.375)


def test_a_system_of_the_same_cost_is_not_called_cheaper() -> None:
    systems = {"small": (0.3, tokens(10)), "one": (0.6, tokens(50)), "other": (0.6, tokens(50))}
    points = by_name(systems)

    assert all(points[name]["place"] == "frontier" for name in ("one", "other"))
    assert [points[name]["not_distinguishable_from"] for name in ("one", "other")] == [[], []]
