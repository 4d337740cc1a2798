"""Recall, precision and F1 of key points on hand-worked questions, and means by properties of queries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from longform.evidence.scores import ScoreTable
from longform.measures import named
from longform.metrics.measure import Facts, Measure, Verdict
from longform.report.result_tables import table_sections
from longform.report.sections import figures
from longform.results.aggregate import Averaging
from longform.results.evidence import Evidence
from longform.rows import ScoreRow
from longform.studies.facets import Facets
from longform.studies.key_points import KeyPoints, f1
from longform.studies.key_points import tables as key_point_tables
from longform.tables.table import Table
from tests.frames import FramesOf, SummaryInfo

SAID, UNSAID, NEUTRAL, UNREAD = (
    Verdict(None, answer, number)
    for answer, number in (("entailed", 1.0), ("not_entailed", 0.0), ("neutral", 0.0), (None, None))
)
QUESTIONS: Mapping[str, Sequence[Verdict]] = {
    "some": [SAID, UNSAID, NEUTRAL, NEUTRAL],
    "all missed": [UNSAID, NEUTRAL],
    "no key points": [],
    "the same point twice": [SAID, SAID],
    "one unread": [SAID, UNREAD],
}
RECALL = {"some": 0.25, "all missed": 0.0, "the same point twice": 1.0, "one unread": 1.0}
PRECISION = {"some": 0.75, "all missed": 1.0, "no key points": 0.5, "the same point twice": 0.5}
FACETS = {"some": {"category": "causal"}, "all missed": {"category": "causal"}, "one unread": {"category": "factual"}}


def measures(*names: str) -> list[Measure]:
    return [measure for measure in named(names) if isinstance(measure, Measure)]


def row(judge: str | None, summary_id: str, measure: str, total: float, n: int) -> ScoreRow:
    return cast(
        ScoreRow,
        {
            "judge": judge,
            "summary_id": summary_id,
            "measure": measure,
            "total": total,
            "n": n,
            "n_unjudged": 0,
            "reason": None,
        },
    )


def evidence(judges: Mapping[str, Mapping[str, Sequence[Verdict]]], systems: Sequence[str] = ("writer",)) -> Any:
    """Every system writes the same; a judge's name that ends in a system's gives its verdicts on it alone."""
    infos, rows = {}, []
    for system in systems:
        for question in QUESTIONS:
            key = f"{system} {question}"
            infos[key] = SummaryInfo(key, question, system, "given", None, None, None, None)
            if question in PRECISION:
                rows.append(row("support", key, "faithfulness max-mean", PRECISION[question] * 4, 4))
            for judge, verdicts in judges.items():
                facts = Facts(query_id=question, verdicts=verdicts[key if key in verdicts else question])
                for measure in measures("KPR", "key_point_recall"):
                    found = measure.per_summary(facts)
                    rows.append(row(judge, key, found.measure, found.total, found.n))
    return SimpleNamespace(
        averaging=Averaging("pooled", 1, 200),
        measures=measures("KPR", "words"),
        infos=infos,
        frames=FramesOf(infos),
        score_table=ScoreTable(rows, infos, list(judges)),
        facets=FACETS,
    )


Rows = list[dict[str, Any]]


def rows_of(tables: Sequence[Table] | None) -> dict[str, Rows]:
    return {table.name: table.as_json()["rows"] for table in tables or ()}


def key_points(made: Any) -> dict[str, Rows]:
    return rows_of(KeyPoints().result(cast(Evidence, made)))


def studied(judges: Mapping[str, Mapping[str, Sequence[Verdict]]], systems: Sequence[str] = ("writer",)) -> Any:
    return key_points(evidence(judges, systems))


def facets(made: Any) -> Rows:
    return [row for rows in rows_of(Facets().result(cast(Evidence, made))).values() for row in rows]


def results_of(*studied_tables: Sequence[Table] | None) -> Any:
    return {"tables": {one.name: one.as_json() for tables in studied_tables for one in tables or ()}, "judges": []}


def test_recall_is_averaged_over_questions_and_its_pooled_twin_over_points() -> None:
    (system,) = studied({"j": QUESTIONS})["key_points"]

    assert system["recall"]["value"] == pytest.approx(100 * sum(RECALL.values()) / 4)
    assert system["recall_pooled"]["value"] == pytest.approx(100 * (1 + 0 + 2 + 1) / (4 + 2 + 2 + 1))
    assert (system["n_questions"], system["n_without"]) == (4, 1)


def test_f1_is_that_of_each_question_and_not_of_the_means() -> None:
    (system,) = studied({"j": QUESTIONS})["key_points"]
    by_hand = [2 * 0.25 * 0.75 / 1.0, 0.0, 2 * 1.0 * 0.5 / 1.5]  # a question without precision has no F1

    assert system["f1"]["value"] == pytest.approx(100 * sum(by_hand) / 3)
    assert system["precision"]["value"] == pytest.approx(100 * sum(PRECISION.values()) / 4)
    p, r = system["precision"]["value"], system["recall"]["value"]
    assert p is not None
    assert r is not None
    assert system["f1"]["value"] != pytest.approx(2 * p * r / (p + r), abs=1)


def test_a_lenient_judge_shifts_recall_and_may_swap_systems() -> None:
    strict = {**QUESTIONS, "second some": [SAID, SAID, UNSAID, UNSAID]}
    lenient = {**QUESTIONS, "second some": [SAID, UNSAID, UNSAID, UNSAID], "first some": [SAID, SAID, SAID, UNSAID]}
    (pair,) = studied({"strict": strict, "lenient": lenient}, ("first", "second"))["key_points_judges"]

    assert (pair["judges"], pair["n_systems"], pair["kendall_tau"]) == (["strict", "lenient"], 2, -1.0)
    assert pair["swapped"] == ["first, given with second, given"]
    assert pair["shift"]["value"] == pytest.approx(100 * (0.5 - 0.25) / 8)


def test_a_run_without_a_judge_of_key_points_has_no_such_study() -> None:
    assert key_points(evidence({})) == {}


def test_means_are_split_by_what_queries_state() -> None:
    rows = facets(evidence({"j": QUESTIONS}))
    found = {(one["facet"], one["value"], one["measure"]): one for one in rows if one["judge"] == "j"}

    assert set(found) == {("category", "causal", "KPR"), ("category", "factual", "KPR")}
    assert found["category", "causal", "KPR"]["score"]["value"] == pytest.approx(12.5)
    assert found["category", "causal", "KPR"]["n_queries"] == 2


def test_the_report_has_both_tables_and_says_why_a_figure_is_missing() -> None:
    made = evidence({"j": QUESTIONS, "k": QUESTIONS})
    section, by_kind = table_sections(results_of(KeyPoints().result(made), Facets().result(made)))

    assert [column.head for column in section.tables[0].columns] == [
        *("setting", "summarizer", "judge"),
        *("key point recall", "pooled recall", "precision", "F1", "questions", "questions left out"),
    ]
    assert section.tables[0].cells[0][3].text == "56.2"
    assert [table.caption.split(".")[0] for table in section.tables] == [
        "Key points that responses entail, and sentences that their documents support",
        "Two judges of key points on the same responses",
    ]
    assert [column.head for column in by_kind.tables[0].columns][2:] == ["causal", "factual"]
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    row = key_points(made)["key_points"][0] | {"support_judge": None, "f1": nothing}
    (section,) = table_sections(results_of(key_point_tables([row], [])))
    assert "Left out: F1 (no judge of support was asked)." in section.tables[0].how


def test_lengths_are_grouped_alike_for_all_systems() -> None:
    made = evidence({"j": QUESTIONS}, ("first", "second"))
    words = {key: 10.0 * place for place, key in enumerate(made.infos)}
    rows = [row(None, key, "words", n, 1) for key, n in words.items()]
    rows += [row("j", key, "KPR", 0.5, 1) for key in made.infos]
    made.score_table = ScoreTable(rows, made.infos, ["j"])
    made.infos.update({key: info._replace(haystack_id=info.query_id) for key, info in made.infos.items()})
    sizes = {question: 100 * (1 + place) for place, question in enumerate(QUESTIONS)}
    made.documents = lambda name: [SimpleNamespace(text="word " * sizes[name])]
    found = [(one["facet"], one["value"], one["summarizer"]) for one in facets(made)]

    outputs = dict.fromkeys(value for facet, value, _ in found if facet == "words of the summary")
    assert list(outputs) == ["0 to 29", "30 to 49", "50 to 69", "70 to 90"]
    inputs = {value for facet, value, system in found if (facet, system) == ("words of the documents", "first")}
    assert inputs == {"100 to 199", "200 to 299", "300 to 399", "400 to 500"}
    assert {system for _, _, system in found} == {"first", "second"}


def printed(released: Path, table: str) -> Any:
    return json.loads((released / "long2rag" / "printed_tables.json").read_text())[table]


def test_the_papers_two_evaluators_swap_one_pair_and_one_of_them_is_more_lenient(released: Path) -> None:
    """LONG2RAG, table 3: each system stands for one question, with its printed recall."""
    table = printed(released, "table3")
    strict, lenient = table["GPT-4o"], table["Llama3-70B"]
    infos = {name: SummaryInfo(name, name, name, "given", None, None, None, None) for name in strict}
    rows = [row(judge, name, "KPR", table[judge][name], 1) for judge in table for name in infos]
    made = evidence({})
    made.infos, made.frames, made.score_table = infos, FramesOf(infos), ScoreTable(rows, infos, list(table))
    (pair,) = key_points(made)["key_points_judges"]

    assert pair["swapped"] == ["Claude-3-Sonnet, given with GPT-4-Turbo, given"]
    assert pair["kendall_tau"] == pytest.approx(1 - 2 / 36)
    shift = sum(lenient[name] - strict[name] for name in strict) / len(strict)
    assert pair["shift"]["value"] == pytest.approx(100 * shift)
    assert shift > 0


def test_the_papers_f1_is_a_mean_of_f1_and_its_averages_weigh_questions(released: Path) -> None:
    """LONG2RAG, tables 4 and 1: neither is what the printed columns would give."""
    for precision, recall, printed_f1, _ in printed(released, "table4").values():
        assert 0.01 < f1(precision, recall) - printed_f1 < 0.05
    for *categories, average in printed(released, "table1").values():
        assert 0.005 < sum(categories) / len(categories) - average < 0.02


def test_figures_have_a_line_a_system_over_the_values_of_a_property() -> None:
    made = evidence({"j": QUESTIONS}, ("first", "second"))
    results = results_of(Facets().result(made))
    (plot,) = figures("table-facets", results)

    assert plot.caption.startswith("KPR by category. Judge j")
    assert ">causal<" in plot.svg
    assert ">factual<" in plot.svg
    assert "first, given: causal 12.5, factual 100.0." in plot.alt
    many = evidence({"j": QUESTIONS}, [f"system {n}" for n in range(21)])
    shown = figures("table-facets", results_of(Facets().result(many)))
    assert [figure.alt.count("causal") for figure in shown] == [20, 1]


def test_the_scores_of_points_are_drawn_beside_even_ones() -> None:
    steps = [{"score": 0.0, "share": 0.1}, {"score": 0.5, "share": 0.8}, {"score": 1.0, "share": 1.0}]
    account = {
        "haystacks": [{"haystack_id": "q"}, {"haystack_id": "all", "scores": steps, "farthest_from_diagonal": 0.3}]
    }
    results: Any = {"synthesis": account}
    (plot,) = figures("audit", results)

    assert "points: 10.0, 80.0, 100.0. even: 0.0, 50.0, 100.0." in plot.alt
    assert plot.caption.endswith("Farthest from the diagonal: 0.30.")
    assert figures("audit", {}) == []


def test_two_judges_of_support_are_told_apart() -> None:
    systems = studied({"j": QUESTIONS})["key_points"]
    tables = key_point_tables([*systems, {**systems[0], "support_judge": "other"}], [])
    (section,) = table_sections(results_of(tables))

    assert [row[3].text for row in section.tables[0].cells] == ["support", "other"]
