"""A kind of synthesis from outside: a recipe of one step, carried out, planned and told by the command as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.synthesis.model_synthesis import KINDS
from jobs.synthesize_models import main
from longform.formats.rows import HaystackRows
from longform.records import Document, Query, Target
from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict
from longform.synthesis.asking import Ask, Log, Plan, ask_once
from longform.synthesis.recipe import (
    Job,
    Pieces,
    PlannedCalls,
    Recipe,
    Step,
    SynthesisKind,
    SynthesisWords,
    Work,
    bounded,
)
from longform.synthesis.written.replies import QueryText
from longform.tables.table import table_of

FIELDS = {"setting": "Towns", "notes": ""}


class Points(Strict):
    kind: Literal["points"]
    name: str
    seed: int = 1
    prompts: str | None = None
    themes: tuple[str, ...]
    writer: ChatSettings

    @property
    def chats(self) -> dict[str, ChatSettings]:
        return {"writer": self.writer}


class PointsRecipe(Recipe[Any]):
    """A key point for each theme, as a writer words it."""

    steps = (Step("point", "points"),)

    @property
    def sources(self) -> list[dict[str, str]]:
        return [{"name": theme, "sha256": theme} for theme in self.settings.themes]

    def works(self, step: str, pieces: Pieces) -> list[Work]:
        return [Work(f"{step}-{theme}", "h", theme) for theme in self.settings.themes]

    def plan(self, job: Job, log: Log) -> Plan[Any]:
        ask = Ask("writer", "synthesize_query", {**FIELDS, "subtopic": f"{job.payload}: towns"})
        read = yield from ask_once(ask, [], QueryText)
        log.accept("point read", job.payload, read.call_id)
        return read.answer.query

    def rows(self, pieces: Pieces) -> Iterator[HaystackRows]:
        points = [pieces[work.key].content for work in self.works("point", pieces)]
        targets = [Target(f"t{n}", "key_point", "q", "h", n, None, text) for n, text in enumerate(points)]
        yield HaystackRows("h", [Document("d", "h", 0, None, "Towns.")], [Query("q", "h", "Why?")], targets)

    def accounts(self, pieces: Pieces) -> list[dict[str, Any]]:
        return [{"haystack_id": "h", "points": len(pieces)}]

    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        n = len(left["point"])
        return [bounded("point", "synthesize_query", "word", "writer", n, each="once")]


def told(haystacks: Sequence[Mapping[str, Any]]) -> SynthesisWords:
    table = table_of("made", haystacks)
    return SynthesisWords("points: 2", table, ["haystack_id", "points"], [], is_short=False)


def test_a_kind_needs_a_recipe_and_no_change_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forms, checks = {"synthesize_query": QueryText}, {"point read": "it can be read"}
    kind = SynthesisKind(
        Points, forms, checks, lambda settings, *_: PointsRecipe(settings), told, False, ("scripted-writer",)
    )
    assert isinstance(KINDS, dict)
    monkeypatch.setitem(KINDS, "points", kind)
    writer = {"provider": "scripted", "script": "synthesis", "model": "scripted-writer"}
    settings = {"kind": "points", "name": "n", "themes": ["parks", "roads"], "writer": writer}
    (tmp_path / "points.yaml").write_text(json.dumps(settings))
    command = [str(tmp_path / "points.yaml"), "--out", str(tmp_path / "bench"), "--workers", "0"]

    assert main([*command, "--plan", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lowest"]["total"]["calls"] == 2
    assert main(command) == 0
    assert "points: 2" in capsys.readouterr().out
    made = Benchmark(str(tmp_path / "bench"))
    assert [(target.kind, target.text) for target in made.targets["q"]] == [
        ("key_point", "What is said about parks?"),
        ("key_point", "What is said about roads?"),
    ]
    assert len(Folder(str(tmp_path / "bench")).read("attempts")) == 2
    assert not (tmp_path / "bench" / "audit.json").exists()
