"""Logs of Inspect AI, data sets of Hugging Face and files of ir_measures are loaded by the tools that they are for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import yaml

from actors.storage.folder import Folder
from jobs.evaluations.stored import export
from jobs.results.write import read_results
from tests.made.demo import two_systems
from tests.places import ROOT
from tests.results import by_measure, cells_of


@pytest.fixture(scope="module")
def made() -> str:
    return two_systems()


def results(made: str) -> dict[str, Any]:
    return dict(read_results(Folder(made)))


# ---------------------------------------------------------------- ir_measures


def test_ir_measures_finds_every_number_of_the_report(made: str, tmp_path: Path) -> None:
    export(made, str(tmp_path), form="ir_measures", judge=None)

    measures = [ir_measures.parse_measure(line) for line in (tmp_path / "measures.txt").read_text().split()]
    report = json.loads((tmp_path / "report.json").read_text())
    rows = by_measure(results(made), "retrieval")
    assert {row["system"] for row in rows} == set(report["qrels.txt"])
    assert len(measures) == sum("@" in name for name in rows[0])
    for judgements, systems in report.items():
        qrels = list(ir_measures.read_trec_qrels(str(tmp_path / judgements)))
        for system, wanted in systems.items():
            run = list(ir_measures.read_trec_run(str(tmp_path / f"run.{system}.txt")))
            found = ir_measures.calc_aggregate(measures, qrels, run)
            assert {str(name): value for name, value in found.items()} == pytest.approx(wanted)


# ---------------------------------------------------------------- Hugging Face


def test_datasets_loads_every_configuration(made: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    export(made, str(tmp_path / "files"), form="hf", judge=None)

    card = yaml.safe_load((tmp_path / "files" / "README.md").read_text().split("---")[1])
    names = [one["config_name"] for one in card["configs"]]
    assert datasets.get_dataset_config_names(str(tmp_path / "files")) == names
    loaded = {
        name: datasets.load_dataset(str(tmp_path / "files"), name, split="test", cache_dir=str(tmp_path / "cache"))
        for name in names
    }
    assert {"summaries", "scores", "cells", "queries", "targets"} <= set(loaded)
    summaries = Folder(made).read("summaries")
    assert sorted(loaded["summaries"]["text"]) == sorted(summaries["text"].to_pylist())
    assert set(loaded["summaries"]["query"]) <= set(loaded["queries"]["text"])
    joint = [row["value"] for row in loaded["cells"] if row["measure"] == "joint"]
    assert joint == pytest.approx([cell["joint"] for cell in cells_of(results(made))])


def test_parquet_files_load_without_the_card(made: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    export(made, str(tmp_path / "files"), form="parquet", judge=None)

    files = {"test": str(tmp_path / "files" / "scores.parquet")}
    loaded = datasets.load_dataset("parquet", data_files=files, split="test", cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == Folder(made).read("scores").num_rows


def test_documents_stay_out(made: str, tmp_path: Path) -> None:
    export(made, str(tmp_path), form="hf", judge=None)

    text = Folder(made).child("benchmark").read("documents")["text"][0].as_py()
    assert not (tmp_path / "data" / "documents.parquet").exists()
    assert all(text.encode() not in file.read_bytes() for file in (tmp_path / "data").iterdir())


# ---------------------------------------------------------------- Inspect AI


def python_with(module: str) -> str:
    """Return an interpreter with a tool whose pins contradict ours: that of a variable, else this one."""
    variable = f"LONGFORM_{module.partition('_')[0].upper()}_PYTHON"
    if named := os.environ.get(variable):
        return named
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed; {variable} may name an interpreter that has it")
    return sys.executable


def read_by(python: str, *words: str) -> Any:
    """Return the JSON at the end of what a program prints, which runs without this project."""
    alone = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run([python, *words], capture_output=True, text=True, check=False, env=alone)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_inspect_reads_samples_scores_and_metrics(made: str, tmp_path: Path) -> None:
    python = python_with("inspect_ai")
    export(made, str(tmp_path), form="inspect", judge=None)

    files = [str(tmp_path / f"offline_{name}.json") for name in ("bm25", "oracle")]
    logs = read_by(python, str(ROOT / "tests" / "jobs" / "inspect_reading.py"), *files)

    texts = {row["text"] for row in Folder(made).read("summaries").to_pylist()}
    for log, setting in zip(logs, ("bm25", "oracle"), strict=True):
        cells = [cell for cell in cells_of(results(made)) if cell["setting"] == setting]
        assert (log["status"], log["total"], log["model"]) == ("success", 2, f"longform/offline, {setting}")
        assert {sample["completion"] for sample in log["samples"]} <= texts
        for cell in cells:
            found = log["metrics"][f"{cell['judge']}/joint"]
            assert found["mean"] == pytest.approx(cell["joint"])
            values = [sample["scores"][cell["judge"]]["joint"] for sample in log["samples"]]
            assert found["mean"] == pytest.approx(sum(values) / len(values))  # queries here have as many insights


def test_a_log_has_a_sample_for_each_summary(made: str, tmp_path: Path) -> None:
    told = export(made, str(tmp_path), form="inspect", judge=None)

    logs = [json.loads(file.read_text()) for file in sorted(tmp_path.glob("*.json"))]
    assert told["summaries"] == sum(len(log["samples"]) for log in logs) == Folder(made).read("summaries").num_rows
    keys = [(log["eval"]["model"], sample["id"], sample["epoch"]) for log in logs for sample in log["samples"]]
    assert len(set(keys)) == len(keys)
    assert all(sample["target"] and sample["input"] for log in logs for sample in log["samples"])


# ---------------------------------------------------------------- BEIR and LaTeX

_BEIR = """
import json, sys
from beir.datasets.data_loader import GenericDataLoader
from beir.retrieval.evaluation import EvaluateRetrieval
corpus, queries, qrels = GenericDataLoader(sys.argv[1]).load(split="test")
found = EvaluateRetrieval.evaluate(qrels, json.load(open(sys.argv[2])), [10])
print(json.dumps([len(corpus), sorted(queries), *found]))
"""


def test_beir_loads_and_evaluates_a_folder(made: str, tmp_path: Path) -> None:
    python = python_with("beir")
    export(made, str(tmp_path), form="beir", judge=None)

    (folder,) = tmp_path.iterdir()
    n, query_ids, _, precise, recall, precision = read_by(
        python, "-c", _BEIR, str(folder), str(folder / "runs" / "bm25.json")
    )
    (row,) = [row for row in by_measure(results(made), "retrieval") if row["system"] == "bm25"]
    assert n > 0
    assert query_ids
    assert precise["MAP@10"] == pytest.approx(row["MAP@10"], abs=1e-4)  # BEIR rounds to five digits
    assert recall["Recall@10"] == pytest.approx(row["R@10"], abs=1e-4)
    assert precision["P@10"] == pytest.approx(row["P@10"], abs=1e-4)


def test_tables_of_latex_have_as_many_cells_as_columns(made: str, tmp_path: Path) -> None:
    export(made, str(tmp_path), form="latex", judge=None)

    text = (tmp_path / "systems.tex").read_text()
    tabulars = re.findall(r"\\begin\{tabular\}\{(lr*)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL)
    assert len(tabulars) == 2  # of two judges
    for columns, body in tabulars:
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(rows) == 1 + len({cell["setting"] for cell in cells_of(results(made))})
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}
        assert not re.search(r"(?<!\\)[%$#_^~]", body)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")
def test_latex_sets_the_tables(made: str, tmp_path: Path) -> None:
    export(made, str(tmp_path), form="latex", judge=None)

    page = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{systems}\end{document}"
    (tmp_path / "page.tex").write_text(page)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "page"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
