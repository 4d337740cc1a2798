"""Two data sets, repeats, and names with every character that words are joined by, from the files to the report."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs import aggregate, evaluate, ingest, report
from jobs.results.write import read_results
from longform.results.cells import table_rows
from tests.jobs.test_own_ids import write_lines
from tests.results import cells_of, checked_of
from tests.tampering import rename_parts

WORDS = "dam crew market water valley farmer bridge road school roof tram harbour forest tower mayor river".split()
RETRIEVERS = {"minilm/max": {"kind": "bm25"}, "minilm": {"kind": "full"}, "ü+#1 für alles": {"kind": "oracle"}}
RERANKER, WRITER, JUDGE, SUPPORT = "a+b", "wr/iter, #1", "jüdge/1+#", "words #2/+"
DATASETS = ("news/2024", "mail + more", None)
REPEATS = 2


def chat(name: str) -> dict[str, Any]:
    return {"kind": "chat", "chat": {"provider": "scripted", "model": name, "script": "obedient"}}


def haystack_of(dataset: str | None) -> str:
    return f"h #1/{dataset}"


def write_corpus(folder: Path) -> None:
    """Three data sets of two queries each; those of the second state what no document says."""
    folder.mkdir()
    documents, queries, insights = [], [], []
    for dataset in DATASETS:
        haystack = haystack_of(dataset)
        ids = [f"{haystack}#{place}/+ü 日" for place in range(4)]
        texts = [f"The {word} was closed in May by the {word} office. Nobody met there." for word in WORDS[:4]]
        documents += [{"doc_id": i, "text": t, "haystack": haystack} for i, t in zip(ids, texts, strict=True)]
        for place in range(2):
            query = {"query_id": f"{haystack}?q={place}#+", "text": f"What was closed near the {WORDS[place]}?"}
            queries.append(query | {"haystack": haystack} | ({"dataset": dataset} if dataset else {}))
            said = texts[place] if dataset != DATASETS[1] else "Seventeen satellites orbit Jupiter."
            gold = {"insight_id": f"{query['query_id']}/insight", "query_id": query["query_id"], "text": said}
            insights.append(gold | {"doc_ids": [ids[place]]})
    write_lines(folder / "documents.jsonl", documents)
    write_lines(folder / "queries.jsonl", queries)
    write_lines(folder / "insights.jsonl", insights)


def config(reranker: str) -> dict[str, Any]:
    grid = {"budget_tokens": 40, "summarizer": WRITER}
    return {
        "name": "axes",
        "seed": 1,
        "retrievers": RETRIEVERS,
        "rerankers": {RERANKER: {"kind": "cross_encoder", "model": reranker, "depth": 2}},
        "summarizers": {WRITER: chat("w")},
        "judges": {JUDGE: chat("j")},
        "support_judges": {SUPPORT: {"kind": "offline"}},
        "citations": SUPPORT,
        "systems": [
            grid | {"retriever": ["minilm/max", "ü+#1 für alles"], "reranker": [None, RERANKER]},
            grid | {"retriever": "minilm/max", "order": ["top", "bottom"]},
            grid | {"retriever": "minilm", "budget_tokens": None, "repeats": REPEATS},
        ],
        "resamples": 100,
        "compare_with": f"{WRITER}, minilm/max",
    }


class Done(NamedTuple):
    """A finished run, with its plan made before."""

    url: str
    plan: Mapping[str, Any]
    results: Mapping[str, Any]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, save_cross_encoder: Callable[..., str]) -> Done:
    folder = tmp_path_factory.mktemp("axes")
    write_corpus(folder / "corpus")
    assert ingest.main(["jsonl", str(folder / "corpus"), "--out", str(folder / "bench")]) == 0
    reranker = save_cross_encoder(folder / "reranker", n_labels=1)
    (folder / "c.yaml").write_text(json.dumps(config(reranker)))
    command = [str(folder / "c.yaml"), "--bench", str(folder / "bench"), "--out", str(folder / "run")]
    command += ["--ledger", str(folder / "ledger"), "--workers", "0"]
    assert evaluate.main([*command, "--plan"]) == 0
    plan = Folder(str(folder / "run")).read_json("plan.json")
    assert evaluate.main(command) == 0
    return Done(str(folder / "run"), plan, read_results(Folder(str(folder / "run"))))


FAITHFUL = ("faithfulness_curves", "faithfulness_shapes", "faithfulness_attribution")


def of_run(done: Done, table: str) -> list[dict[str, Any]]:
    return list(Folder(done.url).read(table).to_pylist())


def test_the_axes_of_every_row_are_columns(done: Done) -> None:
    summaries = of_run(done, "summaries")
    contexts = {row["context_id"]: row for row in of_run(done, "contexts")}
    assert {(row["retriever"], row["reranker"]) for row in of_run(done, "rankings")} == {
        ("minilm", None),
        *((retriever, reranker) for retriever in ("minilm/max", "ü+#1 für alles") for reranker in (None, RERANKER)),
    }
    for row in [*summaries, *contexts.values()]:
        assert row["query_id"].startswith(haystack_of(row["dataset"]))
    for row in summaries:
        assert {contexts[row["context_id"]][name] == row[name] for name in ("retriever", "reranker", "order")} == {True}
    repeats = Counter((row["retriever"], row["repeat"]) for row in summaries)
    assert repeats["minilm", 0] == repeats["minilm", 1] == 2 * 6  # with twins
    assert {repeat for retriever, repeat in repeats if retriever != "minilm"} == {0}


def test_no_number_is_of_two_data_sets_and_no_row_of_two_systems(done: Done) -> None:
    cells = cells_of(done.results)
    n_systems = 4 + 2 + 1
    assert (
        len({(row["dataset"], row["setting"], row["summarizer"]) for row in cells}) == len(cells) == 3 * 2 * n_systems
    )
    covered = {dataset: {row["coverage"] > 0 for row in cells if row["dataset"] == dataset} for dataset in DATASETS}
    assert covered[DATASETS[1]] == {False}
    assert True in covered[DATASETS[0]]
    studies = ("position", "comparisons", "retrieval", "failure_modes", "repair", *FAITHFUL)
    for table in studies:
        assert {row["dataset"] for row in table_rows(done.results, table)} == set(DATASETS), table
    assert {row["dataset"] for row in done.results["clusters"]} == set(DATASETS)
    assert {row["n_queries"] for row in done.results["clusters"]} == {2}
    assert {row["dataset"] for row in checked_of(done.results)} == set(DATASETS)
    assert len({(row["retriever"], row["reranker"]) for row in table_rows(done.results, "retrieval")}) == 5
    assert {row["retriever"] for row in table_rows(done.results, "position")} == {"minilm/max"}


def test_repeats_are_planned_called_and_counted_once(done: Done) -> None:
    planned = {stage["stage"]: stage["calls"] for stage in done.plan["stages"]}
    called = {row["stage"]: row["calls"] for row in table_rows(done.results, "calls")}
    assert planned[f"summarize {WRITER}"] == called[f"summarize {WRITER}"]
    written = [row for row in of_run(done, "summaries") if not row["parents"]]
    prompts = {(row["query_id"], row["context_id"], row["repeat"]) for row in written}
    assert len(written) == len(prompts) == 6 * (6 + REPEATS)
    (cell,) = [
        row
        for row in cells_of(done.results)
        if row["setting"] == "minilm" and row["dataset"] is None and not row["twin_of"]
    ]
    assert (cell["n_repeats"], cell["n_summaries"]) == (REPEATS, 2 * REPEATS)


def test_aggregate_and_report_read_nothing_back_from_names(done: Done, tmp_path: Path) -> None:
    assert aggregate.main([done.url, "--workers", "0"]) == 0
    again = read_results(Folder(done.url))
    for table in ("cells", "position", "comparisons", *FAITHFUL, "retrieval", "repair", "failure_modes"):
        assert again["tables"][table] == done.results["tables"][table], table

    assert report.main([done.url, "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.md").read_text()
    assert page == (Path(done.url) / "report" / "report.md").read_text()
    assert "Data set news/2024" in page
    assert "Data set not stated" in page
    assert f"{WRITER} (scripted), minilm (2)" in page
    families = table_rows(done.results, "comparisons_families")
    assert {family["reference"] for family in families} == {f"{WRITER}, minilm/max"}


# ---------------------------------------------------------------- made by older versions

LATER = {
    "queries": ["dataset"],
    "rankings": ["retriever", "reranker", "failure"],
    "contexts": ["dataset", "document_tokens", "n_cut"],
    "summaries": ["dataset", "document_tokens", "repeat", "cause", "cited_by"],
    "verdicts": ["text_index"],
}
"""Columns that older versions did not write."""


def as_older(folder: Path) -> None:
    """Take the later columns out of every part in *folder*."""
    for table, later in LATER.items():
        for part in (folder / table).glob("*.parquet"):
            content = pq.read_table(part)
            pq.write_table(content.drop_columns([name for name in later if name in content.column_names]), part)
        rename_parts(folder / table)


def without(value: Any, *names: str) -> Any:
    if isinstance(value, Mapping):
        return {key: without(part, *names) for key, part in value.items() if key not in names}
    return [without(part, *names) for part in value] if isinstance(value, list) else value


def test_a_run_of_an_older_version_is_read_and_nothing_in_it_is_made_again(done: Done, tmp_path: Path) -> None:
    shutil.copytree(done.url, tmp_path / "older")
    as_older(tmp_path / "older")
    older = Folder(str(tmp_path / "older"))
    assert set(older.read("summaries")["dataset"].to_pylist()) == {None}

    command = [str(Path(done.url).parent / "c.yaml"), "--bench", str(Path(done.url).parent / "bench")]
    command += ["--out", older.url, "--ledger", str(Path(done.url).parent / "ledger"), "--workers", "0"]
    assert evaluate.main(command) == 0

    results = read_results(older)
    assert {stage["rows"] for stage in results["run"]["last_call"]["stages"]} == {0}
    unknown = ("n_repeats", "cited_by", "spread")  # repeats are told apart by nothing else
    assert without(cells_of(results), *unknown) == without(cells_of(done.results), *unknown)
    for table in ("position", "comparisons", *FAITHFUL, "retrieval", "failure_modes"):
        rows, before = (table_rows(one, table) for one in (results, done.results))
        assert without(rows, *unknown) == without(before, *unknown), table


def test_a_benchmark_of_an_older_version_is_read_and_its_data_sets_are_not_stated(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus")
    command = ["jsonl", str(tmp_path / "corpus"), "--out", str(tmp_path / "bench")]
    assert ingest.main(command) == 0
    made = Benchmark(str(tmp_path / "bench"))
    assert {query.dataset for query in made.queries.values()} == set(DATASETS)
    as_older(tmp_path / "bench")
    older = Benchmark(str(tmp_path / "bench"))

    assert {query.dataset for query in older.queries.values()} == {None}
    assert ingest.main(command) == 0
    assert Benchmark(str(tmp_path / "bench")).manifest == made.manifest
