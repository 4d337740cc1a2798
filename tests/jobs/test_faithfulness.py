"""The study of positional bias end to end, with writers whose bias is known and a judge that knows the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs import evaluate
from jobs.results.gated import shortfall
from jobs.results.write import read_results
from jobs.stages.judge import SEPARATOR, texts_of
from longform.judges.kind import open_groups
from longform.judges.kinds.support import SUPPORT
from longform.judges.matrix import JudgedText, TargetText, groups_of
from longform.results.cells import table_rows
from longform.studies.schema_1 import with_tables
from tests.jobs.planted_bench import bench
from tests.results import checked_of

SCRIPTED = "{provider: scripted, model: m, script: profile-%s}"
METHODS = "[plain, focus-middle, hierarchical-pairwise, hierarchical-once, incremental, calibration-rotations]"


def run(url: str, out: Path, *changes: str, aligned: bool = False) -> Mapping[str, Any]:
    """Run with one judge that knows the truth by the letter; if *aligned*, another says where sentences stand."""
    model = SCRIPTED % "u"
    aligner = "nearest: {kind: python, class: 'actors.judges.aligner:Aligner'}, " if aligned else ""
    given = [
        f"model={model}",
        f"support_judges={{{aligner}letter: {{kind: chat, chat: {model}}}}}",
        *(["faithfulness={attribution: nearest}"] if aligned else []),
        "resamples=500",
        "bullets=5",
        *changes,
    ]
    sets = [word for change in given for word in ("--set", change)]
    assert evaluate.main(["positional_bias", "--bench", url, "--out", str(out), "--workers", "0", *sets]) == 0
    return dict(read_results(Folder(str(out))))


def systems(order: str = "given", method: str = "plain", more: str = "") -> str:
    return (
        f"systems=[{{retriever: full, budget_tokens: null, order: {order}, method: {method}, summarizer: chat{more}}}]"
    )


def row_of(results: Mapping[str, Any], part: str, setting: str, **named: str) -> Mapping[str, Any]:
    wanted = {"judge": "letter", "setting": setting, **named}
    (row,) = [row for row in table_rows(results, f"faithfulness_{part}") if wanted.items() <= row.items()]
    return row


@pytest.mark.slow
def test_a_planted_bias_is_found_and_calibration_shrinks_it(tmp_path: Path) -> None:
    url = bench(tmp_path, n=24)
    results = run(url, tmp_path / "run", systems(method=METHODS), aligned=True)
    plain = row_of(results, "shapes", "full", measure="faithfulness")
    merged = row_of(results, "shapes", "full/calibration-rotations", measure="faithfulness")
    assert "U-shaped" in plain["shape"]
    assert plain["p"] < 0.01
    assert merged["spread"] < plain["spread"] / 2
    settings = {row["setting"] for row in checked_of(results)}
    assert len(settings) == 6
    summaries = Folder(str(tmp_path / "run")).read("summaries", columns=["method", "step"]).to_pylist()
    kept = {(row["method"], row["step"]) for row in summaries}
    assert {("incremental", step) for step in ("document-1", "update-2", "update-3", "update-4", None)} <= kept
    again = run(url, tmp_path / "run", systems(method=METHODS), aligned=True)
    last_call = Folder(str(tmp_path / "run")).read_json("run.json")["last_call"]
    assert {stage["rows"] for stage in last_call["stages"]} == {0}
    names = [name for name in results["tables"] if name.startswith("faithfulness")]
    assert {name: again["tables"][name] for name in names} == {name: results["tables"][name] for name in names}


def test_judges_that_answer_yes_or_no_find_a_planted_bias_and_no_other(tmp_path: Path) -> None:
    """
    Only one judge's word is read: by itself it would place the sentences that it supports, and its
    curve would be 100.
    """
    writers = ", ".join(
        f"{name}: {{kind: chat, prompt: summarize_sentences, chat: {SCRIPTED % name}}}" for name in ("u", "flat")
    )
    judge = "chat: {provider: scripted, model: judge, script: obedient}"
    told, word = f"{{kind: chat, {judge}}}", f"{{kind: chat, probability: false, {judge}}}"
    sets = [
        f"summarizers={{{writers}}}",
        f"support_judges={{told: {told}, word: {word}}}",
        "systems=[{retriever: full, budget_tokens: null, summarizer: [u, flat]}]",
        "bullets=5",
        "resamples=200",
    ]
    out = tmp_path / "run"
    given = ["positional_bias", "--bench", bench(tmp_path, n=30), "--out", str(out)]
    assert evaluate.main([*given, *(word for change in sets for word in ("--set", change))]) == 0
    found = read_results(Folder(str(out)))
    assert {(row["judge"], row["by"]) for row in table_rows(found, "faithfulness_attribution")} == {
        ("told", "told"),
        ("word", "shipped aligner"),
    }
    assert {row["judge"] for row in checked_of(found)} == {"told", "word"}  # the aligner judges nothing
    curves, shapes = (
        [row for row in table_rows(found, f"faithfulness_{part}") if row["measure"] == "faithfulness"]
        for part in ("curves", "shapes")
    )
    assert all(row["value"]["value"] < 99 for row in curves)
    for row in shapes:
        assert ("U-shaped" in row["shape"]) == (row["summarizer"] == "u")
        assert (row["p_holm"] < 0.05) == (row["summarizer"] == "u")
    text = (out / "report" / "report.md").read_text()
    assert "If that is another judge, the first one still says how faithful the sentences are." in text
    assert "| word (scripted) | shipped aligner |" in text


def test_lengths_judge_each_pair_once_and_against_the_documents_given(tmp_path: Path) -> None:
    url, out = bench(tmp_path, n=2), tmp_path / "run"
    letter = f"letter: {{kind: chat, chat: {SCRIPTED % 'u'}}}"
    other = "other: {kind: chat, chat: {provider: scripted, model: m, script: misbehaving, attempts: 2}}"
    both = f"support_judges={{{letter}, {other}, both: {{kind: mean, of: [letter, other]}}}}"
    results = run(url, out, systems(more=", n_documents: [1, 2, 3, 4, 5]"), both, "unjudged_threshold=1.0")
    assert_means(Folder(str(out)).read("verdicts").to_pylist(), "both", ["letter", "other"])
    verdicts = [row for row in Folder(str(out)).read("verdicts").to_pylist() if row["judge"] == "letter"]
    by_summary: dict[str, set[str]] = {}
    for row in verdicts:
        by_summary.setdefault(row["summary_id"], set()).add(row["target_id"])
    assert sorted(len(documents) for documents in by_summary.values()) == sorted([1, 2, 3, 4, 5] * 2)
    calls = {row["call_id"] for row in verdicts}
    assert len(calls) < len(verdicts)  # one call serves every length that says the sentence
    lengths = [(row["judge"], row["n_documents"]) for row in table_rows(results, "faithfulness_lengths")]
    assert sorted(lengths) == sorted(product(("letter", "other", "both"), (1, 2, 3, 4, 5)))


def assert_means(rows: Sequence[Mapping[str, Any]], mean: str, members: Sequence[str]) -> None:
    """Every cell of the mean: of what its members said of it, and unjudged where one of them said nothing."""
    cells: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault((row["summary_id"], row["unit_index"], row["target_id"]), {})[row["judge"]] = row
    found = Counter(row["answer"] for row in rows if row["judge"] == mean)
    assert min(found[answer] for answer in ("supported", "unsupported", None)) > 0
    for cell in cells.values():
        given = [SUPPORT.number(cell[name]["answer"], cell[name]["probability"]) for name in members]
        expected = None if None in given else sum(given) / len(given)  # type: ignore[arg-type]
        assert cell[mean]["probability"] == (expected if expected is None else pytest.approx(expected, abs=1e-12))


@pytest.mark.slow
def test_orders_are_drawn_until_the_mean_is_known_well_enough(tmp_path: Path) -> None:
    url = bench(tmp_path, n=3)
    wide = run(url, tmp_path / "wide", systems(order="permuted"), "permutations={half_width: 60}")
    assert row_of(wide, "permutations", "full/permuted")["stopped"].startswith("narrower than 60")
    assert row_of(wide, "permutations", "full/permuted")["n_orders"] == 3
    never = run(url, tmp_path / "never", systems(order="permuted"), "permutations={half_width: 0.001, most: 4}")
    assert row_of(never, "permutations", "full/permuted")["stopped"] == "the most allowed"
    assert row_of(never, "permutations", "full/permuted")["n_orders"] == 4


def test_unjudged_pairs_count_like_unjudged_insights() -> None:
    named = {"summarizer": "a", "setting": "s", "n_summaries": 2}
    shares = {"coverage": 0.01, "support": 0.03}
    results = with_tables({"cells": [{**named, "judge": one, "unjudged_share": n} for one, n in shares.items()]})
    assert shortfall(results, 0.03) is None
    assert shortfall(results, 0.02) == "3.0% of what a cell asks its judge is unjudged (more than 2%)"
    assert shortfall(with_tables({"cells": []}), 0.0) is None


def shown(doc_id: str, text: str, place: int) -> TargetText:
    return TargetText("document", doc_id, text, place)


def test_all_documents_as_one_text_are_a_target_of_their_own_kind() -> None:
    packed = {"context_id": "c", "order": "given", "doc_ids": ["d2", "d1"], "doc_chars": [4, 99]}
    documents = {"d1": "text one", "d2": "text two"}

    assert texts_of(packed, documents, "document") == [shown("d2", "text", 0), shown("d1", "text one", 1)]
    unordered = texts_of(packed | {"order": None}, documents, "document")
    assert unordered == [TargetText("document", "d2", "text"), TargetText("document", "d1", "text one")]
    assert texts_of(packed, documents, "full") == [TargetText("context", "c", f"text{SEPARATOR}text one", None)]


def test_a_query_asks_about_each_pair_once() -> None:
    one = JudgedText("w", "s", ("a", "b"), (shown("d1", "text one", 0), shown("d2", "text two", 1)))
    other = JudgedText("x", "t", ("b", "c"), (shown("d2", "text two", 0),))
    groups = [*groups_of(SUPPORT, one), *groups_of(SUPPORT, other)]
    assert [(group.text, group.items) for group in open_groups(SUPPORT, groups)] == [
        ("text one", ("a", "b")),
        ("text two", ("a", "b", "c")),
    ]
