from pathlib import Path
from typing import Any

import pytest

from actors.rehearsal.scripted_chat import SCRIPTS
from longform.chat.call import Usage
from longform.errors import UsageError
from longform.keys import content_key
from longform.schemas import SUMMARIES, conform
from longform.text.citations import bullets
from tests.actors.rehearsal.replies import Counted
from tests.actors.summarizers.summarizing import (
    TEXTS,
    context,
    recorded,
    summarizer,
    write_bench,
)


@pytest.fixture
def bench(tmp_path: Path) -> str:
    return write_bench(tmp_path)


@pytest.fixture
def obedient(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """The script of `summarizer`, counted."""
    counted = Counted(SCRIPTS["obedient"])
    monkeypatch.setitem(SCRIPTS, "obedient", counted)
    return counted


async def test_a_summary_quotes_and_cites_the_documents_of_its_context(bench: str) -> None:
    (row,) = await summarizer(bench).summarize([context()])
    found = bullets(row["text"])
    assert len(found) == 2
    assert found[0].text.startswith("- The tram line opens in June this year.")
    assert found[0].citations == [1, 2]


async def test_rows_are_summaries_in_the_order_of_the_contexts(bench: str) -> None:
    rows = [context(query_id) for query_id in ("q-news", "q-talk", "q-any")]
    found = await summarizer(bench).summarize(rows)
    assert conform(found, SUMMARIES).num_rows == 3
    assert [row["work_id"] for row in found] == ["w-q-news", "w-q-talk", "w-q-any"]
    assert [row["summary_id"] for row in found] == [content_key(row["work_id"]) for row in rows]
    assert [row["prompt_version"].split("@")[0] for row in found] == [
        "summarize_news",
        "summarize_conversation",
        "summarize_documents",
    ]
    assert {(row["summarizer"], row["setting"], row["order"], row["cut_share"]) for row in found} == {
        ("mine", "bm25", "given", 0.25)
    }


async def test_the_prompt_shows_the_documents_cut_numbered_and_in_prompt_order(bench: str) -> None:
    made = summarizer(bench)
    chat = recorded(made)
    await made.summarize([context()])
    text = chat.requests[0].messages[0].text
    assert f"Conversation 3:\n{TEXTS[2][:22]}\n\nConversation 1:\n{TEXTS[0]}\n\nConversation 2:\n" in text
    assert "is cut HERE" not in text
    for part in (
        "(number of conversations: 3)",
        "A tram for the town",
        "Ann, Bo",
        "exactly 2 bullets",
        "When does the tram",
    ):
        assert part in text


async def test_braces_in_a_document_stay_as_they_are(bench: str) -> None:
    made = summarizer(bench)
    chat = recorded(made)
    await made.summarize([context(doc_chars=[1000, 1000, 1000])])
    assert "its end says {{query}} is never shown" in chat.requests[0].messages[0].text


async def test_the_news_prompt_asks_by_subtopic_and_not_by_query(bench: str) -> None:
    made = summarizer(bench)
    chat = recorded(made)
    await made.summarize([context("q-news")])
    text = chat.requests[0].messages[0].text
    assert "When the tram opens" in text
    assert "When does the tram line open?" not in text
    assert "Article 3:\n" in text


async def test_what_the_reply_says_of_itself_is_kept(bench: str) -> None:
    made = summarizer(bench, temperature=0.5, max_tokens=77)
    chat = recorded(made, finish_reason="stop", model="m-1", usage=Usage(5, 6, 7, 8), seconds=1.5)
    (row,) = await made.summarize([context()])
    assert (row["model"], row["finish_reason"], row["seconds"], row["cost_usd"]) == ("m-1", "stop", 1.5, None)
    tokens = [row[f"{kind}_tokens"] for kind in ("input", "cached", "output", "reasoning")]
    assert tokens == [5, 6, 7, 8]
    assert (chat.requests[0].temperature, chat.requests[0].max_tokens) == (0.5, 77)


async def test_a_failed_reply_stays_a_row_with_its_reason(bench: str) -> None:
    made = summarizer(bench)
    recorded(made, text=None, failure="http_429")
    (row,) = await made.summarize([context()])
    assert (row["text"], row["failure"], row["n_requested"]) == (None, "http_429", 2)


@pytest.mark.parametrize(
    ("row", "failure"),
    [
        pytest.param(context("q-gone"), "missing_query", id="query"),
        pytest.param(context(doc_ids=["d0", "dx", "d1"]), "missing_document: dx", id="document"),
        pytest.param(context("q-bare"), "missing_participants", id="participants"),
        pytest.param(context(n_requested=None), "missing_n_insights", id="n-insights"),
    ],
)
async def test_a_row_that_cannot_be_asked_fails_alone(bench: str, row: dict[str, Any], failure: str) -> None:
    bad, good = await summarizer(bench).summarize([row, context("q-any")])
    assert (bad["text"], bad["failure"]) == (None, failure)
    assert good["failure"] is None


async def test_misbehaving_models_give_as_many_rows_as_came_in(bench: str) -> None:
    rows = [context(work_id=f"w{i}", doc_chars=[22 + i, 1000, 1000]) for i in range(40)]
    found = await summarizer(bench, script="misbehaving").summarize(rows)
    assert [row["work_id"] for row in found] == [row["work_id"] for row in rows]
    assert all((row["text"] is None) == (row["failure"] is not None) for row in found)
    assert len({row["failure"] for row in found}) > 3


async def test_a_context_beyond_the_window_is_not_sent(bench: str, obedient: Counted) -> None:
    (row,) = await summarizer(bench, context_window=1100).summarize([context()])
    assert row["failure"].startswith("context_exceeds_window: ")
    assert obedient.n_calls == 0


async def test_tokens_are_counted_only_where_a_window_is_known(bench: str) -> None:
    made = summarizer(bench)
    chat = recorded(made)
    await made.summarize([context()])
    assert chat.requests[0].input_tokens is None


async def test_all_rows_of_a_call_are_under_way_together(bench: str, obedient: Counted) -> None:
    await summarizer(bench).summarize([context(work_id=f"w{i}") for i in range(12)])
    assert (obedient.n_calls, obedient.max_in_flight) == (12, 12)


async def test_a_configured_prompt_stands_above_the_domain(bench: str) -> None:
    (row,) = await summarizer(bench, prompt="summarize_documents").summarize([context("q-talk")])
    assert row["prompt_version"].startswith("summarize_documents@")


async def test_a_file_in_the_prompts_folder_replaces_ours(bench: str, tmp_path: Path) -> None:
    text = '+++\nsource = "s"\nchanges = "c"\nfields = ["n_documents", "documents", "query", "n_insights"]\n+++\n'
    (tmp_path / "summarize_documents.md").write_text(text + "OURS {{n_documents}}{{documents}}{{query}}{{n_insights}}")
    made = summarizer(bench, folder=str(tmp_path))
    chat = recorded(made)
    any_row, talk_row = await made.summarize([context("q-any"), context("q-talk")])
    assert chat.requests[0].messages[0].text.startswith("OURS 3Document 3:\n")
    assert any_row["prompt_version"] != (await summarizer(bench).summarize([context("q-any")]))[0]["prompt_version"]
    assert talk_row["prompt_version"] == (await summarizer(bench).summarize([context()]))[0]["prompt_version"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b'+++\nsource="s"\nchanges="c"\nfields=["query"]\n+++\n{{query}}',
            r"expected the fields .* found \['query'\]",
        ),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_a_prompts_folder_that_cannot_be_used_is_refused(
    bench: str, tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "summarize_news.md").write_bytes(content)
    with pytest.raises(UsageError, match=message):
        summarizer(bench, folder=str(tmp_path))
    with pytest.raises(UsageError, match="does not exist"):
        summarizer(bench, folder=str(tmp_path / "none"))


def test_a_prompt_of_another_task_is_refused(bench: str) -> None:
    with pytest.raises(UsageError, match=r"expected a prompt of .*summarize_news.* found 'judge_coverage_3'"):
        summarizer(bench, prompt="judge_coverage_3")


async def test_repeats_of_a_context_ask_the_same_in_calls_of_their_own(bench: str) -> None:
    made = summarizer(bench)
    chat = recorded(made)
    rows = [context(work_id=f"w{repeat}", repeat=repeat) for repeat in range(3)]

    found = await made.summarize([*rows, context(work_id="without")])

    assert [row["repeat"] for row in found] == [0, 1, 2, 0]
    asked = [request.content for request in chat.requests]
    assert sorted(content["repeat"] for content in asked) == [0, 0, 1, 2]
    assert len({content_key(content) for content in asked}) == 3
    assert len({content_key(content | {"repeat": 0}) for content in asked}) == 1
