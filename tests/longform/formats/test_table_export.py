"""Tables of a run as CSV, Parquet and LaTeX."""

from __future__ import annotations

import io
import re
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from longform.errors import UsageError
from longform.formats.table_export import csv_export, latex_export, parquet_export
from longform.studies.schema_1.cells import of_cells
from tests.longform.formats.exporting import MadeRun

MEASURES = [
    {"name": name, "title": title, "unit": unit, "better": None, "told": "", "judged_by": None}
    for name, title, unit in (("joint", "", "points"), ("words", "words & all", "words"), ("rouge_1", "", "points"))
]


def cell(**changes: Any) -> dict[str, Any]:
    made = {
        "dataset": None,
        "judge": "offline",
        "setting": "bm25_100%",
        "summarizer": "m",
        "cited_by": None,
        "n_summaries": 2,
        "joint": 41.25,
        "words": None,
        "intervals": {"joint": [40.0, 42.5]},
        "reasons": {"words": "no text"},
    }
    return made | changes


def run(*cells: dict[str, Any]) -> MadeRun:
    table = pa.table({"summary_id": ["s", "t"], "text": ['a, "b"\nc', None], "parents": [["p"], []]})
    return MadeRun(results=results(*cells), tables=lambda _: table)


def results(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"tables": {table.name: table.as_json() for table in of_cells({"measures": MEASURES, "cells": cells})}}


def files(found: Any) -> dict[str, bytes]:
    return {file.name: file.content for file in found}


def test_pandas_reads_every_csv() -> None:
    found = {name: pd.read_csv(io.BytesIO(content)) for name, content in files(csv_export(run(cell()))).items()}

    assert list(found) == ["cells.csv", "scores.csv", "summaries.csv"]
    joint, words = found["cells.csv"].to_dict("records")
    assert (joint["measure"], joint["value"], joint["low"], joint["high"]) == ("joint", 41.25, 40.0, 42.5)
    assert (words["measure"], words["reason"], pd.isna(words["value"])) == ("words", "no text", True)
    assert list(found["summaries.csv"]["text"].fillna("-")) == ['a, "b"\nc', "-"]
    assert found["summaries.csv"]["parents"][0] == '["p"]'


def test_pandas_reads_every_parquet_file() -> None:
    found = {name: pd.read_parquet(io.BytesIO(one)) for name, one in files(parquet_export(run(cell()))).items()}

    assert set(found) == {
        f"{name}.parquet" for name in ("cells", "rankings", "contexts", "summaries", "units", "verdicts", "scores")
    }
    assert list(found["cells.parquet"]["value"].fillna(-1)) == [41.25, -1]
    assert list(found["verdicts.parquet"]["parents"][0]) == ["p"]


def test_latex_has_a_table_a_judge_of_what_has_values() -> None:
    text = files(latex_export(run(cell(), cell(judge="x", cited_by="matrix", words=7.0))))["systems.tex"].decode()

    first, second = re.findall(r"\\begin\{tabular\}\{(l r*|lr*)\}(.*?)\\end\{tabular\}", text, re.DOTALL)
    assert first[0] == "lr"
    assert second[0] == "lrr"
    assert r"m, bm25\_100\% & 41.2 [40.0, 42.5] \\" in first[1]
    assert r"system & joint & words \& all \\" in second[1]
    assert r"m, bm25\_100\%, citations by matrix & 41.2 [40.0, 42.5] & 7.0 \\" in second[1]


def test_a_run_without_scores_makes_no_latex() -> None:
    with pytest.raises(UsageError, match="scored systems"):
        list(latex_export(run()))


FORMULAS = [
    "=cmd|'/C calc'!A0",
    '=HYPERLINK("http://x","y") [1]',
    "+1",
    "-1 as text",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
]


def test_no_cell_of_csv_is_a_formula_and_every_text_comes_back() -> None:
    texts = [*FORMULAS, "It's 7.", "'quoted'", "plain", "1 - 2"]
    table = pa.table({"summary_id": texts, "text": texts})
    made = MadeRun(
        results=results(cell(summarizer=FORMULAS[0], joint=-1.5)),
        tables={"scores": table, "summaries": table}.__getitem__,
    )

    files = {file.name: pd.read_csv(io.BytesIO(file.content), dtype=str) for file in csv_export(made)}
    found = files["summaries.csv"]["text"].tolist()
    assert not [text for text in found if text[0] in "=+-@\t\r"]
    assert found[: len(FORMULAS)] == [f"'{text}" for text in FORMULAS]
    assert found[len(FORMULAS) :] == texts[len(FORMULAS) :]
    assert files["cells.csv"]["summarizer"][0] == f"'{FORMULAS[0]}"
    assert files["cells.csv"]["value"][0] == "-1.5"
