"""
The tasks about sentences that a scripted model knows: the prompts for them read back.

Only prompts as they ship are understood: a folder with other wordings is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import log
from typing import NamedTuple

from actors.rehearsal.scripted_summaries import MergeTask, Profile, Sentences, Updating
from longform import prompts
from longform.chat.call import TokenLogprobs
from longform.summaries.methods import Place
from longform.text.words import numbers, stems

_FIELD = re.compile(r"\{\{(\w+)\}\}")

_SEPARATOR = "\n====\n"
_PLACES: tuple[Place, ...] = ("top", "middle", "bottom")
_HEADING = re.compile(r"^Document \d+:\n", re.MULTILINE)
_ANSWERED = (  # prompts of answers, the field with the documents, and sentences (10 have 200 to 300 words)
    *((name, "documents", 10) for name in ("summarize_story", "summarize_story_oracle", "summarize_meeting")),
    ("answer_question", "documents", 10),
    ("condense_to_snippets", "document", 4),
    ("condense_to_summary", "document", 4),
)
_SUMMARIZING = tuple(f"summarize_{kind}" for kind in ("sentences", "sections", "articles", "abstracts", "diverse"))
_UNASKED = 5  # sentences, if the prompt names no number
_MAJOR, _MINOR = 0.4, 0.8  # shares of a reference below which details are missing
_MISSED = (("Said.", 1.0), ("Incomplete.", 0.5), ("General.", 0.25), ("Missing.", 0.0))  # least share of its stems
_LITERAL, _ELSE_AT_MOST, _LEAST = 0.95, 0.45, 1e-4  # P(yes)


class Supporting(NamedTuple):
    """A support task: a document supports a sentence if it holds it word for word."""

    document: str
    sentence: str

    @property
    def supported(self) -> bool:
        return self.sentence.strip() in self.document

    def reply(self) -> str:
        return "Yes." if self.supported else "No."

    def logprobs(self) -> tuple[TokenLogprobs, ...]:
        """
        Return log probabilities of the answer's word: below one half, P(yes) grows with the share of the sentence's
        stems in the document.
        """
        stated = stems(self.sentence)
        there = set(stems(self.document))
        share = sum(stem in there for stem in stated) / max(1, len(stated))
        yes = _LITERAL if self.supported else max(_LEAST, _ELSE_AT_MOST * share)
        ranked = sorted((("Yes", log(yes)), ("No", log(1 - yes))), key=lambda token: -token[1])
        return (TokenLogprobs(*ranked[0], tuple(ranked)), TokenLogprobs(".", 0.0, ()))


class Entailing(Supporting):
    """A key point task: a response says what it holds word for word, and is quoted."""

    def reply(self) -> str:
        return f"Yes. <quote>{self.sentence.strip()}</quote>" if self.supported else "Neutral."

    def logprobs(self) -> tuple[TokenLogprobs, ...]:
        """Return the same log probabilities, of yes and neutral."""
        first, rest = super().logprobs()
        named = {"Yes": "Yes", "No": "Neutral"}
        ranked = tuple((named[word], logprob) for word, logprob in first.top)
        return (TokenLogprobs(*ranked[0], ranked), rest)


class Rating(NamedTuple):
    """A rating task: a summary makes as many of a reference's points as it has of its stems."""

    summary: str
    reference: str

    @property
    def share(self) -> float:
        stated, there = stems(self.reference), set(stems(self.summary))
        return sum(stem in there for stem in stated) / max(1, len(stated))

    def reply(self) -> str:
        return str(1 + round(4 * self.share))

    def logprobs(self) -> tuple[TokenLogprobs, ...]:
        """Return log probabilities of the rating: half for what is said, the rest even."""
        said = self.reply()
        ranked = ((said, log(0.5)), *((rating, log(0.125)) for rating in "12345" if rating != said))
        return (TokenLogprobs(*ranked[0], ranked),)


class Erring(NamedTuple):
    """An error analysis: a summary with few of a reference's stems lacks details; a number of its own is invented."""

    summary: str
    reference: str

    def reply(self) -> str:
        share = Rating(self.summary, self.reference).share
        missing = ["major_details"] if share < _MAJOR else ["minor_details"] if share < _MINOR else []
        invented = numbers(self.summary) - numbers(self.reference)
        return json.dumps({"errors": [*missing, *(["hallucination"] if invented else [])]})

    def logprobs(self) -> tuple[TokenLogprobs, ...]:
        return ()


class Answering(NamedTuple):
    """An answer in running text: sentences of the documents; without documents, words that state nothing."""

    shown: Sentences | None

    def reply(self) -> str:
        if self.shown is None:
            return "I remember too little of these texts to say more than the question does."
        return self.shown.reply().removeprefix("Summary:").strip()


class ScoreTask(NamedTuple):
    """A document's score for a query: the share of the query's stems in it; behind two sentences if *reasoned*."""

    document: str
    query: str
    n_points: int
    reasoned: bool

    def reply(self) -> str:
        share = Rating(self.document, self.query).share
        score = 1 + round((self.n_points - 1) * share)
        if not self.reasoned:
            return str(score)
        return f"{share:.0%} of the words of the query stand in it. The others are left out.\nSCORE: {score}"

    def logprobs(self) -> tuple[TokenLogprobs, ...]:
        return ()


class Missing(NamedTuple):
    """A task of missed key points: how much of a key point a response says, by the share of its stems."""

    response: str
    key_point: str

    def reply(self) -> str:
        share = Rating(self.response, self.key_point).share
        return next(word for word, least in _MISSED if share >= least)

    def logprobs(self) -> tuple[TokenLogprobs, ...]:
        return ()


SentenceTask = Answering | Sentences | MergeTask | Updating | Supporting | Rating | Erring | ScoreTask | Missing


def read_sentence_task(prompt: str, profile: Profile, seed: int) -> SentenceTask | None:
    """Return the task of *prompt*; None if it is no task about sentences."""
    if (values := _any_values(_SUMMARIZING, prompt)) is not None:
        documents = tuple(values["documents"].split(_SEPARATOR))
        return Sentences(documents, _n_sentences(values), _focus(values["focus"]), profile, seed)
    if (values := _any_values(("merge_summaries", "merge_diverse"), prompt)) is not None:
        return MergeTask(tuple(values["summaries"].split(_SEPARATOR)), _n_sentences(values), seed)
    if (values := _any_values(("update_summary", "update_diverse"), prompt)) is not None:
        shown = Sentences((values["document"],), _n_sentences(values), None, profile, seed)
        return Updating(values["summary"], shown)
    return _read_answering(prompt, profile, seed) or _read_judging(prompt) or _read_scoring(prompt)


def _read_answering(prompt: str, profile: Profile, seed: int) -> Answering | None:
    for name, field, n_sentences in _ANSWERED:
        if (values := _values(name, prompt)) is not None:
            documents = tuple(text.strip() for text in _HEADING.split(values[field]) if text.strip())
            return Answering(Sentences(documents, n_sentences, None, profile, seed))
    return None if _values("answer_from_memory", prompt) is None else Answering(None)


def _read_scoring(prompt: str) -> ScoreTask | None:
    for name, reasoned in (("rerank_documents", False), ("rerank_oracle", True)):
        if (values := _values(name, prompt)) is not None:
            return ScoreTask(values["document"], values["query"], int(values["n_points"]), reasoned)
    return None


def _read_judging(prompt: str) -> SentenceTask | None:
    for name, (task, *fields) in _JUDGING.items():
        if (values := _values(name, prompt)) is not None:
            return task(*(values[field] for field in fields))
    return None


_JUDGING: Mapping[str, tuple[Callable[[str, str], SentenceTask], str, str]] = {
    "judge_support": (Supporting, "document", "sentence"),
    "judge_key_point": (Entailing, "response", "key_point"),
    "judge_misses": (Missing, "response", "key_point"),
    "judge_reference": (Rating, "summary", "reference"),
    "judge_consistency": (Rating, "reference", "summary"),  # of what the summary says, as much as the reference has
    "judge_errors": (Erring, "summary", "reference"),
}
"""Prompt of a judge -> its task, and the fields of the prompt that the task has."""


def _any_values(names: Iterable[str], prompt: str) -> dict[str, str] | None:
    """Return the fields of *prompt* if it is one of those called *names*."""
    return next((values for name in names if (values := _values(name, prompt)) is not None), None)


def _n_sentences(values: Mapping[str, str]) -> int:
    return int(values.get("n_sentences", _UNASKED))


def _values(name: str, prompt: str) -> dict[str, str] | None:
    """Return the fields of the prompt *name* as they were rendered; None if *prompt* is another one."""
    values = rendered_fields(name, prompt)
    countable = values is not None and int(values.get("n_sentences") or 1) > 0
    return values if countable else None


def _focus(sentence: str) -> Place | None:
    return _focus_sentences().get(sentence)


@cache
def _focus_sentences() -> dict[str, Place]:
    return {prompts.load_prompt(f"focus_{place}").text.strip(): place for place in _PLACES}


def rendered_fields(name: str, prompt: str) -> dict[str, str] | None:
    """Return the fields that *prompt* was rendered from if it is the prompt *name* as it ships, else None."""
    found = _pattern(name).fullmatch(prompt)
    return None if found is None else found.groupdict()


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """
    Return the prompt with a group in the place of each field; of the same field twice, the first place is read.

    A group takes all it can: a line of ==== between two summaries does not end them, the last one does.
    """
    parts = _FIELD.split(prompts.load_prompt(name).text)
    seen: set[str] = set()
    pattern = ""
    for index, part in enumerate(parts):
        if index % 2 == 0:
            pattern += re.escape(part)
        elif part in seen:
            pattern += f"(?P={part})"
        else:
            seen.add(part)
            pattern += rf"(?P<{part}>\d+)" if part.startswith("n_") else f"(?P<{part}>.*)"
    return re.compile(pattern, re.DOTALL)
