"""
A chat model without a model, for dry runs and tests: its reply follows from the content of the request alone.

    obedient      quotes a statement a bullet and cites the documents that hold it; judges coverage by shared words
    wavering      obedient, but one answer in five is another one when the same is asked again: for repeats
    misbehaving   fails in one of the ways that real models and servers do, a different one for different requests
    profile-u     obedient, but its sentences are faithful by their document's place: most at both ends
    profile-lead  the same, falling from the first document to the last
    profile-flat  the same everywhere
    synthesis     the writer or the verifier of a synthesis, by the model's name (`say`)

It reads the project's own prompts; for bullets and their coverage, others too as long as they keep its marks: the
headings of the documents, the bullets as JSON, "Insight:", "Question:" or "subtopic:", a number before "bullets".
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from importlib import import_module
from typing import NamedTuple

from actors.rehearsal.scripted_summaries import PROFILES, Profile, faithful
from actors.rehearsal.scripted_tasks import Rating, ScoreTask, SentenceTask, Supporting, read_sentence_task
from longform.chat.call import ChatReply, ChatRequest, TokenLogprobs, Usage, capabilities, failed, refusal_reason
from longform.keys import stable_seed
from longform.settings.chat import ChatSettings
from longform.summaries.methods import USUAL_BULLETS
from longform.text.words import stems

_SYNTHESIS = "actors.synthesis.scripted"
_MODULES = dict.fromkeys(("scripted-writer", "scripted-verifier", "scripted-extractor"), _SYNTHESIS)
"""Name of a model up to its options -> the module whose `say` speaks for it."""

UNKNOWN_TASK = "script_knows_no_such_task"
"""The failure of a request that is no task it knows."""

SUMMARY_WORDS = 300
FULL_FROM, PARTIAL_FROM = 0.6, 0.3  # share of an insight's stems in a bullet; a guess, good enough to see all labels
SLOW_S = 0.05
_CHARS_A_TOKEN = 4  # its own tokenizer, so that rehearsals have tokens to count
_WAVERS = 5  # one in so many requests is answered otherwise

_HEADING = re.compile(r"^(?:Conversation|Article|Document) (\d+):\n", re.MULTILINE)
_QUESTION = re.compile(r"^.*\b(?:question|query|subtopic): *(.+)$", re.MULTILINE | re.IGNORECASE)
_WANTED = re.compile(r"\b(\d+) (?:bullets|bullet points|insights)\b")
_UNTOLD = "as many bullets as"
"""Stands in prompts that withhold the number."""
_BULLETS = re.compile(r'\{\s*"bullets":')
_INSIGHT = re.compile(r"\binsight:\s*(.+)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_SHORTEST = 5  # words of a statement worth quoting


class ScriptedChat:
    """Counts its calls and how many were in flight at once; `timeout_s` holds as for a real model."""

    def __init__(self, settings: ChatSettings) -> None:
        assert settings.script is not None, "check_chat comes first"
        self.settings = settings
        self.accepted = capabilities(settings)
        self.n_calls = 0
        self.in_flight = 0
        self.max_in_flight = 0
        self._script = SCRIPTS[settings.script]

    async def complete(self, request: ChatRequest) -> ChatReply:
        reason = refusal_reason(request, self.accepted)
        if reason is not None:
            return failed(reason)
        self.n_calls += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            return await self._answer(request)
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        """Do nothing: no connection is held."""

    async def _answer(self, request: ChatRequest) -> ChatReply:
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                await asyncio.sleep(0)  # others get their turn, as they do while a real call is under way
                return await self._script(request, self.settings.model)
        except TimeoutError:
            return failed("timeout")


# ---------------------------------------------------------------- scripts


async def _obedient(request: ChatRequest, model: str) -> ChatReply:
    return _done(read_task(request.messages[-1].text), request, model)


def _with_profile(profile: Profile) -> Script:
    async def script(request: ChatRequest, model: str) -> ChatReply:
        seed = stable_seed("profile", request.content)
        return _done(read_task(request.messages[-1].text, profile, seed), request, model)

    return script


def _done(task: AnyTask | None, request: ChatRequest, model: str) -> ChatReply:
    if task is None:
        return failed(UNKNOWN_TASK)
    reply = _said(task.reply(), request, model)
    if isinstance(task, Supporting | Rating) and request.top_logprobs is not None:
        return replace(reply, logprobs=task.logprobs())
    return reply


async def _wavering(request: ChatRequest, model: str) -> ChatReply:
    task = read_task(request.messages[-1].text)
    if stable_seed("wavering", request.content) % _WAVERS:
        return _done(task, request, model)
    if isinstance(task, Judging):
        return _said(_coverage("PARTIAL_COVERAGE", 1), request, model)
    if isinstance(task, Summarizing):
        return _said("\n".join(task.reply().splitlines()[1:]), request, model)
    if isinstance(task, Supporting) and request.top_logprobs is None:
        return _said("No." if task.supported else "Yes.", request, model)
    return _done(task, request, model)


async def _misbehaving(request: ChatRequest, model: str) -> ChatReply:
    misdeed = MISDEEDS[stable_seed("misbehaving", request.content) % len(MISDEEDS)]
    task = read_task(request.messages[-1].text)
    if misdeed.startswith("http_") or misdeed == "connection":
        return failed(misdeed)
    if misdeed in ("length", "empty_reply", "refusal"):
        finish = "length" if misdeed == "length" else "stop"
        return ChatReply(text=None, failure=misdeed, finish_reason=finish, model=model)
    if misdeed == "garbage" or task is None:
        return _said('Certainly! Here {is} what "I" think [of it', request, model)
    if misdeed == "slow":
        await asyncio.sleep(SLOW_S)
        return _said(task.reply(), request, model)
    return _said(_out_of_form(task, misdeed), request, model)


async def _synthesis(request: ChatRequest, model: str) -> ChatReply:
    said = say(request.messages[-1].text, model)
    if said is None:
        return failed(UNKNOWN_TASK)
    if said.is_refusal:
        return ChatReply(text=None, failure="refusal", finish_reason="stop", model=model)
    reply = _said(said.text, request, model)
    return reply if request.top_logprobs is None else replace(reply, logprobs=said.logprobs)


def _out_of_form(task: AnyTask, misdeed: str) -> str:
    if isinstance(task, Summarizing | Judging):
        return task.out_of_range() if misdeed == "out_of_range" else task.list_of_ids()
    if isinstance(task, ScoreTask) and misdeed == "out_of_range":
        return str(task.n_points + 1)
    if isinstance(task, Supporting | Rating | ScoreTask):
        return "I am not sure."
    return "Summary:" if misdeed == "out_of_range" else task.reply().removeprefix("Summary:").strip()


MISDEEDS = (
    "garbage",
    "empty_reply",
    "length",
    "out_of_range",
    "list_of_ids",
    "slow",
    "refusal",
    "http_400",
    "http_429",
    "http_500",
    "connection",
)

Script = Callable[[ChatRequest, str], Awaitable[ChatReply]]
SCRIPTS: dict[str, Script] = {
    "obedient": _obedient,
    "misbehaving": _misbehaving,
    "wavering": _wavering,
    "synthesis": _synthesis,
    **{name: _with_profile(profile) for name, profile in PROFILES.items()},
}


def _said(text: str, request: ChatRequest, model: str) -> ChatReply:
    if not text:
        return ChatReply(text=None, failure="empty_reply", finish_reason="stop", model=model)
    sent = request.input_tokens or sum(len(message.text) for message in request.messages) // _CHARS_A_TOKEN
    usage = Usage(input_tokens=sent, output_tokens=max(1, len(text) // _CHARS_A_TOKEN))
    return ChatReply(text=text, failure=None, finish_reason="stop", model=model, usage=usage)


# ---------------------------------------------------------------- tasks


class Summarizing(NamedTuple):
    """Documents by their number, the question, and the number of bullets wanted."""

    documents: dict[int, str]
    question: str
    n_wanted: int

    def reply(self) -> str:
        return self._lines("".join)

    def out_of_range(self) -> str:
        beyond = max(self.documents) + 1
        return self._lines(lambda _: f"[{beyond}]")

    def list_of_ids(self) -> str:
        return self._lines(lambda groups: "[" + ", ".join(group.strip("[]") for group in groups) + "]")

    def _lines(self, cite: Callable[[list[str]], str]) -> str:
        length = SUMMARY_WORDS // self.n_wanted
        quotes = ((statement, self._sources(statement)) for statement in self._statements())
        return "\n".join(f"- {' '.join(text.split()[:length])} {cite(groups)}" for text, groups in quotes)

    def _statements(self) -> list[str]:
        asked = set(self.question.lower().split())
        sentences = (sentence for text in self.documents.values() for sentence in _SENTENCE_END.split(text))
        found = dict.fromkeys(sentence for sentence in sentences if len(sentence.split()) >= _SHORTEST)
        return sorted(found, key=lambda sentence: -len(asked & set(sentence.lower().split())))[: self.n_wanted]

    def _sources(self, statement: str) -> list[str]:
        return [f"[{number}]" for number, text in self.documents.items() if statement in text]


class Judging(NamedTuple):
    """The bullets of a summary and an insight."""

    bullets: list[str]
    insight: str

    def reply(self) -> str:
        wanted = set(stems(self.insight))
        shares = [len(wanted & set(stems(bullet))) / max(len(wanted), 1) for bullet in self.bullets]
        best = max(shares, default=0.0)
        if best < PARTIAL_FROM:
            return _coverage("NO_COVERAGE", "NA")
        return _coverage("FULL_COVERAGE" if best >= FULL_FROM else "PARTIAL_COVERAGE", shares.index(best) + 1)

    def out_of_range(self) -> str:
        return _coverage("FULL_COVERAGE", len(self.bullets) + 1)

    def list_of_ids(self) -> str:
        return _coverage("PARTIAL_COVERAGE", [1, 2])


AnyTask = Summarizing | Judging | SentenceTask


def read_task(prompt: str, profile: Profile = faithful, seed: int = 0) -> AnyTask | None:
    """Return the task of *prompt*; None if it is none we know. *profile* and *seed* are those of sentences."""
    return read_sentence_task(prompt, profile, seed) or _read_judging(prompt) or _read_summarizing(prompt)


def _read_judging(prompt: str) -> Judging | None:
    shown = [match.start() for match in _BULLETS.finditer(prompt)]
    insights = _INSIGHT.findall(prompt) if shown else []
    if not insights:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(prompt, shown[-1])
        return Judging([bullet["text"] for bullet in value["bullets"]], insights[-1])
    except (ValueError, KeyError, TypeError):
        return None


def _read_summarizing(prompt: str) -> Summarizing | None:
    headings = list(_HEADING.finditer(prompt))
    if not headings:
        return None
    questions = list(_QUESTION.finditer(prompt))
    wanted = _WANTED.findall(prompt) or [str(USUAL_BULLETS)] * prompt.count(_UNTOLD)
    if not questions or not wanted or int(wanted[-1]) < 1:
        return None
    ends = [heading.start() for heading in headings[1:]] + [max(questions[-1].start(), headings[-1].end())]
    texts = (prompt[heading.end() : end].strip() for heading, end in zip(headings, ends, strict=True))
    documents = {int(heading[1]): text for heading, text in zip(headings, texts, strict=True)}
    return Summarizing(documents, questions[-1][1], int(wanted[-1]))


def _coverage(coverage: str, bullet_id: object) -> str:
    return json.dumps({"coverage": coverage, "bullet_id": bullet_id})


class Said(NamedTuple):
    """The reply of a scripted model."""

    text: str
    is_refusal: bool
    logprobs: tuple[TokenLogprobs, ...] | None = None


def say(prompt: str, model: str) -> Said | None:
    """
    Return the reply of *model* to *prompt*; None if no annex brings it, or it is asked for another task.

    Raises:
        UsageError: The name has options that the model does not know.
    """
    module = _MODULES.get(model.partition(":")[0])
    said: Said | None = None if module is None else import_module(module).say(prompt, model)
    return said
