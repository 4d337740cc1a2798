"""Measures that a configuration lists, and which stage scores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.measures import check_measures, open_measures
from jobs.command.calling import Calling
from jobs.stages.score import Score, stages
from jobs.stages.stage import Site
from longform.errors import UsageError
from longform.settings.experiment import Experiment
from longform.settings.python_class import FOLDER
from tests.modules import Write

COVERAGE = {"kind": "offline", "calibration": "people"}
MEASURE = "class Mine:\n    name = told = 'mine'\n    judged_by = {task!r}\n    def per_summary(self, facts): ...\n"


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


def scored(found: Experiment) -> set[str]:
    """Return the measures that the run scores, all in one stage."""
    site = Site("/nowhere", "/nowhere", 1, Calling("test", ledger="/nowhere"))
    [stage] = stages(found, site)
    assert isinstance(stage, Score)
    return {measure.name for measure in open_measures(stage.listed)}


def test_measures_that_are_listed_are_scored_with_a_judge_or_without(tmp_path: Path) -> None:
    listed = ["coverage", "rouge_1", "words", "words_per_bullet", "P"]

    assert {"coverage", "rouge_1", "words", "words_per_bullet"} <= scored(experiment(tmp_path, *listed, judge=COVERAGE))
    assert scored(experiment(tmp_path, "words_per_bullet")) == {"words_per_bullet"}
    assert "rouge_1" not in scored(experiment(tmp_path, "coverage", judge=COVERAGE))


def test_measures_of_ones_own_are_scored(write: Write, tmp_path: Path) -> None:
    write("their_measure", MEASURE.format(task="coverage"))
    mine = {"kind": "python", "class": "their_measure:Mine"}

    assert "mine" in scored(experiment(tmp_path, mine, judge=COVERAGE))


def test_a_measure_without_its_judges_is_refused(write: Write, tmp_path: Path) -> None:
    write("their_measure", MEASURE.format(task="their_kind:MENTION"))
    mine = {"kind": "python", "class": "their_measure:Mine"}

    with pytest.raises(UsageError, match="mine reads the verdicts of a judge of their_kind:MENTION, and the conf"):
        check_measures(experiment(tmp_path, mine, judge=COVERAGE))
    with pytest.raises(UsageError, match="coverage reads the verdicts of a judge of coverage, and the configuration"):
        check_measures(experiment(tmp_path, "coverage", judge={"kind": "offline", "task": "support"}))
