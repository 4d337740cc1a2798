"""No statement on which system is better contradicts another: random tables of scores, and all that is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, permutations
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from longform.axes import SystemAxes
from longform.evidence.scores import ScoreTable
from longform.metrics.measure import Better, Measure, Score
from longform.report import plots
from longform.report.findings import findings
from longform.report.first_page import forest
from longform.report.scores import groups_column
from longform.report.sections import sections
from longform.results.aggregate import Averaging
from longform.results.cells import systems_in, table_rows
from longform.results.differences import NOT_DISTINGUISHABLE
from longform.results.evidence import Evidence
from longform.studies.cells import tables as tables_of_cells
from longform.studies.comparisons import Comparisons
from longform.studies.cost import Cost
from longform.studies.pairwise import Pairwise
from tests.frames import FramesOf, SummaryInfo, contents_of, spent_of

SCORE = 0.7  # of a tie


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Let figures be empty pictures: what is said stands in their captions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "render", lambda *_, **__: "<svg/>")
        yield


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """Draw the results of a run: each system has a level of its own, and may miss queries, tie, or have a twin."""
    n_systems, n_queries = draw(st.integers(2, 15)), draw(st.integers(3, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread, missing = draw(st.sampled_from([0.0, 0.05, 0.2])), draw(st.sampled_from([0.0, 0.1, 0.6]))
    noise, hard = draw(st.sampled_from([0.02, 0.15])), draw(st.sampled_from([0.0, 0.3]))
    better: Better = draw(st.sampled_from(["higher", "lower"]))
    levels = rng.normal(0.5, spread, n_systems)
    scores = np.clip(
        levels[:, None] + hard * rng.normal(size=n_queries) + noise * rng.normal(size=(n_systems, n_queries)), 0, 1
    )
    for _ in range(draw(st.integers(0, 3))):  # ties in all or in some queries
        one, other = rng.integers(n_systems, size=2)
        scores[one, : draw(st.integers(0, n_queries))] = SCORE
        scores[one] = scores[other] if draw(st.booleans()) else scores[one]
    scores[rng.random(scores.shape) < missing] = np.nan
    order = ["top" if draw(st.integers(0, 9)) == 0 else "given" for _ in range(n_systems)]
    twins = [draw(st.integers(0, 9)) == 0 for _ in range(n_systems)]
    return of_scores(scores, better, order, twins)


def of_scores(scores: Any, better: Better, order: list[str], twins: list[bool]) -> Any:
    """Return results of scores, shape (systems, queries); NaN: no score."""
    name = "joint" if better == "higher" else "errors"
    measure = Measure(name, per_summary=lambda _: Score(name, 0, 0), better=better)
    infos: dict[str, SummaryInfo] = {}
    rows: list[Any] = []
    for place, of_system in enumerate(scores):
        for query, score in enumerate(of_system):
            for twin in [None, f"s{place}"][: 1 + twins[place]]:
                name = f"s{place}" if twin is None else f"{twin}, with sources"
                info = SummaryInfo(f"{name}:{query}", f"q{query}", name, "full", order[place], None, None, None)
                infos[info.summary_id] = info._replace(twin_of=twin, axes=SystemAxes("bm25", None, order=order[place]))
                known = not np.isnan(score)
                value = (1.0 if twin else score) if known else 0.0
                rows.append({"judge": "j", "summary_id": info.summary_id, "measure": measure.name, "total": value,
                             "n": int(known), "n_unjudged": 0, "reason": None, "repeat": 0})  # fmt: skip
    evidence = cast(
        "Evidence",
        SimpleNamespace(
            averaging=Averaging("pooled", 1, 20), compare_with=None, contents=contents_of(), calls=None, checked=None,
            infos=infos,
            measures=[measure], score_table=ScoreTable(rows, infos, ["j"]),
            frames=FramesOf(infos),
            spent=spent_of({key: (None, 10.0 + int(info.query_id[1:]) + len(info.summarizer), 0.0, None)
                            for key, info in infos.items()}),
        ),
    )  # fmt: skip
    made = [tables_of_cells(evidence)]
    made += [study.result(evidence) or () for study in (Comparisons(), Pairwise(), Cost())]
    found = {table.name: table.as_json() for own in made for table in own}
    return {
        "title": "t", "aggregate": "pooled", "judges": [{"judge": "j", "card": None, "scale": None}],
        "tables": found,
    }  # fmt: skip


def claims(results: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield (one, other, what is said of the one beside the other, where it is said)."""
    for row in table_rows(results, "comparisons"):
        told = {"better": "better", "worse": "worse", NOT_DISTINGUISHABLE: "alike"}.get(row["finding"], "alike")
        yield row["system"], row["reference"], told, "comparison"
    groups = [row["systems"] for row in table_rows(results, "comparisons_groups")]
    for one, other in combinations([one for group in groups for one in group], 2):
        if one != other and any({one, other} <= {*group} for group in groups):
            yield one, other, "alike", "groups"
    for family in table_rows(results, "pairwise_families"):
        yield from claims_of_pairs(results, family)
    for point in results["tables"]["cost"]["rows"] if "cost" in results["tables"] else ():
        for cheaper in point.get("not_distinguishable_from") or ():
            yield f"{point['summarizer']}, {point['setting']}", cheaper, "alike", "cost"


def claims_of_pairs(results: Any, family: Any) -> Iterator[tuple[str, str, str, str]]:
    systems = {row["system"]: row for row in table_rows(results, "pairwise_systems")}
    sign = 1 if family["better"] == "higher" else -1
    for row in table_rows(results, "pairwise"):
        one, other, difference = row["one"], row["other"], row["difference"]
        apart = difference["low"] is not None and not difference["low"] <= 0 <= difference["high"]
        if difference["low"] is not None:
            assert apart == (row["p"] <= family["level"])
        told = "alike" if not apart else "better" if sign * difference["value"] > 0 else "worse"
        yield one, other, told, "pairs"
        letters = systems[one]["letters"], systems[other]["letters"]
        if None not in letters:
            assert bool({*letters[0]} & {*letters[1]}) == (told == "alike"), "letters"
    contest = [name for name, row in systems.items() if row["standing"] is not None]
    for one, other in permutations(contest, 2):
        if systems[one]["standing"] != "no":
            yield one, other, "not worse", "perhaps best"
        if systems[one]["standing"] == "best":
            yield one, other, "better", "best"


def check(results: Any) -> None:
    """Hold all that is said of each pair of systems against each other, and the page's words against the numbers."""
    said: dict[tuple[str, str], dict[str, str]] = {}
    turned = {"better": "worse", "worse": "better", "alike": "alike", "not worse": "not better"}
    for one, other, told, where in claims(results):
        said.setdefault((one, other), {})[where] = told
        said.setdefault((other, one), {})[where] = turned[told]
    for pair, found in said.items():
        known = {told for told in found.values() if not told.startswith("not ")}
        assert len(known) == 1, (pair, found)
        denied = {told.removeprefix("not ") for told in found.values() if told.startswith("not ")}
        assert not denied & known, (pair, found)
    check_page(results)


def check_page(results: Any) -> None:
    """The first page, the column beside the scores and the page of comparisons name one best system, or none."""
    families, compared = (table_rows(results, f"{name}_families") for name in ("comparisons", "pairwise"))
    if not families or not compared:
        return
    (family,), (pairs,) = families, compared
    named = pairs["leader"] in best_of(results)
    if pairs["leader"] is not None:
        assert pairs["leader"] == family["reference"]
    (found,) = findings(results)
    assert named == ("it is better than " in found.best), found.best
    assert "with sources" not in f"{found.best} {found.lead}"
    drawn, column = forest(results), groups_column(results, systems_in(results), pairs["measure"])
    groups = {} if column is None else column[1]
    names = [str(system) for system, told in groups.items() if told is not None and re.fullmatch(r"(\S+ )?best", told)]
    names = [name for name in names if not name.startswith("perhaps")]
    assert names == ([family["reference"]] if named else [])
    if named and drawn is not None:  # there is none if all systems are arms of an experiment
        assert "Blue, filled: the best. Grey" in drawn[0].caption
    section = next((one for one in sections(results) if one.anchor == "table-comparisons"), None)
    shown = [row[-1].text for table in (section.tables[:1] if section else ()) for row in table.cells]
    assert shown == [row["finding"] for row in table_rows(results, "comparisons")]


def best_of(results: Any) -> list[str]:
    """Return the system that is shown to be the best, if there is one."""
    return [row["system"] for row in table_rows(results, "pairwise_systems") if row["standing"] == "best"]


@given(tables())
@settings(phases=[Phase.generate])  # a shrunk table says no more
def test_no_statement_of_a_report_contradicts_another(results: Any) -> None:
    check(results)


def test_a_system_scored_on_easy_queries_alone_is_not_the_best_if_others_beat_it_there() -> None:
    """The first leads by means over its own queries; where both are scored it is worse, and no page says otherwise."""
    scores = np.array([[0.8] * 10 + [np.nan] * 10, [0.9] * 10 + [0.1] * 10, [0.2] * 10 + [0.05] * 10])
    scores += 0.01 * np.random.default_rng(1).random(scores.shape)
    results = of_scores(scores, "higher", ["given"] * 3, [False] * 3)
    check(results)
    (found,) = findings(results)
    assert best_of(results) == ["s1, full"]
    assert "comes first by joint score" in found.best
    assert "s0 (80." in found.best


@pytest.mark.parametrize("seed", range(3))
def test_ties_name_nobody(seed: int) -> None:
    scores = np.tile(np.random.default_rng(seed).random(12), (4, 1))
    results = of_scores(scores, "higher", ["given"] * 4, [False] * 4)
    check(results)
    assert [row["standing"] for row in table_rows(results, "pairwise_systems")] == ["perhaps best"] * 4
