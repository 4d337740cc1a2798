"""The released part of MSRS: its BM25 table and the ROUGE of its outputs, by the shipped configurations."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import AP, P, R, nDCG

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.evaluations.replay import Replay, ReplaySettings, replay
from jobs.ingest import main as ingest
from jobs.stages.cluster import Cluster
from longform.results.cells import table_rows
from tests.results import cells_of

CLUSTER = Cluster(address=None, workers=0)
PARTS = {"story": ("msrs_story", 8), "meeting": ("msrs_meet", 3)}


@pytest.fixture(scope="module", params=list(PARTS))
def part(request: pytest.FixtureRequest, released: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A released part, and the benchmark made of it."""
    bench = str(tmp_path_factory.mktemp(request.param))
    assert ingest(["msrs", str(released / "msrs" / request.param), "--out", bench]) == 0
    return request.param, bench


def test_replay_has_the_released_ratings_and_scores(part: tuple[str, str], released: Path, tmp_path: Path) -> None:
    name, bench = part
    usual = Replay(bench, str(tmp_path / "usual"), ReplaySettings(), cluster=CLUSTER)
    assert [one.name for one in usual.measures.of_summaries] == ["reference_rating", "geval_x20", "bertscore_released"]
    scales = ("reference_rating", "geval_1_5", "geval_01", "geval_x20", "bertscore_released")
    settings = ReplaySettings(resamples=100, measures=scales)
    results = replay(bench, str(tmp_path / "run"), settings, cluster=CLUSTER)
    expected = json.loads((released / "msrs" / name / "expected_scores.json").read_text())
    found = {(cell["setting"], cell["summarizer"]): cell for cell in cells_of(results)}
    assert found.keys() == {(one["setting"], one["model"]) for one in expected}
    for one in expected:
        cell = found[one["setting"], one["model"]]
        assert (cell["judge"], cell["n_judged"], cell["n_unjudged"]) == ("released:geval", one["n"], 0)
        assert cell["geval_x20"] == pytest.approx(one["geval_percent"], abs=1e-9)
        assert cell["geval_1_5"] == pytest.approx(one["geval_percent"] / 20, abs=1e-9)
        assert cell["geval_01"] == pytest.approx((one["geval_percent"] / 20 - 1) / 4, abs=1e-9)
        assert cell["bertscore_released"] == pytest.approx(one["bert_f1_percent"], abs=1e-9)
    groups = [(row["measure"], row["systems"]) for row in table_rows(results, "comparisons_groups")]
    families = {family["measure"]: family["reference"] for family in table_rows(results, "comparisons_families")}
    assert families == dict.fromkeys(("reference_rating", "geval_x20", "bertscore_released"), "gpt-4o, oracle")
    for measure in families:
        assert next(systems for of, systems in groups if of == measure)[0] == "gpt-4o, oracle"
    findings = {row["finding"] for row in table_rows(results, "comparisons") if row["measure"] == "geval_x20"}
    assert (("geval_x20", ["gpt-4o, oracle"]) in groups) == (findings == {"worse"})
    report = Folder(str(tmp_path / "run")).read_bytes("report/report.md").decode()
    assert "Groups of systems that cannot be told apart, all pairs tested together" in report


def ended(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--workers", "0", "--no-vectors", "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_bm25_has_the_released_table_and_the_measures_are_those_of_ir_measures(
    part: tuple[str, str], released: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (name, bench), run = part, str(tmp_path / "run")
    config, k = PARTS[name]
    only = ["--set", "retrievers=[bm25]", "--set", "fidelity=release", "--until", "retrieve"]
    document = ended([config, "--bench", bench, "--out", run, *only], capsys)
    (row,) = document["retrieval"]
    expected = json.loads((released / "msrs" / name / "expected_bm25_mean.json").read_text())
    assert (row["system"], row["k"]) == ("bm25", k)
    found = [row["P"], row["R"], row["NDCG"], row["MAP"]]
    assert found == pytest.approx([expected[measure] for measure in ("P", "R", "NDCG", "AP")], abs=1e-6)
    assert "rank_bm25" in document["run"]["fidelity"]["retrievers.bm25"]["taken"]
    others = by_ir_measures(Benchmark(bench), Folder(run), k)
    assert found[0:2] == pytest.approx(others[0:2], abs=1e-6)
    assert found[3] == pytest.approx(others[2], abs=1e-6)
    assert found[2] == pytest.approx(others[3], abs=1e-6)


def by_ir_measures(benchmark: Benchmark, run: Folder, k: int) -> list[float]:
    """Return P, R, AP and nDCG of the first *k*, in percent, by another's code."""
    asked = {qrel.query_id for qrel in benchmark.qrels}
    qrels = [ir_measures.Qrel(one.query_id, one.doc_id, one.relevance) for one in benchmark.qrels]
    ranking = [
        ir_measures.ScoredDoc(row["query_id"], row["doc_id"], -row["rank"])
        for row in run.read("rankings", columns=["query_id", "doc_id", "rank"]).to_pylist()
        if row["rank"] < k and row["query_id"] in asked
    ]
    measures = [P @ k, R @ k, AP @ k, nDCG @ k]
    means = ir_measures.calc_aggregate(measures, qrels, ranking)
    return [100 * means[measure] for measure in measures]


def test_scores_of_the_released_outputs_are_those_of_the_release(
    part: tuple[str, str], released: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, bench = part
    config, _ = PARTS[name]
    systems = (
        "systems=[{retriever: [bm25, nv2, oracle], summarizer: [gpt-4o, llama3-1-8, qwen-7], budget_tokens: null}]"
    )
    measures = ["--set", "measures=[rouge_1,rouge_2,bertscore_released]"]
    changes = ["--set", systems, "--set", "fidelity=release", *measures]
    document = ended([config, "--bench", bench, "--out", str(tmp_path / "run"), *changes], capsys)
    found = {
        (cell["axes"]["retriever"], cell["summarizer"]): [cell["rouge_1_released"], cell["rouge_2_released"]]
        for cell in cells_of(document)
    }
    scores = json.loads((released / "msrs" / name / "expected_scores.json").read_text())
    expected = {(one["setting"], one["model"]): [one["rouge1_f_mean"], one["rouge2_f_mean"]] for one in scores}
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key] == pytest.approx(values, abs=1e-6), key
    bootstrapped = table_rows(document, "rouge_bootstrap")
    for row in bootstrapped:
        mean = expected[row["setting"].partition("/")[0], row["summarizer"]][row["measure"] == "rouge_2_released"]
        assert row["mean"] == pytest.approx(mean, abs=1e-6)
        assert row["mid"] == pytest.approx(mean, abs=0.2)
        assert row["low"] < mean < row["high"]
    assert len(bootstrapped) == 2 * len(expected)
    shipped = {(one["axes"]["retriever"], one["summarizer"]): one["bertscore_released"] for one in cells_of(document)}
    assert shipped == pytest.approx({(one["setting"], one["model"]): one["bert_f1_percent"] for one in scores})
    assert document["run"]["unscored"] == []
    with gzip.open(released / "msrs" / name / "outputs.jsonl.gz", "rt") as lines:
        n_outputs = sum(1 for _ in lines)
    assert sum(cell["n_summaries"] - cell["n_failed"] for cell in cells_of(document)) == n_outputs
