"""A class of a user's own judges pairs of any kind, and what it may return is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.chat.model import CallContext
from actors.judges.opening import make_judge
from actors.python_class import UserCodeError
from longform.errors import UsageError
from longform.judges.kind import Group, Verdict
from longform.settings.judges import PythonJudgeSettings
from longform.settings.python_class import FOLDER
from tests.modules import Write

CONTEXT = CallContext(job="job", stage="judge mine", ledger="/nowhere", prices=None)
GROUPS = [Group("a", ("the dam", "the mill"), ("the dam", "the tram")), Group("b", ("",), ("the dam",))]
SHARED_WORDS = """
class SharedWords:
    version = 4

    def __init__(self, least=1):
        self.least = least

    def judge(self, group):
        return [self._share(set(item.split()), set(group.text.split())) for item in group.items]

    def _share(self, words, text):
        return len(words & text) / len(words) if len(words & text) >= self.least else 0
"""


def settings(folder: Path, path: str, **keys: Any) -> PythonJudgeSettings:
    content = {"kind": "python", "class": path, "task": "support", **keys}
    return PythonJudgeSettings.model_validate(content, context={FOLDER: str(folder)})


async def asked(folder: Path, path: str, groups: list[Group] = GROUPS, **keys: Any) -> list[list[Verdict]]:
    return await make_judge("mine", {"mine": settings(folder, path, **keys)}).open(CONTEXT, 1).ask(groups)


async def test_a_number_becomes_an_answer_by_the_threshold(write: Write, tmp_path: Path) -> None:
    write("their_judge", SHARED_WORDS)

    found = await asked(tmp_path, "their_judge:SharedWords", threshold=0.6)

    assert found[0] == [Verdict("supported", 1.0), Verdict("unsupported", 0.5)]
    assert found[1] == [Verdict("unsupported", 0.0)], "a text without words supports nothing, and nobody is asked"


async def test_a_number_becomes_an_answer_of_coverage_by_the_cuts(write: Write, tmp_path: Path) -> None:
    write("their_judge", SHARED_WORDS)

    found = await asked(tmp_path, "their_judge:SharedWords", task="coverage", cuts=[0.5, 0.9])

    assert [verdict.answer for verdict in found[0]] == ["full", "partial"]


async def test_a_class_may_wait_and_may_answer_in_words(write: Write, tmp_path: Path) -> None:
    write(
        "their_judge",
        "from longform.judges.kind import Verdict\nclass Waits:\n    async def judge(self, group):\n"
        "        return ['supported', Verdict('unsupported', 0.25, chunk_index=3)]",
    )

    found = await asked(tmp_path, "their_judge:Waits", GROUPS[:1])

    assert found == [[Verdict("supported", None), Verdict("unsupported", 0.25, chunk_index=3)]]


async def test_what_a_class_does_not_judge_has_a_reason(write: Write, tmp_path: Path) -> None:
    write("their_judge", "class Silent:\n    def judge(self, group): return [None for _ in group.items]")

    found = await asked(tmp_path, "their_judge:Silent", GROUPS[:1])

    assert found == [[Verdict(None, None, "not_judged")] * 2]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("[1]", "expected 2 judgements, one an item, for the text 'the dam.*, found list \\[1\\]"),
        ("'full'", "expected 2 judgements, one an item, for the text 'the dam.*, found str 'full'"),
        ("None", "expected 2 judgements, one an item, for the text 'the dam.*, found NoneType None"),
        ("[1, 7]", "expected a number from 0 to 1, one of supported, unsupported, .*, found int 7"),
        ("[0.5, float('nan')]", "found float nan"),
        ("[True, 1]", "found bool True"),
        ("['full', 1]", "found str 'full'"),
        ("3", "expected 2 judgements, one an item, for the text 'the dam.*, found int 3"),
        (
            "[Verdict('supported', 1.0, linked_unit=1), Verdict('supported', 1.0, linked_unit=2)]",
            r"judge: expected a linked_unit from 0 to 1 \(2 lines, counted from 0\), found int 2$",
        ),
    ],
)
async def test_a_judgement_is_of_the_kind(write: Write, tmp_path: Path, returned: str, said: str) -> None:
    source = f"class Odd:\n    def judge(self, group): return {returned}"
    write("their_judge", f"from longform.judges.kind import Verdict\n{source}")

    with pytest.raises(UserCodeError, match=f"^their_judge:Odd: .*{said}"):
        await asked(tmp_path, "their_judge:Odd", GROUPS[:1])


async def test_too_few_judgements_name_the_summary(write: Write, tmp_path: Path) -> None:
    write("their_judge", "class Odd:\n    def judge(self, group): return [1.0]")

    with pytest.raises(UserCodeError, match="expected 2 judgements, one an item, for summary 'a', found list"):
        await asked(tmp_path, "their_judge:Odd", GROUPS[:1], task="coverage")


def test_a_judge_that_cannot_be_used_is_refused_before_any_work(write: Write, tmp_path: Path) -> None:
    write("their_judge", "class Odd:\n    def judge(self): ...")

    with pytest.raises(UsageError, match=r"their_judge:Odd: expected judge\(group\), found judge\(self\)"):
        make_judge("mine", {"mine": settings(tmp_path, "their_judge:Odd")})


def test_verdicts_depend_on_the_class_its_options_and_its_version(write: Write, tmp_path: Path) -> None:
    write("their_judge", SHARED_WORDS)
    mine = settings(tmp_path, "their_judge:SharedWords", options={"least": 2})

    made = make_judge("mine", {"mine": mine})

    assert made.version == ("version 4", "their_judge:SharedWords@version 4")
    assert mine.identity == {
        "kind": "python",
        "class": "their_judge:SharedWords",
        "options": {"least": 2},
        "threshold": 0.5,
    }
    assert PythonJudgeSettings.model_validate(mine.model_dump()) == mine, "a stored configuration is read back"
