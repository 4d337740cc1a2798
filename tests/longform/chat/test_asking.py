"""Plans that ask, with replies sent by hand: what is open when some replies are there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from actors.judges.chat import verdicts
from actors.summarizers.summarizer import method_of
from longform.chat.asking import Asks, Name, Recorded, UnansweredError, carry_out
from longform.chat.call import ChatReply, ChatRequest, Message
from longform.judges.kind import Group, Verdict, unjudged
from longform.judges.kinds import KINDS
from longform.settings.methods import SHIPPED_METHODS
from longform.summaries.methods import AskStep, step_replies

SUPPORT = KINDS["support"]
GROUPS = [Group("d", ("The bridge opened in May.",), ("It opened in May.", "It opened in June.", ""))]


def asked(text: str) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), max_tokens=10)


def said(requests: Mapping[Name, ChatRequest], replies: Mapping[str, str]) -> dict[Name, ChatReply]:
    """Return those of *replies*, by the last words asked, that are there."""
    there = {name: replies.get(request.messages[-1].text) for name, request in requests.items()}
    return {name: ChatReply(text=text, failure=None) for name, text in there.items() if text is not None}


class Judging:
    """Asks for the item itself, and reads yes and no."""

    samples = None

    def __init__(self, *, twice: bool = True) -> None:
        self.twice = twice

    def request(self, group: Group, item: str) -> ChatRequest:
        return asked(item)

    def again(self, request: ChatRequest, unreadable: str) -> ChatRequest | None:
        return asked(f"{request.messages[-1].text} ({unreadable})") if self.twice else None

    def read(self, group: Group, request: ChatRequest, reply: ChatReply) -> Verdict:
        known = {"yes": Verdict("supported", 1.0), "no": Verdict("unsupported", 0.0)}
        return known.get(reply.text or "", unjudged("unreadable"))._replace(reply=reply.text)


def opened(replies: Mapping[str, str], *, twice: bool = True) -> list[str]:
    return still_open(verdicts(SUPPORT, GROUPS, Judging(twice=twice)), replies)


def still_open(plan: Asks[Any], replies: Mapping[str, str]) -> list[str]:
    """Return the requests that a plan waits for once it has read all *replies*."""
    recorded = Recorded(partial(said, replies=replies))
    with suppress(UnansweredError):
        asyncio.run(carry_out(plan, recorded.answer))
    return [one.messages[-1].text for one in recorded.open]


def test_a_second_question_is_open_as_soon_as_a_reply_cannot_be_read() -> None:
    """The other pair is still waited for; a sentence without text is not asked about."""
    assert opened({}) == ["It opened in May.", "It opened in June."]
    assert opened({"It opened in May.": "hm"}) == ["It opened in June.", "It opened in May. (hm)"]
    assert opened({"It opened in May.": "hm"}, twice=False) == ["It opened in June."]
    assert opened({"It opened in May.": "yes", "It opened in June.": "no"}) == []


def prices(
    plan: Asks[Any], replies: Mapping[str, str], *, reply: str | None, assumes: bool = True
) -> tuple[list[str], Any]:
    """Return the requests of a plan, and its value; a reply that is not there is assumed to be *reply*."""
    assumed = ChatReply(text=reply, failure=None if reply else "not asked yet")
    recorded = Recorded(partial(said, replies=replies), (lambda _: assumed) if assumes else None)
    value = None
    with suppress(UnansweredError):
        value = asyncio.run(carry_out(plan, recorded.answer))
    return [one.messages[-1].text for one in recorded.asked], value


def test_a_price_counts_the_second_questions_that_stored_replies_lead_to() -> None:
    replies = {"It opened in May.": "hm", "It opened in May. (hm)": "yes"}
    plan = verdicts(SUPPORT, GROUPS, Judging())
    found, _ = prices(plan, replies, reply=None)
    assert found == ["It opened in May.", "It opened in June.", "It opened in May. (hm)"]


def judged(*rounds: Mapping[str, str]) -> list[Verdict]:
    plan = verdicts(SUPPORT, GROUPS, Judging())
    new = next(plan)
    try:
        for replies in rounds:
            new = plan.send(said(new, replies))
    except StopIteration as end:
        return list(end.value[0])
    raise AssertionError(f"still open: {new}")


def test_the_second_reply_decides_if_it_can_be_read() -> None:
    first = {"It opened in May.": "yes", "It opened in June.": "hm"}
    read, decided, empty = judged(first, {"It opened in June. (hm)": "no"})
    assert (read.answer, decided.answer, decided.reply) == ("supported", "unsupported", "no")
    assert empty.answer is None
    unread = judged(first, {"It opened in June. (hm)": "hm again"})[1]
    assert (unread.answer, unread.failure, unread.reply) == (None, "unreadable", "hm again")


def steps_open(method: str, replies: Mapping[str, str]) -> list[str]:
    def request(step: AskStep, texts: Sequence[str]) -> ChatRequest:
        return asked(f"{step.name}({','.join(texts)})")

    plan = step_replies(method_of(SHIPPED_METHODS[method]).plan(3), request, lambda step, reply: reply)
    return still_open(plan, replies)


def test_a_step_is_open_once_the_replies_that_it_reads_are_there() -> None:
    assert steps_open("incremental", {}) == ["document-1()"]
    assert steps_open("incremental", {"document-1()": "a", "update-2(a)": "b"}) == ["final(b)"]
    assert steps_open("incremental", {"document-1()": "a", "update-2(a)": "b", "final(b)": "c"}) == []
    there = {"document-1()": "a", "document-2()": "b"}
    assert steps_open("hierarchical-pairwise", there) == ["document-3()", "merge-1-1(a,b)"]


def steps_priced(replies: Mapping[str, str], *, assumes: bool = True) -> tuple[list[str], Any]:
    def request(step: AskStep, texts: Sequence[str]) -> ChatRequest:
        return asked(f"{step.name}({','.join(texts)})")

    plan = step_replies(method_of(SHIPPED_METHODS["incremental"]).plan(3), request, lambda step, reply: reply)
    return prices(plan, replies, reply="?", assumes=assumes)


def test_a_price_assumes_only_the_texts_that_are_not_there() -> None:
    """If the first of three steps is paid, the second is known, and the last alone reads an assumed text."""
    noted, value = steps_priced({"document-1()": "a"})
    assert noted == ["document-1()", "update-2(a)", "final(?)"]
    assert value["final"].text == "?"


def test_without_assumed_replies_a_price_ends_at_the_first_that_is_not_there() -> None:
    assert steps_priced({"document-1()": "a"}, assumes=False) == (["document-1()", "update-2(a)"], None)
    there = {"document-1()": "a", "update-2(a)": "b", "final(b)": "c"}
    assert steps_priced(there, assumes=False)[1]["final"].text == "c"
