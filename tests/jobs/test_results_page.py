"""The page on `results.json` shows the form that runs write."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from longform.tables.table import Column
from tests.made.demo import two_systems
from tests.places import ROOT


def test_the_example_has_the_form_of_a_run() -> None:
    (block,) = re.findall(r"```json\n(\{\n  \"schema\".*?)```", (ROOT / "docs/outputs.md").read_text(), re.DOTALL)
    shown: dict[str, Any] = json.loads(block)
    made: dict[str, Any] = json.loads((Path(two_systems()) / "results.json").read_text())
    cells, own = shown["tables"]["cells"], made["tables"]["cells"]

    assert shown["schema"] == made["schema"]
    assert shown["run"].keys() <= made["run"].keys()
    assert cells.keys() <= own.keys()
    assert (cells["title"], cells["key"]) == (own["title"], own["key"])
    known = {column["name"]: column for column in own["columns"]}
    assert all(known[one["name"]].items() >= one.items() for one in cells["columns"])
    assert all(one.keys() <= set(Column._fields) for one in cells["columns"])
    assert len(cells["rows"]) == len(cells["reasons"])
    for row in cells["rows"]:
        (same,) = {json.dumps(sorted(one["value"] or ())) if isinstance(one["value"], dict) else "number"
                   for one in own["rows"] if one["measure"] == row["measure"]} - {"null"}  # fmt: skip
        assert row.keys() <= known.keys()
        assert same == "number" or row["value"] is None or json.dumps(sorted(row["value"])) == same


def test_every_number_of_a_report_stands_in_its_tables() -> None:
    made = json.loads((Path(two_systems()) / "results.json").read_text())
    assert {"schema", "run", "tables"} <= made.keys()
    assert {"cells", "measures", "comparisons", "pairwise", "cost", "judges"} <= made["tables"].keys()
