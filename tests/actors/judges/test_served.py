"""A judge that is served elsewhere answers as it does in the process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from actors.chat.model import CallContext
from actors.judges.opening import make_judge
from actors.judges.served import ServedJudge
from actors.serving.client import Reply, ServedClient
from actors.serving.messages import HeldBack
from longform.errors import LongformError
from longform.judges.kind import Group
from longform.judges.kinds import KINDS
from longform.judges.replies import group_of, served_verdict
from longform.settings.judges import OfflineJudgeSettings, ServedJudgeSettings
from longform.settings.named_judges import SHIPPED_JUDGES

DOCUMENT = "A bank cut the rate on Monday. Shops were closed."
SUPPORT = [
    Group("a", (DOCUMENT,), ("A bank cut the rate on Monday.", "Swans nest.", " ")),
    Group("b", (" ",), ("A bee.",)),
]
COVERAGE = [
    Group("s", ("- The tram opens in June.",), ("The tram opens in June.", "Swans nest."), ("Swans nest.", "?"))
]
KEY_POINTS = [Group("s", ("The tram opens in June.", "It is red."), ("The tram opens in June.", "Swans nest."))]
CONTEXT = CallContext(job="test", stage="judge", ledger="")


class Server:
    """Answers as a server does; texts that hold a word are too long for it."""

    def __init__(self, judge: str, *, task: str, refuses: str | None = None, plain: bool = False) -> None:
        settings = {"j": SHIPPED_JUDGES[judge]} if judge in SHIPPED_JUDGES else {"j": KEY_POINT_JUDGE}
        self._judge = make_judge("j", settings)
        self._task, self._refuses, self._plain = task, refuses, plain
        self.requests = 0

    async def send(self, _path: str, body: Mapping[str, Any], _held: HeldBack) -> Reply:
        self.requests += 1
        groups = [group_of(self._judge.kind, item) for item in body["items"]]
        if self._plain and any(group.background for group in groups):
            return Reply(422, "items.0.haystack_insights: extra inputs are not permitted")
        if self._refuses and any(self._refuses in group.text for group in groups):
            return Reply(413, "too long")
        found = await self._judge.open(CONTEXT, 1).ask(groups)
        results = [{"verdicts": [served_verdict(self._judge.kind, one) for one in of]} for of in found]
        return Reply(200, {"task": self._task, "results": results})


KEY_POINT_JUDGE = OfflineJudgeSettings(kind="offline", task="key_point")


def asking(server: Server, task: str) -> ServedJudge:
    return ServedJudge(KINDS[task], "j", ServedClient(server.send))


@pytest.mark.parametrize(
    ("task", "judge", "groups"),
    [
        ("support", "offline", SUPPORT),
        ("coverage", "offline-people", COVERAGE),
        ("coverage", "offline-people-vectors", COVERAGE),
        ("key_point", "mine", KEY_POINTS),
    ],
)
async def test_the_verdicts_are_those_of_the_judge_behind_it(task: str, judge: str, groups: list[Group]) -> None:
    server = Server(judge, task=task)
    expected = await server._judge.open(CONTEXT, 1).ask(groups)

    assert await asking(server, task).ask(groups) == expected
    assert server.requests == 1


@pytest.mark.parametrize(
    "answer", [None, [], {}, {"task": "support"}, {"task": "support", "results": [{"verdicts": []}]}]
)
async def test_an_answer_that_nobody_can_read_is_the_reason_of_its_pairs(answer: Any) -> None:
    async def send(_path: str, _body: Mapping[str, Any], _held: HeldBack) -> Reply:
        return Reply(200, answer)

    verdicts = await ServedJudge(KINDS["support"], "j", ServedClient(send)).ask(SUPPORT[:1])
    assert {one.answer for one in verdicts[0]} == {None}
    assert "an answer that cannot be read" in (verdicts[0][0].failure or "")


async def test_one_text_that_is_refused_costs_no_other_its_verdicts() -> None:
    groups = [*SUPPORT, Group("c", ("A long one.",), ("A long one.",))]
    (first, _, refused) = await asking(Server("offline", task="support", refuses="long"), "support").ask(groups)

    assert first[0].answer == "supported"
    assert (refused[0].answer, refused[0].failure) == (None, "refused: /v1/judge answered 413: too long")


async def test_a_judge_that_reads_no_background_is_asked_without_it() -> None:
    server = Server("offline-people", task="coverage", plain=True)
    ((said, unsaid),) = await asking(server, "coverage").ask(COVERAGE)

    assert (said.answer, said.linked_unit, unsaid.answer) == ("full", 0, "none")
    assert server.requests == 2


async def test_a_judge_of_another_task_is_an_error() -> None:
    with pytest.raises(LongformError, match="expected one of task support, found one of coverage"):
        await asking(Server("offline", task="coverage"), "support").ask(SUPPORT)


def test_the_key_of_its_verdicts_names_the_server_and_no_token() -> None:
    settings = ServedJudgeSettings(kind="served", task="support", url="http://a:1", judge="j", token_env="TOKEN")

    assert settings.identity == {"kind": "served", "url": "http://a:1", "judge": "j"}
    assert make_judge("mine", {"mine": settings}).version.work == "served j at http://a:1"
