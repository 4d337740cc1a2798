"""A chat model that rates: the mean of its ratings, by log probabilities or samples, and never the likeliest alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log
from typing import Any

import pytest
from pydantic import ValidationError

from actors.chat.opening import Asking
from actors.judges.chat import ChatJudge
from actors.judges.opening import make_judge
from longform.chat.call import Capabilities, ChatReply, ChatRequest, TokenLogprobs
from longform.errors import UsageError
from longform.judges.cards import judged_by
from longform.judges.kind import NO_PROBABILITY, Group, Verdict
from longform.judges.kinds.reference import REFERENCE, UNREADABLE
from longform.keys import content_key
from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings

GROUP = Group("s", ("A summary.",), ("A reference.",))
CHAT = ChatSettings(provider="scripted", model="fake", script="obedient", max_tokens=1)
UNKNOWN = Capabilities()


class Rater:
    """A model that gives its replies in turn, by the number of the sample."""

    def __init__(self, *says: str, logprobs: Sequence[TokenLogprobs] | None = None, accepted: Capabilities = UNKNOWN):
        self.accepted = accepted
        self.requests: list[ChatRequest] = []
        self._says, self._logprobs = says, logprobs

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return ChatReply(text=self._says[request.repeat], failure=None, logprobs=self._logprobs)

    async def close(self) -> None: ...


def settings(**more: Any) -> ChatJudgeSettings:
    return ChatJudgeSettings.model_validate({"kind": "chat", "task": "reference", "chat": CHAT} | more)


async def rated(chat: Rater, **more: Any) -> Verdict:
    asked = ChatJudge(REFERENCE, "mine", settings(**more), Asking(chat=chat, prompts_folder=None))
    ((verdict,),) = await asked.ask([GROUP])
    assert len(next(asked.plan([GROUP]))) == (more.get("samples") or 1)
    return verdict


async def test_a_rating_without_a_digit_among_the_log_probabilities_is_unjudged_and_not_asked_for_again() -> None:
    other = TokenLogprobs("four", log(0.9), (("four", log(0.9)),))
    for logprobs in (None, (), (other,)):
        chat = Rater("4", logprobs=logprobs)
        verdict = await rated(chat, probability=True)
        assert (verdict.answer, verdict.probability, verdict.failure) == (None, None, NO_PROBABILITY)
        assert (verdict.reply, len(chat.requests)) == ("4", 1)
    assert (await rated(Rater("4"))).answer == "4"  # probabilities were not asked for


async def test_samples_are_calls_of_their_own_and_the_mean_of_those_that_can_be_read_counts() -> None:
    chat = Rater("5", "4", "I cannot say.", "5")
    verdict = await rated(chat, samples=4)
    assert verdict.probability == pytest.approx((1 + 0.75 + 1) / 3, abs=1e-6)
    assert verdict.answer == "5"
    assert json.loads(verdict.reply or "") == ["5", "4", "I cannot say.", "5"]
    assert [request.repeat for request in chat.requests] == [0, 1, 2, 3]
    assert {request.top_logprobs for request in chat.requests} == {None}


async def test_samples_of_which_none_can_be_read_are_unjudged_with_the_reason() -> None:
    verdict = await rated(Rater("Well.", "Hm."), samples=2)
    assert (verdict.answer, verdict.probability, verdict.failure) == (None, None, UNREADABLE)


def test_a_model_without_log_probabilities_is_refused_unless_it_is_sampled() -> None:
    blind = Rater("4", accepted=Capabilities(logprobs=False))
    asking = Asking(chat=blind, prompts_folder=None)
    with pytest.raises(UsageError, match=r"does not accept logprobs.* or set `samples`"):
        ChatJudge(REFERENCE, "mine", settings(probability=True), asking)
    ChatJudge(REFERENCE, "mine", settings(samples=3), asking)
    assert blind.requests == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"samples": 3, "probability": True}, "`samples` or `probability: true`, found both"),
        ({"samples": 3, "chat": CHAT.model_copy(update={"temperature": 0.0})}, "3 samples at temperature 0 are one"),
        ({"samples": 3, "task": "support"}, "`samples` is not for task support"),
        ({"references": "first", "task": "key_point"}, "`references` is not for task key_point"),
    ],
)
def test_settings_that_say_nothing_or_two_things_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        settings(**changes)


def test_identities_without_the_newer_settings_are_as_before() -> None:
    """The key was made before these settings were."""
    assert settings().identity.keys() == {"task", "kind", "chat", "prompt", "probability"}
    assert settings().identity == settings(references=None, samples=None).identity
    assert len({content_key(settings(**one).identity) for one in ({}, {"samples": 2}, {"references": "first"})}) == 3


def test_a_rubric_is_part_of_verdicts_and_cards() -> None:
    judges = {"relevance": settings(), "consistency": settings(prompt="judge_consistency")}
    made = {name: make_judge(name, judges) for name in judges}
    assert made["consistency"].version.work != made["relevance"].version.work
    assert made["consistency"].version.prompt.startswith("judge_consistency@")
    named = [judged_by(name, judges, {one: judge.version for one, judge in made.items()}) for name in judges]
    assert named[0] != named[1]
