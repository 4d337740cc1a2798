"""Measures that a configuration lists, and which stage scores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jobs.stages.score_measures import ScoreMeasures, ScoreVerdicts, stages

from actors.measures import check_measures
from jobs.calling import Calling
from jobs.stages.stage import Site
from longform.errors import UsageError
from longform.settings.experiment import Experiment
from longform.settings.python_class import FOLDER
from tests.modules import Write

COVERAGE = {"kind": "offline", "calibration": "people"}
MEASURE = "class Mine:\n    name = 'mine'\n    judged_by = {task!r}\n    def per_summary(self, facts): ...\n"


def experiment(folder: Path, *measures: Any, **judges: Any) -> Experiment:
    content = {
        "name": "test",
        "seed": 1,
        "retrievers": {"full": {"kind": "full"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": judges,
        "measures": list(measures),
        "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
    }
    return Experiment.model_validate(content, context={FOLDER: str(folder)})


def scored(found: Experiment) -> dict[type, set[str]]:
    site = Site("/nowhere", "/nowhere", 1, Calling("test", ledger="/nowhere"))
    return {type(stage): set(stage.names) for stage in stages(found, site)}


def test_measures_that_no_other_stage_scores_are_scored(tmp_path: Path) -> None:
    listed = ["coverage", "rouge_1", "words", "words_per_bullet", "P"]

    assert scored(experiment(tmp_path, *listed, judge=COVERAGE)) == {ScoreMeasures: {"rouge_1", "words"}}
    assert scored(experiment(tmp_path, "words_per_bullet")) == {ScoreMeasures: {"words_per_bullet"}}
    assert scored(experiment(tmp_path, "coverage", judge=COVERAGE)) == {}


def test_measures_of_ones_own_are_scored_by_what_they_read(write: Write, tmp_path: Path) -> None:
    write("their_measure", MEASURE.format(task="coverage"))
    mine = {"kind": "python", "class": "their_measure:Mine"}

    assert scored(experiment(tmp_path, mine, judge=COVERAGE)) == {ScoreVerdicts: {"mine"}}


def test_a_measure_without_its_judges_is_refused(write: Write, tmp_path: Path) -> None:
    write("their_measure", MEASURE.format(task="their_kind:MENTION"))
    mine = {"kind": "python", "class": "their_measure:Mine"}

    with pytest.raises(UsageError, match="mine reads the verdicts of a judge of their_kind:MENTION, and the conf"):
        check_measures(experiment(tmp_path, mine, judge=COVERAGE))
    with pytest.raises(UsageError, match="coverage reads the verdicts of a judge of coverage, and the configuration"):
        check_measures(experiment(tmp_path, "coverage", judge={"kind": "offline", "task": "support"}))
