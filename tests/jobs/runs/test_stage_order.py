"""The stages of a run: their order, what each reads and writes, and what the plan makes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.command.parser import STEPS
from jobs.runs.stage_order import check_order, stages_of
from jobs.stages.items import Item, Row, SourceReader, Worker
from jobs.stages.stage import Plan, Site, Stage
from jobs.stages.stations import written
from longform.settings.experiment import Experiment

CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient"}
EVERYTHING: dict[str, Any] = {
    "name": "everything",
    "seed": 1,
    "retrievers": {"bm25": {"kind": "bm25"}},
    "rerankers": {"far": {"kind": "endpoint", "model": "m", "url": "http://127.0.0.1:1/v1/rerank"}},
    "summarizers": {"chat": {"kind": "chat", "chat": CHAT}, "offline": {"kind": "offline"}},
    "judges": {
        "mean": {"kind": "mean", "of": ["asked", "offline"]},
        "asked": {"kind": "chat", "chat": CHAT},
        "offline": {"kind": "offline", "calibration": "people"},
    },
    "support_judges": {
        "both": {"kind": "mean", "of": ["checker", "lexical"]},
        "checker": {"kind": "chat", "chat": CHAT},
        "lexical": {"kind": "offline"},
    },
    "systems": [
        {"retriever": "bm25", "reranker": [None, "far"], "budget_tokens": 600, "summarizer": ["chat", "offline"]}
    ],
    "citations": "matrix",
}


CALLING = Calling("test", ledger="no model is called here")


def stages(folder: Path, **changes: Any) -> list[Stage[Any]]:
    site = Site(str(folder), str(folder / "bench"), 1, CALLING)
    return stages_of(Experiment.model_validate(EVERYTHING | changes), site)


def test_names_of_stages_are_those_of_records_and_progress_lines(tmp_path: Path) -> None:
    found = stages(tmp_path)
    assert [stage.name for stage in found] == [
        "retrieve", "rerank far", "pack", "summarize chat", "summarize offline", "split",
        "judge asked", "judge offline", "judge mean", "check checker", "check lexical", "check both",
        "repair", "split twins", "copy verdicts", "score",
    ]  # fmt: skip
    assert list(dict.fromkeys(stage.step for stage in found)) == list(STEPS[:-1])


@pytest.mark.parametrize("citations", ["written", "matrix", "both"])
def test_every_stage_reads_columns_that_an_earlier_one_writes(tmp_path: Path, citations: str) -> None:
    check_order(stages(tmp_path, citations=citations))


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        ("retrieve", "rerank far reads rankings, and"),
        ("pack", "summarize chat reads ['budget_tokens',"),
        ("split", "judge asked reads ['text', 'unit_index'] of units"),
        ("check", "repair reads ['answer', 'doc_position', 'mode', 'probability', 'repeat'"),
    ],
)
def test_stage_that_reads_what_nothing_writes_is_refused(tmp_path: Path, left_out: str, told: str) -> None:
    changes = {"citations": "checker", "judges": {}} if left_out == "check" else {}
    with pytest.raises(ValueError, match=re.escape(told)):
        check_order(stage for stage in stages(tmp_path, **changes) if stage.step != left_out)


def test_columns_are_compared_and_not_tables_alone(tmp_path: Path) -> None:
    """Verdicts of support judges link no unit."""
    (score,) = (stage for stage in stages(tmp_path) if stage.name == "score")
    with pytest.raises(ValueError, match=re.escape("score reads ['linked_unit'] of verdicts")):
        check_order([*stages(tmp_path, judges={}, citations="written"), score])


@dataclass(frozen=True, kw_only=True)
class Writes(Stage[str]):
    """Writes one row with two columns."""

    step = "planted"
    reads: ClassVar = {}
    table = "units"
    columns = ("work_id", "text")

    def items(self, plan: Plan) -> Sequence[Item[str]]:
        return []

    def worker(self, reader: SourceReader) -> Worker:
        def work(payload: Any) -> list[Row]:
            return []

        return work


def test_rows_with_columns_that_no_stage_was_told_of_are_refused(tmp_path: Path) -> None:
    run = Folder(str(tmp_path))
    assert written(run, Writes(run=run.url), ["w"], [{"work_id": "w", "text": "x"}], 0.0)[0]["rows"] == 1
    with pytest.raises(ValueError, match=r"planted writes \['summary_id'\], which are not among its columns"):
        written(run, Writes(run=run.url), ["w"], [{"work_id": "w", "summary_id": "x"}], 0.0)


def test_worker_is_handed_its_stage_and_no_configuration(tmp_path: Path) -> None:
    """A worker gets the fields of its stage, and no other stage's settings."""
    for stage in stages(tmp_path):
        assert not any(isinstance(value, Experiment) for value in vars(stage).values()), stage.name
    (check,) = (stage for stage in stages(tmp_path) if stage.name == "check lexical")
    other = {"judges": {"offline": {"kind": "offline", "calibration": "gpt-4o"}}, "seed": 2}
    assert check in stages(tmp_path, **other), "another judge or seed changes nothing for it"
