from pathlib import Path
from typing import Any

import pytest

from actors.chat.opening import Asking, open_chat
from actors.judges.backend import judged_rows
from actors.judges.opening import make_judge
from actors.storage.benchmark import Benchmark, part_work_id
from actors.storage.folder import Folder
from jobs.stages.judge import judged_summary
from longform.chat.call import Capabilities, ChatReply, ChatRequest, capabilities
from longform.errors import UsageError
from longform.judges.kinds.coverage import COVERAGE
from longform.schemas import VERDICTS, conform
from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings

INSIGHTS = ["The tram opens in June.", "Shops complain about the noise of it.", "Swans nest by the harbour."]


@pytest.fixture
def bench(tmp_path: Path) -> str:
    folder = Folder(str(tmp_path / "bench"))
    rows = [("insight", i, text) for i, text in reversed(list(enumerate(INSIGHTS)))] + [("reference", 3, "A summary.")]
    targets = [
        {"target_id": f"t{i}", "kind": kind, "query_id": "q", "haystack_id": "h", "target_index": i, "text": text}
        for kind, i, text in rows
    ]
    queries = [{"query_id": query, "haystack_id": "h", "text": "?"} for query in ("q",)]
    folder.commit("queries", [folder.write_part("queries", queries, work_ids=[part_work_id("h", 0)])])
    folder.commit("targets", [folder.write_part("targets", targets, work_ids=[part_work_id("h", 0)])])
    folder.write_json("benchmark.json", {})
    return folder.url


def summary(**changes: Any) -> dict[str, Any]:
    lines = ["Here is the summary:", "- Shops complain. [2]", "- The tram opens in June. [1][2]"]
    row = {"work_id": "w", "summary_id": "s", "query_id": "q", "haystack_id": "h", "bullets": lines}
    return row | changes


UNKNOWN = Capabilities()


class Sayer:
    """A model that says the same to all, and another thing when asked again; it keeps what it is asked."""

    def __init__(self, *, again: str | None = None, accepted: Capabilities = UNKNOWN, **reply: Any) -> None:
        self.accepted = accepted
        self.requests: list[ChatRequest] = []
        self._reply = ChatReply(**({"text": None, "failure": None} | reply))
        self._again = again

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        if len(request.messages) > 1 and self._again is not None:
            return ChatReply(text=self._again, failure=None)
        return self._reply

    async def close(self) -> None: ...


class OnRows:
    """A chat judge of coverage, asked about rows of summaries as the judge stage asks it."""

    def __init__(self, bench: str, settings: ChatJudgeSettings, asking: Asking) -> None:
        self._benchmark = Benchmark(bench)
        self._judge = make_judge("mine", {"mine": settings})
        self._backend = self._judge.asking(asking)

    async def judge(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kind = self._judge.kind
        summaries = [judged_summary(kind, row | {"failure": None}, row["bullets"], self._benchmark) for row in rows]
        return await judged_rows(self._judge, self._backend, summaries)


def judge(bench: str, *, prompt: str = "judge_coverage_3", says: Sayer | None = None, **chat: Any) -> OnRows:
    settings = ChatSettings.model_validate({"provider": "scripted", "model": "fake", "script": "obedient"} | chat)
    definition = ChatJudgeSettings(kind="chat", chat=settings, prompt=prompt)
    return OnRows(bench, definition, Asking(chat=says or open_chat(settings)))


async def test_each_insight_of_a_summary_has_one_verdict_in_their_order(bench: str) -> None:
    rows = await judge(bench).judge([summary(), summary(summary_id="s2", work_id="w2")])
    assert conform(rows, VERDICTS).num_rows == 6
    assert [(row["work_id"], row["summary_id"], row["target_id"]) for row in rows[2:4]] == [
        ("w", "s", "t2"),
        ("w2", "s2", "t0"),
    ]
    assert [(row["answer"], row["linked_unit"]) for row in rows[:3]] == [("full", 2), ("full", 1), ("none", None)]
    assert {(row["judge"], row["target_kind"], row["mode"], row["repeat"]) for row in rows} == {
        ("mine", "insight", "full", 0)
    }
    assert all(row["prompt_version"].startswith("judge_coverage_3@") for row in rows)


@pytest.mark.parametrize(
    ("reply", "answer", "linked_unit", "failure"),
    [
        ('{"coverage": "FULL_COVERAGE", "bullet_id": 3}', "full", 2, None),
        ('{"coverage": "FULL_COVERAGE", "bullet_id": 4}', "full", None, None),
        ('{"coverage": "PARTIAL_COVERAGE", "bullet_id": [1, 2]}', "partial", None, None),
        ('{"coverage": "NO_COVERAGE", "bullet_id": "NA"}', "none", None, None),
        ("The insight is covered.", None, None, "no_json_object"),
        ('{"coverage": "MAYBE", "bullet_id": 1}', None, None, "unknown_coverage"),
    ],
)
async def test_the_reply_is_kept_as_written_beside_what_was_read(
    bench: str, reply: str, answer: str | None, linked_unit: int | None, failure: str | None
) -> None:
    row = (await judge(bench, says=Sayer(text=reply)).judge([summary()]))[0]
    assert (row["reply"], row["answer"], row["linked_unit"], row["failure"]) == (reply, answer, linked_unit, failure)


@pytest.mark.parametrize("failure", ["http_429", "length", "timeout"])
async def test_a_call_that_failed_is_unjudged_with_its_reason(bench: str, failure: str) -> None:
    rows = await judge(bench, says=Sayer(failure=failure)).judge([summary()])
    assert [(row["answer"], row["failure"], row["reply"]) for row in rows] == [(None, failure, None)] * 3


async def test_a_reply_that_cannot_be_read_is_asked_for_once_more(bench: str) -> None:
    """The second call shows the model what it wrote; its answer, and its call, stand in the row."""
    readable = '{"coverage": "FULL_COVERAGE", "bullet_id": 2}'
    says = Sayer(text="It is covered.", again=readable)
    row, *_ = await judge(bench, says=says).judge([summary()])
    assert (row["answer"], row["linked_unit"], row["reply"], row["failure"]) == ("full", 1, readable, None)
    second = next(request for request in says.requests if len(request.messages) > 1)
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert second.messages[1].text == "It is covered."
    assert len(says.requests) == 6


async def test_nobody_is_asked_a_third_time(bench: str) -> None:
    says = Sayer(text="It is covered.", again="Yes, covered.")
    row, *_ = await judge(bench, says=says).judge([summary()])
    assert (row["answer"], row["failure"], row["reply"]) == (None, "no_json_object", "Yes, covered.")
    assert len(says.requests) == 6


async def test_call_ids_tell_requests_apart_and_nothing_else(bench: str) -> None:
    one = await judge(bench).judge([summary(), summary(summary_id="s2")])
    again = await judge(bench, concurrency=1, timeout_s=9).judge([summary()])
    other = await judge(bench, prompt="judge_coverage_9").judge([summary()])
    ids = [row["call_id"] for row in one]
    assert len(set(ids[:3])) == 3
    assert ids[:3] == ids[3:] == [row["call_id"] for row in again]
    assert not set(ids) & {row["call_id"] for row in other}


@pytest.mark.parametrize(
    ("chat", "schema"),
    [
        ({}, None),
        ({"json_schema": True}, COVERAGE.schema),
        ({"model": "gpt-4o"}, COVERAGE.schema),
        ({"model": "gpt-4o", "json_schema": False}, None),
    ],
)
async def test_a_schema_is_asked_for_where_the_model_is_known_to_take_it(
    bench: str, chat: dict[str, Any], schema: dict[str, Any] | None
) -> None:
    settings = ChatSettings.model_validate({"model": "fake"} | chat)
    asked = Sayer(text="{}", accepted=capabilities(settings))
    await judge(bench, says=asked, **chat).judge([summary()])
    assert {str(request.json_schema) for request in asked.requests} == {str(schema)}


async def test_prompts_about_one_summary_differ_only_after_its_bullets(bench: str) -> None:
    asked = Sayer(text="{}")
    await judge(bench, says=asked).judge([summary()])
    texts = [request.messages[0].text for request in asked.requests if len(request.messages) == 1]
    ends = [text.rindex(insight) for text, insight in zip(texts, INSIGHTS, strict=True)]
    assert len({text[:end] for text, end in zip(texts, ends, strict=True)}) == 1
    assert "- The tram opens in June. [1][2]" in texts[0][: ends[0]]


async def test_a_summary_without_bullets_is_not_asked_about(bench: str) -> None:
    """Nothing is said, so nothing is covered: no call can change that. A summary that failed never comes here."""
    chat = Sayer(text="never asked for")
    rows = await judge(bench, says=chat).judge([summary(bullets=[])])
    assert [(row["answer"], row["failure"]) for row in rows] == [("none", None)] * 3
    assert chat.requests == []


async def test_a_query_without_insights_gives_no_rows(bench: str) -> None:
    assert await judge(bench).judge([summary(query_id="other")]) == []


async def test_misbehaving_models_lose_no_row_and_invent_no_link(bench: str) -> None:
    summaries = [summary(summary_id=f"s{i}", bullets=[f"bullet {i}", "b"]) for i in range(50)]
    rows = await judge(bench, script="misbehaving").judge(summaries)
    assert [(row["summary_id"], row["target_id"]) for row in rows] == [
        (f"s{i}", f"t{j}") for i in range(50) for j in range(3)
    ]
    assert all((row["answer"] is None) == (row["failure"] is not None) for row in rows)
    assert all(row["linked_unit"] is None or row["linked_unit"] < 2 for row in rows)
    assert any(row["answer"] == "full" and row["linked_unit"] is None for row in rows)


async def test_a_summary_beyond_the_window_is_unjudged(bench: str) -> None:
    rows = await judge(bench, context_window=1500).judge([summary(bullets=["long"] * 400)])
    assert all(row["failure"].startswith("context_exceeds_window") and row["answer"] is None for row in rows)


def test_a_prompt_of_another_task_is_refused(bench: str) -> None:
    with pytest.raises(UsageError, match="'summarize_news' is not one for coverage"):
        judge(bench, prompt="summarize_news")
