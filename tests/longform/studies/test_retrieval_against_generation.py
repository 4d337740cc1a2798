"""Systems whose summaries follow their rankings, and others; correlations known by construction."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from longform.axes import SystemAxes
from longform.evidence.scores import ScoreTable
from longform.measures import named
from longform.metrics.retrieval import MEASURES
from longform.report.result_figures import table_figures
from longform.report.result_tables import table_sections
from longform.results.aggregate import Averaging
from longform.results.evidence import Evidence
from longform.results.results import Results
from longform.studies.retrieval_against_generation import RetrievalAgainstGeneration
from tests.frames import FramesOf, SummaryInfo

QUERIES = [f"q{place}" for place in range(6)]
# the rank of the one gold document among two, for each query; None: not found
RANKS = {
    "good": [0, 0, 0, 1, 0, None],
    "fair": [0, 1, None, 1, None, 0],
    "poor": [1, None, None, None, None, None],
    "oracle": [0] * 6,
}
NAMES = [*RANKS, "none"]


def documents(rank: int | None) -> list[str]:
    return ["gold" if place == rank else f"other-{place}" for place in range(2)]


def found_at(retriever: str, place: int) -> float:
    rank = RANKS[retriever][place] if retriever in RANKS else None
    return 0.0 if rank is None else 1 / (1 + rank)


def info(retriever: str, query_id: str, **more: Any) -> SummaryInfo:
    known = SummaryInfo(
        f"{retriever}:{query_id}", query_id, "model", retriever, "given", None, 0.0, None, haystack_id="h"
    )
    return known._replace(axes=SystemAxes(retriever, None), **more)


def rankings_of(rows: Iterable[tuple[str, str, list[str]]]) -> pl.DataFrame:
    """Return the rankings of retrievers for queries, as a run has them."""
    columns = {"retriever": pl.String, "query_id": pl.String, "doc_ids": pl.List(pl.String)}
    found = pl.DataFrame(list(rows), schema=columns, orient="row")
    return found.with_columns(reranker=pl.lit(None, pl.String), system="retriever")


def evidence(retrievers: list[str], *, judge: str | None = None, sign: float = 1, n_documents: int = 9) -> Evidence:
    """Return a run whose every summary scores as much as its query's ranking does, or *sign* -1 the opposite."""
    measure = "rouge_1"
    infos = {one.summary_id: one for name in retrievers for query in QUERIES for one in [info(name, query)]}
    scores = [
        {
            "judge": judge,
            "summary_id": f"{name}:{query}",
            "measure": measure,
            "total": 0.5 + 0.4 * sign * found_at(name, place),
            "n": 1,
            "n_unjudged": 0,
            "reason": None,
        }
        for name in retrievers
        for place, query in enumerate(QUERIES)
    ]
    ranked = rankings_of(
        (name, query, documents(rank))
        for name in retrievers
        if name in RANKS
        for query, rank in zip(QUERIES, RANKS[name], strict=True)
    )
    return cast(
        Evidence,
        SimpleNamespace(
            averaging=Averaging("pooled", 1, 200),
            measures=named([measure]),
            ranking_measures=MEASURES,
            cutoffs=(1, 2),
            infos=infos,
            frames=FramesOf(infos),
            score_table=ScoreTable(cast(Any, scores), infos, [judge] if judge else []),
            gold={query: {query: frozenset({"gold"})} for query in QUERIES},
            rankings=lambda: ranked,
            contexts=lambda: ranked.with_columns(budget_tokens=pl.lit(None, pl.Int64), cut_share=0.0),
            documents=lambda _: [None] * n_documents,
        ),
    )


def results_of(run: Evidence) -> Results:
    tables = RetrievalAgainstGeneration().result(run) or []
    return {"tables": {table.name: table.as_json() for table in tables}, "aggregate": "pooled"}


def studied(run: Evidence) -> Any:
    """Return the systems of a run, and its correlations in one list."""
    tables = results_of(run)["tables"]
    levels = [(level, tables.get(f"retrieval_against_generation_{level}")) for level in ("systems", "queries")]
    rows = [{"level": level, "setting": None, **row} for level, table in levels if table for row in table["rows"]]
    return {"systems": tables["retrieval_against_generation"]["rows"], "correlations": rows}


def test_what_follows_the_ranking_correlates_with_it() -> None:
    found = studied(evidence(NAMES))
    assert {row["k"] for row in found["systems"]} == {2}
    rows = {(row["setting"], row["ranking_measure"]): row for row in found["correlations"]}
    over_systems = rows[None, "MAP"]
    assert (over_systems["n"], over_systems["n_queries"], over_systems["reason"]) == (3, 6, None)
    assert over_systems["pearson"]["value"] == pytest.approx(1)
    assert over_systems["spearman"]["value"] == pytest.approx(1)
    assert rows["fair", "MAP"]["pearson"]["value"] == pytest.approx(1)
    assert rows["fair", "MAP"]["n"] == 6
    assert {setting for setting, _ in rows} == {None, "good", "fair", "poor"}


def test_the_sign_is_that_of_the_data_and_the_interval_holds_the_value() -> None:
    found = studied(evidence(NAMES, sign=-1))
    row = next(row for row in found["correlations"] if row["ranking_measure"] == "R")
    assert row["pearson"]["value"] is not None
    assert row["pearson"]["value"] < 0
    low, high = row["pearson"]["low"], row["pearson"]["high"]
    assert low is not None
    assert high is not None
    assert low <= row["pearson"]["value"] <= high


def test_two_systems_have_no_correlation_and_say_why() -> None:
    found = studied(evidence(["good", "fair", "oracle"]))
    row = found["correlations"][0]
    assert (row["level"], row["n"], row["pearson"]["value"]) == ("systems", 2, None)
    assert row["reason"] == "expected 3 or more systems that have both, found 2"


def test_prompts_that_hold_all_documents_are_chosen_by_no_ranking() -> None:
    found = studied(evidence(NAMES, n_documents=2))
    assert {row["left_out"] for row in found["systems"] if row["setting"] in ("good", "fair", "poor")} == {
        "prompts hold all documents, whatever their rank"
    }
    assert found["correlations"] == []


def test_one_table_has_rankings_and_summaries_of_every_system() -> None:
    (section,) = table_sections(results_of(evidence(NAMES, judge="j")))
    table = section.tables[0]
    assert section.page == "retrieval"
    assert [column.head for column in table.columns] == [
        *("summarizer", "setting", "P@2", "R@2", "nDCG@2", "MAP@2", "rouge 1", "in no correlation")
    ]
    shown = {str(row[1].text): [cell.text for cell in row[2:7]] for row in table.cells}
    assert [*shown] == ["oracle", "good", "fair", "poor", "none"]
    assert shown["oracle"] == ["50.0 %", "100.0 %", "100.0 %", "100.0 %", "90.0"]
    assert shown["none"] == [None, None, None, None, "50.0"]
    assert table.cells[4][2].reason == "it ranks nothing, or no document of its queries is judged"
    assert [row[7].text for row in table.cells] == ["every ranking is perfect, as an oracle's is", *[None] * 4]
    assert section.paragraphs[0].startswith("Each system's rankings and summaries side by side")


def test_correlations_stand_below_and_say_which_rows_are_not_shown() -> None:
    (section,) = table_sections(results_of(evidence(NAMES)))
    _, over_systems, over_queries = section.tables

    assert [column.head for column in over_systems.columns] == [
        *("summarizer", "rankings", "summaries", "Pearson", "Spearman", "systems", "queries")
    ]
    assert {row[1].text for row in over_systems.cells} == {"P", "R", "nDCG", "MAP"}
    assert "over the settings of one summarizer, by their means" in over_systems.caption
    assert {row[2].text for row in over_queries.cells} == {"nDCG"}
    assert over_queries.how == "Rows that stand in files alone: other measures of rankings."
    assert over_queries.cells[0][4].detail is not None


def test_a_level_without_a_correlation_is_a_sentence() -> None:
    (section,) = table_sections(results_of(evidence(["good", "fair", "oracle"])))

    assert len(section.tables) == 2
    assert section.paragraphs[1] == "No correlation over systems. Expected 3 or more systems that have both, found 2."


def test_the_figure_has_a_point_for_each_system_that_ranks() -> None:
    (plot,) = table_figures("table-retrieval-against-generation", results_of(evidence(NAMES)))
    assert plot.alt.startswith("rouge 1, of 100 by nDCG@2, per cent. model: oracle 100.0 % and 90.0, good ")
    assert plot.alt.count(" % and ") == len(RANKS)
    assert "none" not in plot.alt
    assert plot.caption == "Without a judge. Rouge 1, of 100 by nDCG@2, per cent."


@pytest.mark.parametrize("changed", [{"gold": {}}, {"measures": ()}, {"cutoffs": ()}, {"ranking_measures": ()}])
def test_a_run_without_rankings_or_scores_has_no_such_study(changed: dict[str, Any]) -> None:
    one = evidence(NAMES)
    vars(one).update(changed)
    assert RetrievalAgainstGeneration().result(one) is None
