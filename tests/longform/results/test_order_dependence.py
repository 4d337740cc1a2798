"""Systems that the order of documents cannot move are named once and compared in no order."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from longform.axes import SystemAxes
from longform.results.order_dependence import independent_systems, order_table, with_dependence
from tests.frames import SummaryInfo, summary_frame
from tests.longform.report.pages import html, markdown

N_QUERIES = 3


def infos(texts: Mapping[str, str | None], *, summarizer: str = "writer", retriever: str = "full") -> pl.DataFrame:
    """A summary a query and order, of the text given for the order."""
    return summary_frame(
        SummaryInfo(
            f"{summarizer}/{retriever}/{order}/{query}", f"q{query}", summarizer, f"{retriever}/{order}", order,
            None, None, None, axes=SystemAxes(retriever, order=order), text_key=text,
        )
        for order, text in texts.items()
        for query in range(N_QUERIES)
    )  # fmt: skip


def test_the_same_summaries_in_every_order_stand_once() -> None:
    found = with_dependence(infos({"top": "a", "given": "a", "bottom": "a"}), declared=())
    (row,) = independent_systems(found)
    assert (row["summarizer"], row["setting"], row["why"]) == ("writer", "full", "identical")
    assert row["orders"] == ["top", "given", "bottom"]
    assert {*found.filter("idle")["summary_id"]} == {
        f"writer/full/{order}/{query}" for order in ("top", "bottom") for query in range(N_QUERIES)
    }


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param({"given": "a", "top": "a", "bottom": "b"}, id="one-differs"),
        pytest.param({"given": None, "top": None}, id="failures-are-alike-by-accident"),
    ],
)
def test_summaries_that_differ_or_failed_keep_their_orders(texts: Mapping[str, str | None]) -> None:
    found = with_dependence(infos(texts), declared={"writer"})  # what is said of it counts less than its texts
    assert (independent_systems(found), found["idle"].any()) == ([], False)


def test_what_is_declared_counts_if_one_order_was_run() -> None:
    both = pl.concat([infos({"given": "a"}), infos({"given": "b"}, summarizer="other")])
    (row,) = independent_systems(with_dependence(both, declared={"writer"}))
    assert (row["summarizer"], row["why"]) == ("writer", "declared")


def test_each_retriever_is_looked_at_by_itself() -> None:
    moved = infos({"given": "a", "top": "b"}, retriever="minilm/max")
    both = pl.concat([infos({"given": "a", "top": "a"}, retriever="minilm"), moved])
    (row,) = independent_systems(with_dependence(both, declared=()))
    assert row["setting"] == "minilm"


def test_the_report_says_so_once() -> None:
    rows = independent_systems(with_dependence(infos({"given": "a", "top": "a", "bottom": "a"}), declared=()))
    results = {"title": "t", "fidelity": "ours", "aggregate": "pooled", "run": {}}
    table = order_table(rows, by_place=False)
    results["tables"] = {table.name: table.as_json()}
    text = markdown(results)
    assert text.count("Systems that no order of the documents moves") == 1
    assert "given; top; bottom" in text
    page = html(results | {"position": [], "drilldown": {"queries": {}, "summaries": []}})
    assert "Systems that no order of the documents moves" in page
    assert "<svg" not in page
