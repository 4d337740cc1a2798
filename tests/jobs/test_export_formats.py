"""A run that is exported says in other tools what its own results say."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import pandas as pd
import pyarrow.compute as pc
import pytest

from actors.storage.folder import Folder
from jobs.evaluations.stored import export
from jobs.export import main
from jobs.ingest import ingest
from jobs.results.write import read_results
from longform.errors import UsageError
from tests.made.demo import two_systems
from tests.results import by_measure, cells_of


@pytest.fixture(scope="module")
def made() -> str:
    return two_systems()


def test_ir_measures_finds_the_rank_quality_of_the_report(made: str, tmp_path: Path) -> None:
    export(made, str(tmp_path), form="trec", judge=None)

    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt")))
    for row in by_measure(read_results(Folder(made)), "retrieval"):
        run = list(ir_measures.read_trec_run(str(tmp_path / f"run.{row['system']}.txt")))
        found = ir_measures.calc_aggregate([ir_measures.P @ 10, ir_measures.R @ 10, ir_measures.AP @ 10], qrels, run)
        assert found[ir_measures.P @ 10] == pytest.approx(row["P@10"])
        assert found[ir_measures.R @ 10] == pytest.approx(row["R@10"])
        assert found[ir_measures.AP @ 10] == pytest.approx(row["MAP@10"])


def test_a_beir_folder_is_read_back(made: str, tmp_path: Path) -> None:
    export(made, str(tmp_path / "files"), form="beir", judge=None)

    (folder,) = (tmp_path / "files").iterdir()
    ingest("beir", [str(folder)], str(tmp_path / "bench"))
    for table in ("documents", "queries"):
        before = Folder(made).child("benchmark").read(table).filter(pc.field("haystack_id") == folder.name)
        after = Folder(str(tmp_path / "bench")).read(table)
        assert after.num_rows > 0
        assert sorted(after.column("text").to_pylist()) == sorted(before.column("text").to_pylist())


def test_tables_have_the_rows_of_the_run(made: str, tmp_path: Path) -> None:
    export(made, str(tmp_path), form="parquet", judge=None)
    export(made, str(tmp_path), form="csv", judge=None)

    cells = cells_of(read_results(Folder(made)))
    for table in (pd.read_parquet(tmp_path / "cells.parquet"), pd.read_csv(tmp_path / "cells.csv")):
        joint = table[table.measure == "joint"]
        assert list(joint.value) == pytest.approx([cell["joint"] for cell in cells])
    summaries = pd.read_parquet(tmp_path / "summaries.parquet")
    assert [text.removeprefix("'") for text in pd.read_csv(tmp_path / "summaries.csv").text] == list(summaries.text)


def test_a_judge_is_named_for_labels_alone(made: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="writes no labels"):
        export(made, str(tmp_path), form="csv", judge="offline-people")
    assert main([made, "--as", "latex", "--out", str(tmp_path)]) == 0
    assert "files: systems.tex" in capsys.readouterr().out
