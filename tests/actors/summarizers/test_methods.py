import re
from itertools import permutations
from os.path import commonprefix
from pathlib import Path
from typing import Any

import pytest

from actors.chat.opening import open_chat
from actors.summarizers.prompts import SEPARATOR, prompts_of
from longform.chat.asking import Recorded, carry_out
from longform.chat.call import ChatReply, Usage
from longform.keys import content_key
from longform.prompts import load_prompt
from longform.schemas import SUMMARIES, conform
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.methods import SHIPPED_METHODS, CalibrationMethodSettings
from tests.actors.summarizers.summarizing import (
    QUERIES,
    TEXTS,
    Writer,
    context,
    first_requests,
    recorded,
    sentences,
    summarizer,
    telling,
    texts,
    write_bench,
)


@pytest.fixture
def bench(tmp_path: Path) -> str:
    return write_bench(tmp_path)


async def test_a_plain_row_is_asked_and_written_as_one_prompt(bench: str) -> None:
    made = summarizer(bench)
    chat = recorded(made)
    (row,) = await made.summarize([context("q-any")])
    assert (row["method"], row["step"], row["parents"]) == ("plain", None, [])
    shown = f"Document 3:\n{TEXTS[2][:22]}\n\nDocument 1:\n{TEXTS[0]}\n\nDocument 2:\n{TEXTS[1]}\n\n"
    asked = load_prompt("summarize_documents").render(
        n_documents=3, documents=shown, query="When does the tram line open?", n_insights=2
    )
    assert texts(chat) == [asked]


async def test_sentences_are_asked_for_with_the_documents_between_lines(bench: str) -> None:
    made = sentences(bench)
    chat = recorded(made, text='"""Summary: The tram opens.\nSoon."""')
    (row,) = await made.summarize([context()])
    (text,) = texts(chat)
    assert f"\n====\n{TEXTS[2][:22]}\n====\n{TEXTS[0]}\n====\n{TEXTS[1]}\n====\n" in text
    assert "in 2 sentences" in text
    assert "Attend" not in text
    assert (row["text"], row["failure"]) == ("The tram opens.\nSoon.", None)
    assert row["prompt_version"] == load_prompt("summarize_sentences").version


async def test_contexts_that_begin_alike_share_all_of_their_documents_as_a_prefix(bench: str) -> None:
    made = sentences(bench)
    chat = recorded(made)
    shorter = {key: context()[key][:2] for key in ("doc_ids", "doc_numbers", "doc_chars")}
    await made.summarize([context(), context(**shorter)])
    assert len(commonprefix(texts(chat))) > texts(chat)[1].index(TEXTS[0]) + len(TEXTS[0])  # noqa: RUF071  # characters are meant


async def test_a_label_with_nothing_behind_it_is_a_failure_that_keeps_what_it_cost(bench: str) -> None:
    made = sentences(bench)
    recorded(made, text="Summary: ", usage=Usage(5, 6, 7, 8))
    (row,) = await made.summarize([context()])
    assert (row["text"], row["failure"], row["input_tokens"]) == (None, "empty_summary", 5)


async def test_labels_are_taken_off_only_where_they_are_asked_for(bench: str) -> None:
    made = summarizer(bench)
    recorded(made, text="Summary: - a [1]")
    (row,) = await made.summarize([context()])
    assert row["text"] == "Summary: - a [1]"


@pytest.mark.parametrize("place", ["top", "middle", "bottom"])
async def test_a_focus_is_one_sentence_more(bench: str, place: str) -> None:
    wish = load_prompt(f"focus_{place}").text.strip()
    for made in (summarizer(bench), sentences(bench)):
        chat = recorded(made)
        plain, focus = await made.summarize([context("q-any"), context("q-any", method=f"focus-{place}")])
        without, with_wish = texts(chat)
        assert wish not in without
        assert with_wish.count(wish) == 1
        assert with_wish.replace(wish, "").split() == without.split()
        assert focus["method"] == f"focus-{place}"
        assert focus["prompt_version"] == f"{plain['prompt_version']}+{load_prompt(f'focus_{place}').version}"


async def test_every_step_is_a_row_and_the_summary_is_the_last(bench: str) -> None:
    made = sentences(bench)
    telling(made, lambda text: f"Summary: {'merged' if 'Merge' in text else text.split(SEPARATOR)[1].split()[0]}")
    rows = [context(work_id="w1", method="hierarchical-pairwise"), context(work_id="w2")]
    found = await made.summarize(rows)
    assert conform(found, SUMMARIES).num_rows == 6
    steps = ["document-1", "document-2", "document-3", "merge-1-1", None]
    assert [(row["work_id"], row["step"]) for row in found] == [*(("w1", step) for step in steps), ("w2", None)]
    assert [row["text"] for row in found[:5]] == ["A", "The", "Shops", "merged", "merged"]
    key = {row["step"]: row["summary_id"] for row in found[:5]}
    assert key["merge-1-1"] == content_key("w1", "merge-1-1")
    assert key[None] == content_key("w1")
    assert [row["parents"] for row in found[:5]] == [
        *([[]] * 3),
        [key["document-1"], key["document-2"]],
        [key["merge-1-1"], key["document-3"]],
    ]
    assert {row["method"] for row in found[:5]} == {"hierarchical-pairwise"}
    assert (found[5]["method"], found[5]["text"]) == ("plain", "A")


async def test_a_summary_costs_its_own_call_only(bench: str) -> None:
    made = sentences(bench)
    telling(made, lambda _: "Summary: x")
    found = await made.summarize([context(method="incremental")])
    assert [(row["input_tokens"], row["cost_usd"]) for row in found] == [(1, 0.5), (2, 0.5), (3, 0.5)]


async def test_a_merge_reads_the_summaries_and_nothing_else(bench: str) -> None:
    made = sentences(bench)
    chat = telling(made, lambda text: f"Summary: S{text.count('tram')}")
    await made.summarize([context(method="hierarchical-once")])
    merge = texts(chat)[-1]
    assert "\n====\nS0\n====\nS1\n====\nS2\n====\n" in merge
    assert "Write 2 sentences" in merge
    assert not any(text in merge for text in TEXTS)
    assert "Question:" not in merge


async def test_an_update_reads_the_summary_and_one_document(bench: str) -> None:
    made = sentences(bench)
    replies = iter(["Summary: first", "Summary: second", "Summary: third"])
    chat = telling(made, lambda _: next(replies))
    found = await made.summarize([context(method="incremental")])
    _, second, third = texts(chat)
    assert f"\n====\n{TEXTS[0]}\n====\n" in second
    assert "\n====\nfirst\n====\n" in second
    assert TEXTS[1] not in second
    assert f"\n====\n{TEXTS[1]}\n====\n" in third
    assert "\n====\nsecond\n====\n" in third
    assert [row["step"] for row in found] == ["document-1", "update-2", None]


@pytest.mark.parametrize(
    ("query_id", "heading", "question"),
    [("q-talk", "Conversation", "When does the tram line open?"), ("q-news", "Article", "When the tram opens")],
)
async def test_methods_on_cited_bullets_keep_question_and_numbers(
    bench: str, query_id: str, heading: str, question: str
) -> None:
    made = summarizer(bench)
    chat = telling(made, lambda text: "- a [3]" if "exactly 2 bullets" in text else "Summary:\n- b [3][1]")
    incremental = await made.summarize([context(query_id, method="incremental")])
    assert f"\n====\n{heading} 1:\n{TEXTS[0]}\n====\n" in texts(chat)[1]
    assert [row["text"] for row in incremental] == ["- a [3]", "- b [3][1]", "- b [3][1]"]
    await made.summarize([context(query_id, method="hierarchical-once")])
    for text in (texts(chat)[1], texts(chat)[-1]):
        assert question in text
        assert "document numbers in square brackets" in text
    alone = [text for text in texts(chat)[3:6] if f"{heading} 3:" in text]
    assert len(alone) == 1
    assert f"{heading} 1:" not in alone[0]
    assert re.search(r"\(number of \w+: 1\)", alone[0])  # documents shown, not documents of the context


async def test_calibration_asks_every_order_and_merges(bench: str) -> None:
    made = sentences(bench)
    chat = telling(made, lambda _: "Summary: x")
    await made.summarize([context(method="calibration-all")])
    assert len(chat.requests) == 7
    shown = {tuple(text.split(SEPARATOR)[1:4]) for text in texts(chat)[:6]}
    assert shown == set(permutations([TEXTS[0], TEXTS[1], TEXTS[2][:22]]))


async def test_all_models_see_the_same_sampled_orders(bench: str) -> None:
    def asked(name: str, work_id: str, context_id: str) -> list[str]:
        chat = ChatSettings(provider="scripted", model=name, script="obedient")
        definition = ChatSummarizerSettings(kind="chat", chat=chat, prompt="summarize_sentences")
        methods = {"mine": CalibrationMethodSettings(kind="calibration", orders="sampled", n_orders=3)}
        made = Writer(definition, bench, open_chat(chat), methods=methods)
        requests = first_requests(made, context(work_id=work_id, context_id=context_id, method="mine"))
        return [request.messages[0].text for request in requests]

    assert asked("one", "w1", "c") == asked("two", "w2", "c")
    assert len({tuple(asked("one", "w1", f"c{i}")) for i in range(5)}) > 1


async def test_a_step_that_failed_fails_what_reads_it_by_name(bench: str) -> None:
    made = sentences(bench)
    telling(made, lambda text: "<http_500>" if f"\n====\n{TEXTS[0]}\n====" in text else "Summary: x")
    found = await made.summarize([context(method="hierarchical-pairwise")])
    assert [(row["step"], row["failure"]) for row in found] == [
        ("document-1", None),
        ("document-2", "http_500"),
        ("document-3", None),
        ("merge-1-1", "parent_failed: document-2: http_500"),
        (None, "parent_failed: document-2: http_500"),
    ]
    assert all((row["text"] is None) == (row["failure"] is not None) for row in found)


async def test_a_document_that_is_missing_fails_its_own_step(bench: str) -> None:
    made = sentences(bench)
    telling(made, lambda _: "Summary: x")
    found = await made.summarize([context(doc_ids=["d2", "dx", "d1"], method="incremental")])
    assert [row["failure"] for row in found] == [
        None,
        "missing_document: dx",
        "parent_failed: update-2: missing_document: dx",
    ]


async def test_a_merge_beyond_the_window_fails_with_its_reason(bench: str) -> None:
    made = sentences(bench, context_window=1300)
    telling(made, lambda _: "Summary: " + "tram " * 200)
    *parts, final = await made.summarize([context(method="hierarchical-once")])
    assert [row["failure"] for row in parts] == [None] * 3
    assert final["failure"].startswith("context_exceeds_window: ")


@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        ({"method": "magic"}, "unknown_method: magic"),
        ({"n_requested": None}, "missing_n_sentences"),
        ({"query_id": "q-gone"}, "missing_query"),
    ],
)
async def test_a_row_without_a_plan_or_prompt_fails_alone(bench: str, changes: dict[str, Any], failure: str) -> None:
    bad, good = await sentences(bench).summarize([context(**changes), context()])
    assert (bad["text"], bad["failure"], bad["step"]) == (None, failure, None)
    assert good["failure"] is None


async def test_too_many_orders_are_a_failure_that_says_how_many(bench: str) -> None:
    many = {key: context()[key] * 2 for key in ("doc_ids", "doc_numbers", "doc_chars")}
    (row,) = await sentences(bench).summarize([context(method="calibration-all", **many)])
    assert row["failure"].startswith("method_refused: calibration over all orders: expected at most 24 orders")
    assert "720" in row["failure"]


@pytest.mark.parametrize("method", sorted(SHIPPED_METHODS))
@pytest.mark.parametrize("prompt", [None, "summarize_sentences"])
async def test_a_plan_asks_what_the_run_asks(bench: str, method: str, prompt: str | None) -> None:
    made = summarizer(bench, prompt=prompt)
    chat = telling(made, lambda _: "Summary: same")
    row = context(method=method)
    (plan,) = made.made.plans([row])
    same = ChatReply(text="Summary: same", failure=None)
    planned = Recorded(lambda _: {}, lambda _: same)
    value = await carry_out(plan, planned.answer)
    known = first_requests(made, row)
    found = await made.summarize([row])
    assert [(one["step"], one["text"]) for one in value] == [(one["step"], one["text"]) for one in found]
    asked = sorted(request.messages[0].text for request in chat.requests)
    assert {request.messages[0].text for request in known} <= set(asked)
    assert sorted(request.messages[0].text for request in planned.asked) == asked


@pytest.mark.parametrize("method", sorted(SHIPPED_METHODS))
@pytest.mark.parametrize("prompt", [None, "summarize_documents", "summarize_sentences"])
async def test_the_prompts_of_a_method_are_those_its_rows_name(bench: str, method: str, prompt: str | None) -> None:
    """A version that leaves one out would keep summaries of an old wording."""
    made = summarizer(bench, prompt=prompt)
    found = await made.summarize([context(query_id, method=method) for query_id in QUERIES])
    used = {version.split("@")[0] for row in found for version in row["prompt_version"].split("+")}
    declared = set(
        prompts_of(
            ChatSummarizerSettings(kind="chat", chat=ChatSettings(model="m"), prompt=prompt), SHIPPED_METHODS[method]
        )
    )
    assert used <= declared
    if prompt != "summarize_documents":
        assert used == declared
