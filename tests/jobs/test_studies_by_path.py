"""A study that ships is a class as a user's is: named by its import path it makes the same tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from jobs import aggregate
from longform.studies import LISTED
from tests.made.demo import two_systems


def test_every_study_that_ships_makes_the_same_tables_by_its_path(tmp_path: Path) -> None:
    run = Path(shutil.copytree(two_systems(), tmp_path / "run"))
    before = json.loads((run / "results.json").read_text())
    studies = [{"kind": "python", "class": path} for path in LISTED.values()]
    assert aggregate.main([str(run), "--set", f"studies={json.dumps(studies)}", "-q"]) == 0
    after = json.loads((run / "results.json").read_text())
    assert {*LISTED} & {*before["tables"]} >= {"comparisons", "pairwise", "retrieval", "retrieval_pairs"}
    assert after["tables"] == before["tables"]
