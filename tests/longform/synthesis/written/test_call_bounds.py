"""Bounds on the calls of a synthesis equal its calls if nothing, or everything, is rejected."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from longform.settings.chat import ChatSettings
from longform.synthesis.asking import Ask, Log, Reply
from longform.synthesis.recipe import PlannedCalls
from longform.synthesis.written.documents import Brief, write_document
from longform.synthesis.written.insights import OutlineJob
from longform.synthesis.written.outline import Outline, known_insights, write_outline
from longform.synthesis.written.recipe import document_calls, outline_calls
from longform.synthesis.written.settings import ModelSynthesis
from tests.longform.synthesis.synthesizing import CAPS, NEWS, SIZES, TALK, Scripted

CHAT = ChatSettings(model="m")
CONFIG = ModelSynthesis(
    name="n", seed=1, topics=(NEWS, TALK), sizes=SIZES, caps=CAPS, writer=CHAT, verifier=CHAT, outsider=CHAT
)
TOPICS = pytest.mark.parametrize("topic", [NEWS, TALK], ids=["news", "conversation"])
ASSIGNED = tuple(range(6))


def planned(steps: list[PlannedCalls], bound: str) -> Counter[str]:
    return sum((Counter({step.prompt: getattr(step, bound)}) for step in steps), Counter())


def carry_out(scripted: Any, topic: Any) -> tuple[Counter[str], Counter[str]]:
    """Prompts that were asked for one outline, and for one document of the outline that a right writer made."""
    log, right = Log(), Scripted()
    outline = right.run(write_outline(OutlineJob(topic=topic, sizes=SIZES, caps=CAPS), log))
    scripted.run(write_outline(OutlineJob(topic=topic, sizes=SIZES, caps=CAPS), log))
    scripted.run(known_insights(outline, topic, CAPS, log))
    of_outline = Counter(ask.prompt for ask in scripted.asks)
    scripted.asks.clear()
    scripted.run(write_document(brief(topic, outline), log))
    return of_outline, Counter(ask.prompt for ask in scripted.asks)


def brief(topic: Any, outline: Outline) -> Brief:
    sized = {"doc_index": 0, "n_documents": 14, "words": SIZES.words, "caps": CAPS, "reread": True}
    return Brief(topic=topic, outline=outline, assigned=ASSIGNED, **sized)


class Right(Scripted):
    @property
    def asks(self) -> list[Any]:
        return self.said

    def reply(self, ask: Ask) -> Reply:
        reply = super().reply(ask)
        self.said[-1] = ask
        return reply


@TOPICS
def test_where_nothing_is_rejected_the_lowest_number_is_asked(topic: Any) -> None:
    of_outline, of_document = carry_out(Right(), topic)

    assert of_outline == planned(outline_calls(CONFIG, topic), "lowest")
    assert of_document == planned(document_calls(CONFIG, topic, 1), "lowest")


class Contrary:
    """Rejects whatever may be rejected, in each reply but the last that is read."""

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self.right = Scripted()

    run = Scripted.run

    def reply(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        if ask.role == "verifier" and ask.fields.get("notes", "").count("invalid_json") < CAPS.replies - 1:
            return Reply("{", None)
        if ask.prompt == "synthesize_article" and ask.fields["notes"].count("invalid_json") < CAPS.replies - 1:
            return Reply("{", None)
        return self._wrong(ask)

    def _wrong(self, ask: Ask) -> Reply:
        if ask.prompt == "synthesize_find":
            n = len(json.loads(ask.fields["insights"]))
            # as many as are assigned: they are what is looked for, and lacking; of others one is found
            return Reply(json.dumps({"present": [] if n == len(ASSIGNED) else [1]}), None)
        if ask.prompt in ("synthesize_remove", "synthesize_add"):
            return Reply(json.dumps({"title": "t", "text": f"{len(self.asks)}"}), None)
        if ask.prompt == "synthesize_categorize":
            return Reply('{"subtopic": 0}', None)
        if ask.prompt == "synthesize_classify":
            return Reply('{"subtopic": 0, "insights": []}', None)
        return self.right.reply(ask)


@TOPICS
def test_where_every_verdict_is_against_it_the_highest_number_is_asked_of_documents(topic: Any) -> None:
    _, of_document = carry_out(Contrary(), topic)
    most = planned(document_calls(CONFIG, topic, 1), "highest")
    if topic is TALK:
        del most["synthesize_find"]  # no chapter was accepted, so that there is nothing to read again

    assert of_document == most


@TOPICS
def test_no_outline_asks_more_often_than_the_highest_number(topic: Any) -> None:
    """Insights that are all sorted elsewhere: every list goes to its cap; the lists of subtopics are right at once."""
    of_outline, _ = carry_out(Contrary(), topic)
    most = planned(outline_calls(CONFIG, topic), "highest")

    assert all(of_outline[prompt] <= most[prompt] for prompt in of_outline)
    assert of_outline["synthesize_insights"] == most["synthesize_insights"]
    assert of_outline["synthesize_duplicates"] == most["synthesize_duplicates"]


@TOPICS
def test_documents_multiply(topic: Any) -> None:
    one, seven = (document_calls(CONFIG, topic, n) for n in (1, 7))

    assert [(step.lowest, step.highest) for step in seven] == [(7 * step.lowest, 7 * step.highest) for step in one]
