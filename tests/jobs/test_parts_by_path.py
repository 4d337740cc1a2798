"""
A part that ships works as well outside of the package, as a user's does: by its import path, with the same results.

Retrievers, rerankers, summarizers and judges are moved in `tests/actors/test_parts.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from actors.chat.model import CallContext
from actors.judges.opening import make_judge, named_kind
from actors.storage.folder import Folder
from jobs import aggregate, export, ingest
from jobs.results.write import read_results
from longform.formats.names import EXPORTS, FORMATS
from longform.halls import HALLS
from longform.judges.kind import Group
from longform.settings.judge import LISTED as KINDS
from longform.settings.judges import PythonJudgeSettings
from longform.settings.python_class import FOLDER
from longform.studies import LISTED
from tests.made.demo import two_systems
from tests.places import ROOT

Moved = Callable[[str], str]


@pytest.fixture
def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Moved:
    """A copy of the file of an import path, in a folder outside of the package; the path that it has there."""
    monkeypatch.syspath_prepend(tmp_path)

    def copied(path: str) -> str:
        module, _, name = path.partition(":")
        copy = f"moved_{module.rpartition('.')[2]}"
        shutil.copy(str(import_module(module).__file__), tmp_path / f"{copy}.py")
        monkeypatch.delitem(sys.modules, copy, raising=False)
        return f"{copy}:{name}"

    return copied


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(two_systems(), tmp_path / "run"))


def results(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_results(Folder(str(run)))["tables"]
    return found


def test_every_study_that_ships_makes_the_same_tables_by_its_path(run: Path, moved: Moved) -> None:
    before = results(run)
    paths = {**LISTED, **{name: moved(LISTED[name]) for name in ("comparisons", "retrieval", "cost")}}
    studies = [{"kind": "python", "class": path} for path in paths.values()]
    assert aggregate.main([str(run), "--set", f"studies={json.dumps(studies)}", "-q"]) == 0
    assert {*LISTED} & {*before} >= {"comparisons", "pairwise", "retrieval", "retrieval_pairs"}
    assert results(run) == before


def test_a_measure_of_another_module_scores_as_the_shipped_one(run: Path, moved: Moved) -> None:
    own = {
        "kind": "python",
        "class": moved("longform.metrics.counts:REFUSALS"),
        "options": {"name": "mine", "title": "Mine"},
    }
    assert aggregate.main([str(run), "--set", f"measures={json.dumps(['refused', own])}", "-q"]) == 0
    tables = results(run)
    known = {one["name"]: one for one in tables["measures"]["rows"]}
    assert known["mine"] == known["refused"] | {"name": "mine", "title": "Mine"}
    cells = tables["cells"]["rows"]
    ours, mine = ([one | {"measure": ""} for one in cells if one["measure"] == name] for name in ("refused", "mine"))
    assert ours == mine
    assert ours


async def test_a_kind_of_another_module_judges_as_the_shipped_one(tmp_path: Path, moved: Moved) -> None:
    said = (
        "class Said:\n    version = 1\n    def judge(self, group): return [int(x in group.text) for x in group.items]"
    )
    (tmp_path / "said_kind.py").write_text(said)
    tasks = ["key_point", moved(KINDS["key_point"])]
    judges = {
        task: PythonJudgeSettings.model_validate(
            {"kind": "python", "class": "said_kind:Said", "task": task}, context={FOLDER: str(tmp_path)}
        )
        for task in tasks
    }
    context = CallContext(job="test", stage="judge", ledger="")
    group = Group("t", ("A dam stands.",), ("dam", "mill", " "))

    ours, mine = [await make_judge(task, judges).open(context, 1).ask([group]) for task in tasks]

    assert ours == mine
    assert {one.answer for one in ours[0]} >= {"entailed", None}
    shipped, own = (named_kind(task, folder=str(tmp_path)) for task in tasks)
    replies = ["No. It says nothing of it.", "Perhaps."]
    read = [kind.read(reply, None, group, "ours") for kind in (shipped, own) for reply in replies]
    assert read[:2] == read[2:]
    assert [one.answer for one in read[:2]] == ["contradicted", None]


NEW_KIND = """
from dataclasses import replace

from longform.judges.kinds.key_point import KEY_POINT

LEFT_OUT = replace(KEY_POINT, task="left_out", targets="insight", work="left_out", measures=())
"""


def test_a_kind_that_ships_is_one_file_and_one_line(tmp_path: Path) -> None:
    for hall in ("longform", *HALLS):
        shutil.copytree(ROOT / hall, tmp_path / hall)
    (tmp_path / "longform" / "judges" / "kinds" / "left_out.py").write_text(NEW_KIND)
    listing = tmp_path / "longform" / "settings" / "judge.py"
    first, line = "LISTED: Mapping[str, str] = {\n", '    "left_out": "longform.judges.kinds.left_out:LEFT_OUT",\n'
    assert listing.read_text().count(first) == 1
    listing.write_text(listing.read_text().replace(first, first + line))
    chat = {"provider": "scripted", "model": "scripted", "script": "obedient", "max_tokens": 100}
    judges = {"mine": {"task": "left_out", "kind": "chat", "chat": chat}}
    changes = [f"judges={json.dumps(judges)}", "resamples=100", "retrievers=[oracle]"]
    words = ["demo", "--out", "run", "--workers", "0", "--limit", "1", *(f"--set={change}" for change in changes)]

    done = subprocess.run(
        [sys.executable, "-m", "longform", "evaluate", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    rows = Folder(str(tmp_path / "run")).read("verdicts").to_pylist()
    assert {(row["judge"], row["target_kind"], row["answer"]) for row in rows} == {("mine", "insight", "neutral")}


def test_a_format_of_another_module_reads_as_the_shipped_one(tmp_path: Path, moved: Moved) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "documents.jsonl").write_text('{"doc_id": "d", "text": "One."}\n{"doc_id": "e", "text": "Two."}\n')
    (corpus / "queries.jsonl").write_text('{"query_id": "q", "text": "Which?"}\n')
    ways = {"ours": ["jsonl"], "mine": ["python", "--class", moved(FORMATS["jsonl"])]}
    for name, words in ways.items():
        assert ingest.main([*words, str(corpus), "--out", str(tmp_path / name)]) == 0
    ours, mine = (Folder(str(tmp_path / name)) for name in ways)
    for table in ("documents", "queries", "targets", "qrels"):
        assert ours.read(table).equals(mine.read(table))
    assert ours.read("documents").num_rows == 2


@pytest.mark.parametrize("name", ["trec", "csv", "summhay", "hf"])
def test_an_export_of_another_module_writes_as_the_shipped_one(
    name: str, run: Path, tmp_path: Path, moved: Moved
) -> None:
    for form, out in ((name, "ours"), (moved(EXPORTS[name]), "mine")):
        words = [str(run), "--as", form, "--out", str(tmp_path / out)]
        assert export.main([*words, *(["--judge", "offline-gpt-4o"] if name == "summhay" else [])]) == 0
    ours, mine = (
        {file.relative_to(tmp_path / out): file.read_bytes() for file in (tmp_path / out).rglob("*") if file.is_file()}
        for out in ("ours", "mine")
    )
    assert ours == mine
    assert ours
