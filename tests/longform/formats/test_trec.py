"""TREC files and BEIR folders of a run, read by the tools that they are for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from longform.errors import UsageError
from longform.formats.exported import HaystackOfRun
from longform.formats.ranking_exports import beir_export, trec_export
from longform.records import Document, Qrel, Query
from tests.longform.formats.exporting import MadeRun


def ranking(query_id: str, *scores: float | None, system: str = "bm25+best") -> list[Any]:
    return [
        {"query_id": query_id, "system": system, "doc_id": f"d{place}", "rank": place, "score": score}
        for place, score in enumerate(scores)
    ]


def haystack(rankings: list[Any], *, doc_ids: tuple[str, ...] = ("d0", "d1", "d2")) -> HaystackOfRun:
    return HaystackOfRun(
        "hay",
        [Document(doc_id, "hay", place, None, f"text {place}") for place, doc_id in enumerate(doc_ids)],
        [Query("q", "hay", "what\tis it?"), Query("unasked", "hay", "and this?")],
        [],
        [Qrel("q", "t1", "d1", 1), Qrel("q", "t2", "d1", 1), Qrel("q", "t2", "d2", 1), Qrel("unasked", "t", "d0", 1)],
        rankings=rankings,
        summaries=[],
        units={},
        verdicts={},
    )


def written(files: Any, folder: Path) -> dict[str, int]:
    """Write files, and return what was left out."""
    told: dict[str, int] = {}
    for file in files:
        place = folder / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content if isinstance(file.content, bytes) else json.dumps(file.content).encode())
        told |= file.left_out
    return told


def scored(folder: Path, run: str, *measures: Any) -> list[float]:
    found = ir_measures.calc_aggregate(
        measures,
        list(ir_measures.read_trec_qrels(str(folder / "qrels.txt"))),
        list(ir_measures.read_trec_run(str(folder / run))),
    )
    return [found[one] for one in measures]


def test_ir_measures_reads_a_run_and_its_judgements(tmp_path: Path) -> None:
    assert written(trec_export(MadeRun([haystack(ranking("q", 9.5, 2, 1))])), tmp_path) == {}

    gone = [ir_measures.P @ 2, ir_measures.R @ 2, ir_measures.AP]
    assert scored(tmp_path, "run.bm25+best.txt", *gone) == pytest.approx([0.5, 0.5, (1 / 2 + 2 / 3) / 2])
    relevance = {one.doc_id: one.relevance for one in ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt"))}
    assert relevance == {"d1": 2, "d2": 1}  # of the query that was ranked for
    assert (tmp_path / "topics.tsv").read_text() == "q\twhat is it?\n"


@pytest.mark.parametrize("scores", [(1.0, 1.0, 1.0), (None, None, None), (1.0, 3.0, None)])
def test_order_stays_where_scores_do_not_fall(scores: tuple[float | None, ...], tmp_path: Path) -> None:
    told = written(trec_export(MadeRun([haystack(ranking("q", *scores))])), tmp_path)

    assert told == {"rankings with equal or missing scores, written by rank": 1}
    run = list(ir_measures.read_trec_run(str(tmp_path / "run.bm25+best.txt")))
    assert [one.doc_id for one in sorted(run, key=lambda one: -one.score)] == ["d0", "d1", "d2"]


def test_ids_and_names_that_files_cannot_hold_are_refused() -> None:
    spaced = [{"query_id": "q", "system": "s", "doc_id": "a b", "rank": 0, "score": 1.0}]
    with pytest.raises(UsageError, match=r"document 'a b'.*without any"):
        list(trec_export(MadeRun([haystack(spaced)])))
    same = [*ranking("q", 1, system="a b"), *ranking("q", 1, system="a/b")]
    with pytest.raises(UsageError, match="rename a retriever"):
        list(trec_export(MadeRun([haystack(same)])))


def test_nothing_ranked_is_nothing_written() -> None:
    assert list(trec_export(MadeRun([haystack([])]))) == []


def test_results_of_beir_are_evaluated_by_pytrec_eval(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")

    written(beir_export(MadeRun([haystack(ranking("q", 9.5, 2, 1))])), tmp_path)

    head, *rows = (tmp_path / "hay/qrels/test.tsv").read_text().splitlines()
    qrels: dict[str, dict[str, int]] = {}
    for query_id, doc_id, relevance in (row.split("\t") for row in rows):
        qrels.setdefault(query_id, {})[doc_id] = int(relevance)
    run = json.loads((tmp_path / "hay/runs/bm25+best.json").read_text())
    assert head == "query-id\tcorpus-id\tscore"
    assert pytrec_eval.RelevanceEvaluator(qrels, {"recall.2"}).evaluate(run)["q"]["recall_2"] == 0.5
