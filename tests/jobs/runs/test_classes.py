"""A run folder keeps to one version of each class that its rows are made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.runs.begin import versions_of
from jobs.runs.record import check_goes_on
from longform.errors import UsageError
from longform.settings.experiment import Experiment
from longform.settings.python_class import FOLDER
from tests.modules import Write

RANKER = "class Mine:\n    version = {version}\n    def rank(self, query, documents): ...\n"
KIND = (
    "from longform.judges.kind import Kind\n"
    "MENTION = Kind(targets='insight', shared='summary', fields=('a', 'b'), counts={}, decide=max, version='of May')\n"
)


def experiment(folder: Path) -> Experiment:
    content = {
        "name": "test",
        "seed": 1,
        "retrievers": {"mine": {"kind": "python", "class": "their_ranker:Mine"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"mention": {"kind": "python", "class": "their_ranker:Mine", "task": "their_kind:MENTION"}},
        "measures": [{"kind": "python", "class": "their_measure:NotLookedFor"}],
        "systems": [{"retriever": "mine", "budget_tokens": None, "summarizer": "offline"}],
    }
    return Experiment.model_validate(content, context={FOLDER: str(folder)})


def test_classes_and_kinds_of_users_have_versions(write: Write, tmp_path: Path) -> None:
    write("their_ranker", RANKER.format(version=3))
    write("their_kind", KIND)

    assert versions_of(experiment(tmp_path)) == {
        "their_ranker:Mine": "version 3",
        "their_kind:MENTION": "version of May",
    }


def test_another_version_does_not_go_on_in_a_folder(write: Write, tmp_path: Path) -> None:
    write("their_ranker", RANKER.format(version=3))
    write("their_kind", KIND)
    run, mine = Folder(str(tmp_path / "run")), experiment(tmp_path)
    before = {"their_ranker:Mine": "version 2", "their_gone:Mine": "version 1"}
    run.write_json(
        "run.json",
        {
            "format": 2,
            "verb": "evaluate",
            "benchmark": {},
            "config": mine.model_dump(mode="json"),
            "limit": None,
            "prompts": before,
            "jobs": [],
            "stages": [],
        },
    )

    with pytest.raises(UsageError, match="the version of their_ranker:Mine was version 2, is version 3"):
        check_goes_on(run, mine, prompts=versions_of(mine))
