"""Scores by where the relevant documents stand, whose answers are known, and what the report makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from longform.axes import SystemAxes
from longform.report.result_figures import table_figures
from longform.report.result_tables import table_sections
from longform.report.tables import ShownTable
from longform.settings.readings import Fidelity
from longform.studies.position import RULES, positions, table
from tests.frames import Scored, frames_of
from tests.longform.results.test_aggregate import SETTINGS, scored


def test_sensitivity_is_the_largest_distance_from_random_order() -> None:
    group = in_orders(SystemAxes("full"), {"random": 20, "top": 50, "bottom": 10, "given": 90})

    (row,) = positions(*frames_of(group), **SETTINGS)

    assert (row["reference"], row["sensitivity"]) == ("random", pytest.approx(30))
    assert (row["chance"], row["p"], row["n_independent"]) == (pytest.approx((30 + 40 + 40) / 3), 1.0, 1)


def test_without_a_random_order_the_given_one_is_the_reference() -> None:
    (row,) = positions(*frames_of(in_orders(SystemAxes("full"), {"given": 25, "top": 50, "bottom": 100})), **SETTINGS)

    assert (row["reference"], row["sensitivity"]) == ("given", pytest.approx(75))


def in_orders(axes: SystemAxes, joint: Mapping[str, float], *, n_queries: int = 1) -> list[Scored]:
    """A summary a query and order, named by the axes in words."""
    return [
        scored(
            f"{varied.words(with_budget=True)}/{query}",
            query=f"q{query}",
            setting=varied.words(with_budget=True),
            order=order,
            joint=(percent, 100),
            axes=varied,
        )
        for order, percent in joint.items()
        for varied in [axes._replace(order=order)]
        for query in range(n_queries)
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(SystemAxes("bm25", budget_tokens=2000), SystemAxes("bm25", budget_tokens=8000), id="budgets"),
        pytest.param(SystemAxes("bm25", n_documents=5), SystemAxes("bm25", n_documents=50), id="lengths"),
        pytest.param(
            SystemAxes("bm25", length_tokens=4000), SystemAxes("bm25", length_tokens=8000), id="lengths-in-tokens"
        ),
        pytest.param(SystemAxes("bm25"), SystemAxes("bm25", method="incremental"), id="methods"),
        pytest.param(SystemAxes("bm25"), SystemAxes("bm25", reranker="tiny"), id="rerankers"),
        pytest.param(SystemAxes("minilm"), SystemAxes("minilm/max"), id="a-name-with-a-slash"),
    ],
)
def test_systems_that_differ_in_more_than_order_have_a_position_row_each(first: SystemAxes, second: SystemAxes) -> None:
    group = [
        *in_orders(first, {"given": 50, "top": 60, "bottom": 50}),
        *in_orders(second, {"given": 50, "top": 50, "bottom": 90}),
    ]

    rows = positions(*frames_of(group), **SETTINGS)

    assert sorted(row["sensitivity"] for row in rows) == pytest.approx([10, 40])
    assert len({row["setting"] for row in rows}) == 2


def test_sensitivity_is_held_against_what_chance_gives() -> None:
    """Twelve queries that all do worse at the bottom; twelve of which each does worse somewhere, on average nowhere."""
    moved = in_orders(SystemAxes("moved"), {"given": 80, "top": 80, "bottom": 40}, n_queries=12)
    noise = [
        summary._replace(measures={**summary.measures, "joint": (40 if (query + place) % 3 == 0 else 80, 100, 0)})
        for place, order in enumerate(("given", "top", "bottom"))
        for query, summary in enumerate(in_orders(SystemAxes("still"), {order: 0}, n_queries=12))
    ]

    rows = {row["setting"]: row for row in positions(*frames_of([*moved, *noise]), **SETTINGS)}

    assert rows["moved"]["sensitivity"] == pytest.approx(40)
    assert rows["moved"]["chance"] < 20
    assert rows["moved"]["p_holm"] < 0.05
    assert rows["still"]["sensitivity"] == pytest.approx(0)
    assert rows["still"]["p"] == 1.0
    assert "interval" not in rows["moved"]  # of a largest distance it would never reach 0


@pytest.mark.parametrize(
    ("fidelity", "reference", "compared", "sensitivity"),
    [
        ("ours", "random", ["top", "bottom"], 20),
        ("release", "given", ["top", "middle", "bottom"], 45),
        ("paper", "given", ["top", "bottom"], 30),
    ],
)
def test_sensitivity_is_measured_by_the_rule_of_the_fidelity(
    fidelity: Fidelity, reference: str, compared: list[str], sensitivity: float
) -> None:
    scores = {"given": 50, "random": 60, "top": 40, "middle": 95, "bottom": 80}

    (row,) = positions(*frames_of(in_orders(SystemAxes("full"), scores)), rule=RULES[fidelity], **SETTINGS)

    assert (row["reference"], row["compared"]) == (reference, compared)
    assert row["sensitivity"] == pytest.approx(sensitivity)


MOVED = {"given": 80.0, "random": 70.0, "top": 80.0, "middle": 60.0, "bottom": 40.0}


def shown(*groups: list[Scored]) -> Any:
    """Results of systems with these scores."""
    own = table(positions(*frames_of([one for group in groups for one in group]), **SETTINGS))
    return {"tables": {own.name: own.as_json()}, "judges": []}


def of_page(results: Any) -> ShownTable:
    (section,) = table_sections(results)
    assert section.paragraphs == [
        "Score from 0 to 100 by where the relevant documents stand in the prompt; higher is better."
    ]
    (found,) = section.tables
    return found


def test_the_report_shows_each_order_and_says_which_were_not_run() -> None:
    few = {order: MOVED[order] for order in ("top", "bottom", "given")}
    found = of_page(
        shown(in_orders(SystemAxes("full"), MOVED, n_queries=12), in_orders(SystemAxes("bm25"), few, n_queries=12))
    )
    assert [column.head for column in found.columns] == [
        *("summarizer", "setting", "judge", "top", "middle", "bottom", "given", "random"),
        *("sensitivity", "by chance", "by chance, 95 %", "p", "finding", "independent", "share cut"),
    ]
    bm25, full = found.cells
    assert [cell.text for cell in full[1:8]] == ["full", "j", "80.0", "60.0", "40.0", "80.0", "70.0"]
    assert (full[8].text, full[12].text) == ("30.0", "exceeds chance")
    assert (bm25[4].text, bm25[4].reason) == (None, "this order was not run")
    assert "largest distance of top and bottom from random order; or" not in found.how
    assert "from random order" in found.how
    assert "from the order given (SummHay's Random)" in found.how


def test_the_figure_joins_places_alone_and_marks_what_is_in_sample() -> None:
    results = shown(in_orders(SystemAxes("full"), MOVED, n_queries=12))
    for row in results["tables"]["position"]["rows"]:
        row["in_sample"] = ["setting"]
    (plot,) = table_figures("table-position", results)
    assert plot.caption.startswith("Joint. Judge j")
    assert "s, full (in sample): top 80.0, middle 60.0, bottom 40.0, given 80.0, random 70.0." in plot.alt
    texts = [part.split("<")[0] for part in plot.svg.split(">")]
    assert [text for text in texts if text in MOVED] == ["top", "middle", "bottom", "given", "random"]
