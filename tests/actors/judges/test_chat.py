from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import pytest

from actors.chat.opening import Asking
from actors.judges.chat import ALTERNATIVES, ChatJudge
from actors.judges.opening import make_judge
from longform.chat.call import Capabilities, ChatReply, ChatRequest, TokenLogprobs, call_id, failed
from longform.errors import UsageError
from longform.judges.kind import Group
from longform.judges.kinds.support import NO_SENTENCE, SUPPORT
from longform.judges.replies import UNREADABLE
from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings

DOCUMENT = "The tram opens in June. Swans nest by the harbour."
GROUP = Group("d", (DOCUMENT,), ("The tram opens in June.", "The tram opens in May.", "Swans nest."))
UNKNOWN = Capabilities()


class Sayer:
    """A model that says one thing to all, another where the sentence holds a word, a third when asked again."""

    def __init__(
        self, says: str | ChatReply, *, again: str | None = None, accepted: Capabilities = UNKNOWN, **by_word: str
    ):
        self.accepted = accepted
        self.requests: list[ChatRequest] = []
        self._says, self._again, self._by_word = says, again, by_word

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        if len(request.messages) > 1:
            return ChatReply(text=self._again, failure=None) if self._again else failed("http_500")
        asked = request.messages[0].text.rpartition("<sentence>")[2]
        says = next((text for word, text in self._by_word.items() if word in asked), self._says)
        return says if isinstance(says, ChatReply) else ChatReply(text=says, failure=None)

    async def close(self) -> None: ...


CHAT = ChatSettings(provider="scripted", model="fake", script="obedient", max_tokens=100)


def judge(chat: Sayer, *, prompts_folder: str | None = None, **settings: Any) -> ChatJudge:
    made = ChatJudgeSettings.model_validate({"kind": "chat", "task": "support", "chat": CHAT} | settings)
    return ChatJudge(SUPPORT, "mine", made, Asking(chat=chat, prompts_folder=prompts_folder))


async def test_each_sentence_has_the_verdict_of_its_own_reply() -> None:
    chat = Sayer("Yes. It says so.", May="No. It says June.", Swans="Maybe.", again="No, only by the harbour.")
    found = (await judge(chat).ask([GROUP]))[0]
    assert [verdict.answer for verdict in found] == ["supported", "unsupported", "unsupported"]
    assert [verdict.reply for verdict in found][1:] == ["No. It says June.", "No, only by the harbour."]
    assert [verdict.probability for verdict in found] == [None] * 3
    assert [SUPPORT.number(verdict.answer, verdict.probability) for verdict in found] == [1, 0, 0]


async def test_the_document_stands_first_and_the_sentence_last() -> None:
    """A server reads the shared beginning of a document's prompts once."""
    chat = Sayer("Yes.")
    await judge(chat).ask([GROUP])
    prompts = [request.messages[0].text for request in chat.requests]
    ends = [text.rindex(sentence) for text, sentence in zip(prompts, GROUP.items, strict=True)]
    assert len({text[:end] for text, end in zip(prompts, ends, strict=True)}) == 1
    assert DOCUMENT in prompts[0][: ends[0]]


async def test_first_questions_about_a_document_go_out_together_and_second_ones_by_themselves() -> None:
    chat = Sayer("I am not sure.", again="Yes.")
    await judge(chat).ask([GROUP, GROUP._replace(repeat=1), Group("e", ("Another document.",), ("Swans nest.",))])
    first, second = ([one for one in chat.requests if (len(one.messages) > 1) is again] for again in (False, True))
    assert len(first) == len(second) == 7
    texts = {one.shared: one.messages[0].text.split("<sentence>")[0] for one in first}
    assert len(texts) == len(set(texts.values())) == 2
    assert {one.shared for one in second} == {None}


async def test_a_reply_that_cannot_be_read_is_asked_for_once_more() -> None:
    chat = Sayer("I am not sure.", again="The eyes have it")
    (verdict,) = (await judge(chat).ask([GROUP._replace(items=("Swans nest.",))]))[0]
    assert (verdict.answer, verdict.failure, verdict.reply) == (None, UNREADABLE, "The eyes have it")
    assert SUPPORT.number(verdict.answer, verdict.probability) is None
    assert [len(request.messages) for request in chat.requests] == [1, 3]
    assert verdict.call_id == call_id(CHAT, chat.requests[1])


async def test_a_second_call_that_fails_leaves_the_first_reply() -> None:
    (verdict,) = (await judge(Sayer("I am not sure.")).ask([GROUP._replace(items=("Swans nest.",))]))[0]
    assert (verdict.failure, verdict.reply) == (UNREADABLE, "I am not sure.")


async def test_the_release_reads_nearly_anything_and_asks_nobody_twice() -> None:
    chat = Sayer("I am not sure.", again="Yes.", Swans="Maybe.")
    found = (await judge(chat, fidelity="release").ask([GROUP]))[0]
    assert [verdict.answer for verdict in found] == ["unsupported", "unsupported", None]
    assert found[2].failure == UNREADABLE
    assert len(chat.requests) == 3


@pytest.mark.parametrize("failure", ["http_429", "length", "timeout", "content_filter"])
@pytest.mark.parametrize("fidelity", ["ours", "release"])
async def test_a_call_that_failed_is_unjudged_with_its_reason(failure: str, fidelity: str) -> None:
    chat = Sayer(failed(failure))
    found = (await judge(chat, fidelity=fidelity).ask([GROUP]))[0]
    assert [(verdict.answer, verdict.probability, verdict.failure) for verdict in found] == [(None, None, failure)] * 3
    assert len(chat.requests) == 3


async def test_equal_cells_are_asked_about_once_and_empty_ones_never() -> None:
    chat = Sayer("Yes.")
    groups = [GROUP, Group("again", (DOCUMENT,), ("Swans nest.", "")), Group("empty", (" ",), ("Swans nest.",))]
    found = await judge(chat).ask(groups)
    assert len(chat.requests) == 3
    assert found[1][0] == found[0][2]
    assert found[1][1].failure == NO_SENTENCE
    assert (found[2][0].answer, found[2][0].call_id) == ("unsupported", None)


def with_logprobs(text: str, **likely: float) -> ChatReply:
    top = tuple((word, log(p)) for word, p in likely.items())
    return ChatReply(text=text, failure=None, logprobs=(TokenLogprobs(*top[0], top),))


async def test_the_probability_comes_from_the_first_word() -> None:
    chat = Sayer(with_logprobs("Yes. So it says.", Yes=0.6, No=0.2))
    found = (await judge(chat, probability=True).ask([GROUP]))[0]
    assert [verdict.probability for verdict in found] == pytest.approx([0.75] * 3)
    assert {request.top_logprobs for request in chat.requests} == {ALTERNATIVES}


async def test_without_log_probabilities_the_answer_stands() -> None:
    found = (await judge(Sayer("Yes. So it says."), probability=True).ask([GROUP]))[0]
    assert {(verdict.answer, verdict.probability, verdict.failure) for verdict in found} == {("supported", None, None)}


async def test_a_probability_that_was_not_asked_for_is_not_given() -> None:
    chat = Sayer(with_logprobs("Yes. So it says.", Yes=0.6, No=0.2))
    found = (await judge(chat).ask([GROUP]))[0]
    assert {verdict.probability for verdict in found} == {None}
    assert {request.top_logprobs for request in chat.requests} == {None}


def test_a_model_without_log_probabilities_is_refused_before_the_first_call() -> None:
    chat = Sayer("Yes.", accepted=Capabilities(logprobs=False))
    with pytest.raises(UsageError, match="does not accept logprobs"):
        judge(chat, probability=True)
    judge(chat)
    assert chat.requests == []


def test_a_prompt_for_another_task_is_refused() -> None:
    with pytest.raises(UsageError, match="not one for support"):
        judge(Sayer("Yes."), prompt="judge_coverage_3")


async def test_a_folder_may_hold_another_wording(tmp_path: Path) -> None:
    header = '+++\nsource = "s"\nchanges = "c"\nfields = ["document", "sentence"]\n+++\n'
    (tmp_path / "judge_support.md").write_text(header + "{{document}} <sentence> {{sentence}}")
    chat = Sayer("Yes.")
    made = judge(chat, prompts_folder=str(tmp_path))
    await made.ask([GROUP])
    assert chat.requests[0].messages[0].text == f"{DOCUMENT} <sentence> {GROUP.items[0]}\n"
    judges = {"mine": ChatJudgeSettings(kind="chat", task="support", chat=CHAT)}
    ours, theirs = (make_judge("mine", judges, prompts=folder).version for folder in (None, str(tmp_path)))
    assert ours.prompt != theirs.prompt
    assert ours.work != theirs.work


async def test_a_document_beyond_the_window_is_counted() -> None:
    chat = Sayer("Yes.", accepted=Capabilities(context_window=300))
    await judge(chat).ask([GROUP])
    assert all((request.input_tokens or 0) > 100 for request in chat.requests)
