"""A kind of judgement of a user's own: found by its import path, judged by classes and by chat models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from actors.chat.model import CallContext
from actors.chat.opening import load_prompt
from actors.judges.opening import kind_of, make_judge
from actors.python_class import UserCodeError
from longform.errors import LongformError, UsageError
from longform.judges.kind import Group, Verdict
from longform.settings.judges import JudgeSettings
from longform.settings.python_class import FOLDER
from tests.modules import Write

CONTEXT = CallContext(job="job", stage="judge mine", ledger="/nowhere", prices=None)
GROUP = Group("a", ("the dam is done",), ("dam", "tram"))
MENTION = """
from longform.judges.kind import Kind

def decided(number, bounds):
    return "mentioned" if number > bounds[0] else "left_out"

MENTION = Kind(
    task="mention",
    targets="insight",
    shared="summary",
    fields=("summary", "insight"),
    counts={"mentioned": 1.0, "left_out": 0.0},
    decide=decided,
)
NOT_A_KIND = 7
"""
JUDGE = """
class Inside:
    def judge(self, group):
        return [float(item in group.text.split()) for item in group.items]
"""


def settings(folder: Path, **keys: Any) -> JudgeSettings:
    judge = {} if "kind" in keys else {"kind": "python", "class": "their_judge:Inside"}
    content = {"task": "their_kind:MENTION", **judge, **keys}
    adapter: TypeAdapter[JudgeSettings] = TypeAdapter(JudgeSettings)
    return adapter.validate_python(content, context={FOLDER: str(folder)})


async def test_a_class_judges_a_kind_of_ones_own(write: Write, tmp_path: Path) -> None:
    write("their_kind", MENTION)
    write("their_judge", JUDGE)

    made = make_judge("mine", {"mine": settings(tmp_path, threshold=0.75)})

    assert made.kind.task == "their_kind:MENTION"
    assert await made.open(CONTEXT, 1).ask([GROUP]) == [[Verdict("mentioned", 1.0), Verdict("left_out", 0.0)]]


def test_verdicts_depend_on_the_source_of_the_kind(write: Write, tmp_path: Path) -> None:
    write("their_judge", JUDGE)
    write("their_kind", MENTION)
    write("their_later_kind", MENTION + "# other")

    versions = {
        make_judge("mine", {"mine": settings(tmp_path, task=f"{name}:MENTION")}).version.work
        for name in ("their_kind", "their_later_kind")
    }

    assert len(versions) == 2
    assert settings(tmp_path).identity["task"] == "their_kind:MENTION"
    assert "folder" not in settings(tmp_path).identity


async def test_an_error_in_a_kind_names_its_file(write: Write, tmp_path: Path) -> None:
    write("their_kind", MENTION.replace("bounds[0]", "bounds[9]"))
    write("their_judge", JUDGE)

    with pytest.raises(UserCodeError, match=r"their_kind:MENTION: decide raised IndexError.*\n .*kind.py, line 5"):
        await make_judge("mine", {"mine": settings(tmp_path)}).open(CONTEXT, 1).ask([GROUP])


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("their_kind:MENTIONS", "has no 'MENTIONS'; did you mean 'MENTION'"),
        ("their_kind:NOT_A_KIND", "expected a longform.judges.kind.Kind, found a int"),
    ],
)
def test_what_is_no_kind_is_refused(write: Write, tmp_path: Path, task: str, said: str) -> None:
    write("their_kind", MENTION)

    with pytest.raises(UsageError, match=f"^{task}: .*{said}"):
        kind_of(settings(tmp_path, task=task))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"insight",\n    shared', '"insights",\n    shared', "targets: expected insight, .*, found 'insights'"),
        ('"insight",\n    shared', '"document",\n    shared', "targets: expected insight, .*, found 'document'"),
        ('"summary",\n', '"insight",\n', "shared: expected summary, found 'insight'"),
        ('"summary",\n', '"target",\n', "shared: expected summary, found 'target'"),
        (
            '{"mentioned": 1.0, "left_out": 0.0}',
            '["mentioned"]',
            r"counts: expected a mapping .*, found \['mentioned'\]",
        ),
        ('{"mentioned": 1.0, "left_out": 0.0}', "{}", "counts: expected a mapping .*, found {}"),
        (
            '"left_out": 0.0',
            '"left_out": -1',
            "counts: expected a mapping .*, found {'mentioned': 1.0, 'left_out': -1}",
        ),
        ('"left_out": 0.0', "7: 0.0", "counts: expected a mapping .*, found {'mentioned': 1.0, 7: 0.0}"),
        ('else "left_out"', 'else "gone"', "decide: expected one of mentioned, left_out for 0.0 .*, found str 'gone'"),
        ('else "left_out"', "else False", "decide: expected one of mentioned, left_out for 0.0 .*, found bool False"),
        ('else "left_out"', "else []", "decide: expected one of mentioned, left_out for 0.0 .*, found list"),
    ],
)
def test_a_kind_is_checked_before_anything_is_judged(
    write: Write, tmp_path: Path, before: str, after: str, said: str
) -> None:
    assert before in MENTION
    write("their_kind", MENTION.replace(before, after))

    with pytest.raises(LongformError, match=f"^their_kind:MENTION: {said}"):
        kind_of(settings(tmp_path))


def test_only_some_judges_can_judge_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a judge of kind offline does not judge their_kind:MENTION: expected task"):
        settings(tmp_path, kind="offline")


def test_a_chat_judge_of_it_needs_a_prompt_of_ones_own(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected `prompt`, the name of a file in the folder `prompts`, for"):
        settings(tmp_path, kind="chat", chat={"model": "m"})

    (tmp_path / "judge_mention.md").write_text(
        "+++\nsource = 's'\nchanges = 'none'\nfields = ['summary', 'insight']\n+++\n{{insight}} in {{summary}}?\n"
    )
    found = load_prompt("judge_mention", str(tmp_path))
    assert found.fields == {"summary", "insight"}
