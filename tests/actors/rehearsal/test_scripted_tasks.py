"""Single replies of the scripted model to prompts about sentences."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from actors.chat.opening import open_chat
from actors.rehearsal.scripted_summaries import PROFILES, Sentences, changed, worth_copying
from actors.rehearsal.scripted_tasks import read_task
from longform.chat.call import ChatReply, ChatRequest, Message
from longform.prompts import load_prompt
from longform.settings.chat import ChatSettings
from longform.text.sentences import sentences
from tests.actors.judges.planted import EXAMPLES, about


def asked(texts: Sequence[str], n_sentences: int = 5, **changes: Any) -> ChatRequest:
    prompt = load_prompt("summarize_sentences")
    text = prompt.render(documents="\n====\n".join(texts), n_sentences=n_sentences, focus="")
    return ChatRequest(messages=(Message("user", text),), max_tokens=100, **changes)


async def reply_of(script: str, request: ChatRequest) -> ChatReply:
    return await open_chat(ChatSettings(provider="scripted", model="m", script=script)).complete(request)


async def test_a_reply_follows_from_the_request_alone() -> None:
    first, second = asked(EXAMPLES[0]), asked(EXAMPLES[1])
    forwards = [await reply_of("profile-u", request) for request in (first, second)]
    backwards = [await reply_of("profile-u", request) for request in (second, first)]
    assert forwards == backwards[::-1]
    others = {(await reply_of("profile-u", asked(EXAMPLES[0], repeat=repeat))).text for repeat in range(5)}
    assert len(others) > 1


async def test_an_empty_document_is_passed_over_and_nothing_at_all_is_no_summary() -> None:
    text = (await reply_of("obedient", asked(["", EXAMPLES[0][0], ""], n_sentences=2))).text or ""
    assert [s.text in EXAMPLES[0][0] for s in sentences(text.removeprefix("Summary: "))] == [True, True]
    assert (await reply_of("obedient", asked(["", ""]))).text == "Summary:"


def test_a_changed_sentence_is_in_no_document_and_still_tells_its_own() -> None:
    for example, texts in enumerate(EXAMPLES):
        for place, text in enumerate(texts):
            for copy in worth_copying(text):
                other = changed(copy, Random(example))
                assert not any(other in text for text in texts)
                assert about(other, texts) == place
                assert len(sentences(other)) == 1


@pytest.mark.parametrize("sentence", ["It is so.", "5", "Ab!", "In 2020 it was 3,500.75 or so."])
def test_whatever_has_a_word_is_changed(sentence: str) -> None:
    assert all(changed(sentence, Random(seed)) != sentence for seed in range(20))


def test_a_lone_document_is_at_the_beginning() -> None:
    lone = Sentences((EXAMPLES[0][0],), 5, None, PROFILES["profile-u"], 0)
    assert lone.faithfulness(0) == pytest.approx(0.95)


def merged(n_sentences: int, seed: int, *summaries: str) -> list[str]:
    text = load_prompt("merge_summaries").render(
        summaries="\n====\n".join(summaries), n_sentences=n_sentences, question=""
    )
    task = read_task(text, seed=seed)
    assert task is not None
    return [sentence.text for sentence in sentences(task.reply.removeprefix("Summary: "))]


@pytest.mark.parametrize("seed", range(10))
def test_a_merge_says_first_what_is_repeated_then_takes_turns(seed: int) -> None:
    summaries = (
        "One was quiet here. Two was running there.",
        "Three was sitting down. Two was running there.",
        "Four was waiting outside.",
    )
    assert merged(1, seed, *summaries) == ["Two was running there."]
    everything = merged(9, seed, *summaries)
    assert everything[0] == "Two was running there."
    assert sorted(everything[1:]) == ["Four was waiting outside.", "One was quiet here.", "Three was sitting down."]
    three = merged(
        4,
        seed,
        "One was quiet here. Two was running there. Three was sitting down.",
        "Four was waiting outside. Five was singing loudly. Six was talking again.",
    )
    assert len({"One was quiet here.", "Two was running there.", "Three was sitting down."} & set(three)) == 2


@pytest.mark.parametrize("name", ["summarize_sentences", "merge_summaries", "update_summary", "judge_support"])
def test_every_prompt_about_sentences_is_understood_and_no_other(name: str) -> None:
    prompt = load_prompt(name)
    values = {field: "4" if field == "n_sentences" else "A text.\nOf {{field}} lines." for field in prompt.fields}
    assert read_task(prompt.render(**values)) is not None
    assert read_task(prompt.render(**values) + "And more.") is None


# ---------------------------------------------------------------- support


def support_request(text: str, sentence: str, *, top_logprobs: int | None = None) -> ChatRequest:
    prompt = load_prompt("judge_support").render(document=text, sentence=sentence)
    return ChatRequest(messages=(Message("user", prompt),), max_tokens=100, top_logprobs=top_logprobs)


@pytest.mark.parametrize("script", ["obedient", *sorted(PROFILES)])
async def test_support_is_judged_by_the_letter(script: str) -> None:
    own, other = EXAMPLES[0][:2]
    copy = worth_copying(own)[1]
    assert (await reply_of(script, support_request(own, copy))).text == "Yes."
    assert (await reply_of(script, support_request(other, copy))).text == "No."
    assert (await reply_of(script, support_request(own, changed(copy, Random(0))))).text == "No."


async def test_log_probabilities_tell_which_document_an_unfaithful_sentence_is_about() -> None:
    texts = EXAMPLES[0]
    wrong = changed(worth_copying(texts[3])[0], Random(0))
    p_yes = []
    for text in texts:
        reply = await reply_of("obedient", support_request(text, wrong, top_logprobs=5))
        assert reply.logprobs is not None
        assert reply.logprobs[0].token == "No"
        p_yes.append(np.exp(dict(reply.logprobs[0].top)["Yes"]))
    assert int(np.argmax(p_yes)) == 3
    assert max(p_yes) < 0.5
    assert (await reply_of("obedient", support_request(texts[0], wrong))).logprobs is None


async def test_the_misbehaving_judge_and_summarise_in_ways_that_cannot_be_read(tmp_path: Path) -> None:
    said_of_support = {(await reply_of("misbehaving", support_request(f"{i}", "x"))).text for i in range(80)}
    assert {"I am not sure.", "No."} <= said_of_support
    said_of_documents = {
        (await reply_of("misbehaving", asked([f"Number {i} is a number."], 1))).text for i in range(80)
    }
    assert "Summary:" in said_of_documents
    assert any(text and not text.startswith("Summary:") and "is a number." in text for text in said_of_documents)
