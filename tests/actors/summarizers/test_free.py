"""Summaries by writers that are not told how many bullets are wanted."""

from pathlib import Path

import pytest

from actors.chat.opening import open_chat
from actors.summarizers.prompts import check_prompts, prompts_of
from longform.errors import UsageError
from longform.settings.chat import ChatSettings, ChatSummarizerSettings, OfflineSummarizerSettings
from longform.settings.methods import SHIPPED_METHODS
from longform.summaries.methods import USUAL_BULLETS
from longform.text.citations import bullets
from tests.actors.summarizers.summarizing import Writer, context, recorded, write_bench

CHAT = ChatSettings(provider="scripted", model="fake", script="obedient")
FREE = ChatSummarizerSettings(kind="chat", chat=CHAT, bullets="free")


@pytest.mark.parametrize("query_id", ["q-news", "q-talk", "q-any"])
async def test_the_prompt_names_no_number_of_bullets(query_id: str, tmp_path: Path) -> None:
    made = Writer(FREE, write_bench(tmp_path), open_chat(CHAT))
    chat = recorded(made)

    (row,) = await made.summarize([context(query_id, n_requested=None)])

    text = chat.requests[0].messages[0].text
    assert "as many bullets as there are insights" in text
    assert "exactly" not in text
    assert "None" not in text
    assert row["n_requested"] is None
    assert row["prompt_version"].split("@")[0].endswith("_free")


async def test_the_scripted_writer_takes_the_usual_number(tmp_path: Path) -> None:
    made = Writer(FREE, write_bench(tmp_path), open_chat(CHAT))

    (row,) = await made.summarize([context("q-any", n_requested=None)])

    assert 0 < len(bullets(row["text"] or "")) <= USUAL_BULLETS


def test_a_number_that_is_told_leaves_identities_and_prompts_as_they_were() -> None:
    told = ChatSummarizerSettings(kind="chat", chat=CHAT)
    assert "bullets" not in told.identity
    assert "bullets" not in OfflineSummarizerSettings(kind="offline").identity
    assert FREE.identity["bullets"] == "free"
    plain = SHIPPED_METHODS["plain"]
    assert not {name for name in prompts_of(told, plain) if name.endswith("_free")}
    assert {f"{name}_free" for name in prompts_of(told, plain)} == set(prompts_of(FREE, plain))


def test_what_needs_a_number_is_refused() -> None:
    with pytest.raises(UsageError, match="ask for a number of sentences"):
        prompts_of(FREE, SHIPPED_METHODS["incremental"])
    with pytest.raises(UsageError, match=r"bullets: free is for prompts of .* found 'summarize_sentences'"):
        check_prompts(FREE.model_copy(update={"prompt": "summarize_sentences"}))
