"""Judges that prompt a chat model of the replica. Every call stands in the ledger, and is looked for there first."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from actors.chat.call_context import CallContext
from actors.chat.governor import OpenDesk
from actors.chat.model import ChatModel
from actors.chat.opening import REPAIR_PROMPT, Asking, first_asked, load_prompt, open_chat
from actors.chat.pool import ChatPool
from actors.judges.chat_coverage import AskedVerdict, ChatCoverage, CoverageGroup
from actors.judges.chat_support import ChatSupportJudge
from actors.ledger.keeper import LedgerKeeper, LocalKeeper
from actors.serving.messages import About
from longform.chat.call import Capabilities, ChatReply, ChatRequest, call_id
from longform.chat.prices import FREE
from longform.keys import content_key
from longform.settings.chat import ChatSettings
from longform.settings.judges import ChatJudgeSettings, ChatSupportJudgeSettings
from longform.settings.strict import Strict
from serve.chat_workers import LoopThread
from serve.engine import Work
from serve.judges.cards import card_fields, coverage_card, support_card
from serve.judges.items import InsightsItem, SupportItem, support_groups
from serve.settings import ServedCoverage, ServedSupport

_T = TypeVar("_T")


class ChatSupportWorker:
    """
    Items as of `SupportWorker`; a unit is a cell, (document, sentence).

    Raises:
        UsageError: The model cannot be loaded, the prompt cannot be used, or the card is another's.
    """

    item: type[Strict] = SupportItem

    def __init__(self, name: str, settings: ServedSupport, judge: ChatSupportJudgeSettings, *, ledger: str) -> None:
        self._model = LedgeredModel(judge.chat, name, ledger)
        self._judge = ChatSupportJudge(name, judge, Asking(chat=self._model.chat))
        prompts = _prompt_versions(judge.prompt)
        self.about = About(
            name,
            "judge",
            version=content_key(judge.model_dump(mode="json"), prompts),
            task="support",
            score_kind="probability",
            **card_fields(support_card(settings, content_key(prompts))),
            estimated=False,
        )

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        return [(item["document"], sentence) for sentence in item["sentences"]]

    def run(self, units: list[Any]) -> list[Work]:
        asked = support_groups(units)
        judged, calls = self._model.run(self._judge.judge(asked))
        found = {
            (group.text, sentence): calls.work(verdict._asdict())
            for group, row in zip(asked, judged, strict=True)
            for sentence, verdict in zip(group.sentences, row, strict=True)
        }
        return [found[document, sentence] for document, sentence in units]


class ChatCoverageWorker:
    """
    A unit is a cell, (bullets, insight). The model answers in words, so that no verdict has a probability.

    Raises:
        UsageError: The model cannot be loaded, the prompt cannot be used, or the card is another's.
    """

    item: type[Strict] = InsightsItem

    def __init__(self, name: str, settings: ServedCoverage, judge: ChatJudgeSettings, *, ledger: str) -> None:
        self._model = LedgeredModel(judge.chat, name, ledger)
        self._judge = ChatCoverage(name, judge, Asking(chat=self._model.chat))
        self.about = About(
            name,
            "judge",
            version=content_key(judge.model_dump(mode="json"), _prompt_versions(judge.prompt)),
            task="coverage",
            **card_fields(coverage_card(settings, self._judge.prompt_version)),
            estimated=False,
        )

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        bullets = tuple(item["bullets"])
        return [(bullets, insight) for insight in item["insights"]]

    def run(self, units: list[Any]) -> list[Work]:
        asked = coverage_groups(units)
        judged, calls = self._model.run(self._judge.judge(asked))
        found = {
            (group.bullets, insight): calls.work(_coverage_verdict(verdict))
            for group, row in zip(asked, judged, strict=True)
            for insight, verdict in zip(group.insights, row, strict=True)
        }
        return [found[bullets, insight] for bullets, insight in units]


def coverage_groups(units: Sequence[tuple[tuple[str, ...], str]]) -> list[CoverageGroup]:
    """(bullets, insight) pairs, the insights of one summary together, each once."""
    groups: dict[tuple[str, ...], dict[str, None]] = {}
    for bullets, insight in units:
        groups.setdefault(bullets, {})[insight] = None
    return [CoverageGroup(content_key(bullets), bullets, list(insights)) for bullets, insights in groups.items()]


def _coverage_verdict(asked: AskedVerdict) -> dict[str, Any]:
    return {
        "answer": asked.verdict.answer,
        "probability": None,
        "linked_bullet": asked.verdict.linked_unit,
        "failure": asked.verdict.failure,
        "link_failure": asked.verdict.link_failure,
        "reply": asked.reply,
        "call_id": asked.call_id,
    }


def _prompt_versions(prompt: str) -> list[str]:
    return [load_prompt(name, None).version for name in (prompt, REPAIR_PROMPT)]


# ---------------------------------------------------------------- the model


class CallsOfBatch(NamedTuple):
    """
    Attributes:
        replies: Call -> the replies to all calls of its question, by their ids: a second one if the first could not be
            read.
        made: The ids of those that the model answered now; the ledger had the others.
    """

    replies: Mapping[str, Mapping[str, ChatReply]]
    made: Collection[str]

    def work(self, verdict: dict[str, Any]) -> Work:
        """The work of a *verdict*, whose `call_id` names the call that it was read from; null: nothing was asked."""
        replies = self.replies.get(verdict["call_id"], {})
        used = [reply.usage for reply in replies.values()]
        known = (reply.text is not None and called not in self.made for called, reply in replies.items())
        return Work(
            [verdict],
            sum((usage.input_tokens or 0) + (usage.cached_tokens or 0) for usage in used),
            output_tokens=sum((usage.output_tokens or 0) + (usage.reasoning_tokens or 0) for usage in used),
            from_ledger=bool(replies) and all(known),
            lasting=False,  # the ledger has the calls
            settled=verdict["call_id"] is None,
        )


class LedgeredModel:
    """
    A model of this process behind the pool.

    Raises:
        UsageError: It cannot be loaded.
    """

    def __init__(self, settings: ChatSettings, name: str, ledger: str) -> None:
        self._loop = LoopThread()
        self._made = Calls(settings, open_chat(settings))
        self._calls = Calls(settings, local_pool(self._made, settings, name, ledger))

    @property
    def chat(self) -> ChatModel:
        """Return the chat model of the judge."""
        return self._calls

    def run(self, work: Coroutine[Any, Any, _T]) -> tuple[_T, CallsOfBatch]:
        """Return the result of *work*, and the calls it made; blocks."""
        found = self._loop.run(work)
        return found, CallsOfBatch(self._calls.taken(), self._made.taken().keys())


class Calls:
    """A `ChatModel` that notes the replies that pass through it, as `CallsOfBatch` has them."""

    def __init__(self, settings: ChatSettings, chat: ChatModel) -> None:
        self._settings, self._chat = settings, chat
        self._replies: dict[str, dict[str, ChatReply]] = {}

    @property
    def accepted(self) -> Capabilities:
        return self._chat.accepted

    async def complete(self, request: ChatRequest) -> ChatReply:
        reply = await self._chat.complete(request)
        called = call_id(self._settings, request)
        of_question = self._replies.setdefault(call_id(self._settings, first_asked(request)), {})
        of_question[called] = reply
        self._replies[called] = of_question
        return reply

    async def close(self) -> None:
        await self._chat.close()

    def taken(self) -> dict[str, dict[str, ChatReply]]:
        """Return the calls since the last time."""
        found, self._replies = self._replies, {}
        return found


def local_pool(model: ChatModel, settings: ChatSettings, name: str, ledger: str) -> ChatPool:
    """A model of this process behind the pool, with a keeper of its own: each replica is a writer of the ledger."""
    job = f"serve-{name}-{uuid.uuid4().hex[:8]}"
    return ChatPool(
        model,
        settings,
        CallContext(job=job, stage=f"judge {name}", ledger=ledger),
        desk=OpenDesk(),
        keeper=LocalKeeper(LedgerKeeper(ledger, job)),
        price=FREE,
    )
