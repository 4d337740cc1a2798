"""Judges of all tasks and kinds that a job has, served by the words of its configuration or by a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.chat.model import CallContext
from actors.judges.opening import make_judge
from longform.errors import UsageError
from longform.judges.kind import Group
from longform.judges.replies import request_item
from longform.settings.judge import LISTED
from longform.settings.named_judges import SHIPPED_JUDGES
from serve.settings import ServedKind, parse_settings
from tests.serve.judges.test_chat import OF_RESPONSES
from tests.serve.served import client, judges_app
from tests.serving import running

TEXT = "The bank raised its rate on Monday. Shops were closed."
GROUP = Group("g", (TEXT,), ("The bank raised its rate on Monday.", "Swans nest by the harbour."))
CONTEXT = CallContext(job="test", stage="judge", ledger="")


class Halves:
    """A judge that says of each item how much of it the text has, as a class of one's own may."""

    def judge(self, group: Group) -> list[float]:
        return [1.0 if item in group.text else 0.25 for item in group.items]


def test_every_task_is_served() -> None:
    """The others are in tests of the judges that ship."""
    assert {*OF_RESPONSES, "coverage", "support"} == LISTED.keys()


async def same_as_in_the_process(entry: dict[str, Any]) -> None:
    settings = parse_settings({"judges": {"j": entry}}).judges["j"]
    assert isinstance(settings, ServedKind)
    judge = make_judge("j", {"j": settings.judge})
    (expected,) = await judge.open(CONTEXT, 1).ask([GROUP])
    body = {"items": [request_item(judge.kind, GROUP, with_background=False)]}
    async with client(judges_app({"j": entry})) as asked:
        answer = (await asked.post("/v1/judge", json=body)).json()
    found = answer["results"][0]["verdicts"]
    assert answer["task"] == judge.kind.task
    assert [one["answer"] for one in found] == [one.answer for one in expected]
    assert [one["probability"] for one in found] == [one.probability for one in expected]
    assert len({one.answer for one in expected}) == 2, "else equal answers would say nothing"


@pytest.mark.parametrize("name", sorted(SHIPPED_JUDGES))
async def test_a_judge_that_ships_is_an_entry_by_its_name(name: str) -> None:
    await same_as_in_the_process({"judge": name})


@pytest.mark.parametrize("task", ["coverage", "support", "key_point", "reference"])
async def test_a_class_of_one_s_own_is_served_in_the_words_of_a_job(task: str) -> None:
    judge = {"kind": "python", "class": "tests.serve.judges.test_kinds:Halves"}
    await same_as_in_the_process({"task": task, "judge": judge})


async def test_a_judge_that_another_server_has_is_passed_on() -> None:
    with running(judges_app({"theirs": {"judge": "offline"}})) as url:
        await same_as_in_the_process({"task": "support", "judge": {"kind": "served", "url": url, "judge": "theirs"}})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"judge": "lexical"}, "or a name among offline-people, .*, found 'lexical'"),
        ({"judge": "offline", "task": "coverage"}, "or a name among [^:]*-gpt-4o, found 'offline'"),
        ({"judge": "gpt-4o"}, "`paid: false`, found openai: what costs money is asked by a job"),
    ],
)
def test_a_name_that_cannot_be_served_is_refused(entry: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"judges\.j\..*{said}"):
        parse_settings({"judges": {"j": entry}, "ledger": str(tmp_path)})


def test_settings_by_name_are_read_again_as_they_were_written() -> None:
    settings = parse_settings({"judges": {"j": {"judge": "checker"}}})
    assert parse_settings(settings.model_dump()) == settings
