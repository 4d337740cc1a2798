"""A plan carried out without I/O by the scripted writer and verifier, with every question and reply kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from actors.synthesis.scripted import say
from longform.keys import content_key
from longform.prompts import Prompt, load_prompt
from longform.synthesis.asking import Ask, Plan, Reply, carried_out
from longform.synthesis.written.settings import Caps, ConversationTopic, NewsTopic, Sizes

Value = TypeVar("Value")

NEWS = NewsTopic(domain="news", title="A harbour town plans its future", seed_articles=("The town has a harbour.",))
TALK = ConversationTopic(
    domain="conversation", scenario="Three clerks prepare a report", participants=("Ann", "Bo", "Cy")
)
SIZES = Sizes(
    subtopics=4,
    insights=4,
    least_insights=3,
    documents=14,
    words=120,
    subtopics_per_document=2,
    insights_per_document=6,
    least_documents=5,
)
CAPS = Caps(subtopics=5, insights=5, edits=5, chapters=10, queries=3, replies=4)


@dataclass
class Scripted:
    """Answers asks by the names of two models; keeps what was asked and said."""

    writer: str = "scripted-writer:seed=1"
    verifier: str = "scripted-verifier:seed=1"
    said: list[tuple[Ask, str, Reply]] = field(default_factory=list)

    def run(self, plan: Plan[Value]) -> Value:
        return carried_out(plan, lambda asks: [self.reply(ask) for ask in asks])

    def reply(self, ask: Ask) -> Reply:
        prompt = _prompt(ask.prompt).render(**ask.fields)
        model = self.verifier if ask.role == "verifier" else self.writer
        said = say(prompt, model)
        assert said is not None, (ask.prompt, model)
        call = content_key(model, prompt)
        reply = Reply(None, "refusal", call) if said.is_refusal else Reply(said.text, None, call)
        self.said.append((ask, prompt, reply))
        return reply

    def asked(self, prompt: str) -> list[Ask]:
        return [ask for ask, _, _ in self.said if ask.prompt == prompt]


@cache
def _prompt(name: str) -> Prompt:
    return load_prompt(name)


class Told:
    """Answers asks by what was told for each prompt, the last of it again and again; keeps what was asked."""

    def __init__(self, **replies: Sequence[Any]) -> None:
        self._replies = {f"synthesize_{name}": list(texts) for name, texts in replies.items()}
        self.asks: list[Ask] = []

    def run(self, plan: Plan[Value]) -> Value:
        return carried_out(plan, lambda asks: [self._reply(ask) for ask in asks])

    def _reply(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        replies = self._replies[ask.prompt]
        text = replies.pop(0) if len(replies) > 1 else replies[0]
        return Reply(None, text[1:]) if text.startswith("!") else Reply(text, None, f"call {len(self.asks)}")
