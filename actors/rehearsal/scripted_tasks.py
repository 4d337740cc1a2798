"""
Tasks that a scripted model knows: prompts read back, and the replies of models that obey, waver or misbehave.

Of tasks about sentences, only prompts as they ship are understood. Of bullets and their coverage, all are that keep the
marks: the headings of the documents, the bullets as JSON, "Insight:", "Question:" or "subtopic:", a number before
"bullets".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from math import log
from typing import NamedTuple

from actors.rehearsal.scripted_summaries import LABEL, Profile, Sentences, faithful, merged, updated
from longform import prompts
from longform.chat.call import TokenLogprobs
from longform.summaries.methods import USUAL_BULLETS, Place
from longform.text.words import numbers, stems

Fields = Mapping[str, str]
Logprobs = tuple[TokenLogprobs, ...]

_UNSURE = "I am not sure."


class Task(NamedTuple):
    """The reply to a prompt, and those of models that waver or misbehave."""

    reply: str
    waver: str | None = None  # another reply, if there is one
    out_of_range: str = LABEL
    out_of_form: str | None = None  # None: the reply without its label
    logprobs: Callable[[], Logprobs] | None = None


def read_task(prompt: str, profile: Profile = faithful, seed: int = 0) -> Task | None:
    """Return the task of *prompt*; None if it is none we know. *profile* and *seed* are those of sentences."""
    for name, task in _TASKS.items():
        fields = rendered_fields(name, prompt)
        if fields is not None and int(fields.get("n_sentences") or 1) > 0:
            return task(fields, profile, seed)
    return _read_coverage(prompt) or _read_bullets(prompt)


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
    words, *parts = re.split(r"\{\{(\w+)\}\}", prompts.load_prompt(name).text)
    pattern = re.escape(words)
    for field, words in zip(parts[::2], parts[1::2], strict=True):
        group = rf"(?P<{field}>\d+)" if field.startswith("n_") else f"(?P<{field}>.*)"
        pattern += (f"(?P={field})" if f"(?P<{field}>" in pattern else group) + re.escape(words)
    return re.compile(pattern, re.DOTALL)


# ---------------------------------------------------------------- sentences


_SEPARATOR = "\n====\n"
_SUMMARIZED = ("sentences", "sections", "articles", "abstracts", "diverse")
_PLACES: tuple[Place, ...] = ("top", "middle", "bottom")
_DOCUMENT = re.compile(r"^Document \d+:\n", re.MULTILINE)


def _summarize(fields: Fields, profile: Profile, seed: int) -> Task:
    documents, focus = tuple(fields["documents"].split(_SEPARATOR)), _focus_of().get(fields["focus"])
    return Task(Sentences(documents, _n_sentences(fields), focus, profile, seed).reply())


@cache
def _focus_of() -> dict[str, Place]:
    return {prompts.load_prompt(f"focus_{place}").text.strip(): place for place in _PLACES}


def _merge(fields: Fields, _: Profile, seed: int) -> Task:
    return Task(merged(fields["summaries"].split(_SEPARATOR), _n_sentences(fields), seed))


def _update(fields: Fields, profile: Profile, seed: int) -> Task:
    return Task(updated(fields["summary"], Sentences((fields["document"],), _n_sentences(fields), None, profile, seed)))


def _answer(shown: str, n_sentences: int, fields: Fields, profile: Profile, seed: int) -> Task:
    """Return the task of an answer in running text, from the documents in the field *shown*."""
    documents = tuple(text.strip() for text in _DOCUMENT.split(fields[shown]) if text.strip())
    return Task(Sentences(documents, n_sentences, None, profile, seed).reply().removeprefix(LABEL).strip())


def _n_sentences(fields: Fields) -> int:
    return int(fields.get("n_sentences", 5))


# ---------------------------------------------------------------- judgements of sentences


_LITERAL, _ELSE_AT_MOST, _LEAST = 0.95, 0.45, 1e-4  # P(yes)
_MAJOR, _MINOR = 0.4, 0.8  # shares of a reference below which details are missing
_MISSED = (("Said.", 1.0), ("Incomplete.", 0.5), ("General.", 0.25), ("Missing.", 0.0))  # least share of its stems


def _support(document: str, sentence: str, *, quotes: bool = False) -> Task:
    """
    Return the task of support: a document supports a sentence if it holds it word for word, which it *quotes*.

    Below one half, P(yes) grows with the share of the sentence's stems in the document.
    """
    quoted, no = (f" <quote>{sentence.strip()}</quote>", "Neutral") if quotes else ("", "No")
    is_supported = sentence.strip() in document

    def logprobs() -> Logprobs:
        yes = _LITERAL if is_supported else max(_LEAST, _ELSE_AT_MOST * _share(sentence, document))
        ranked = sorted((("Yes", log(yes)), (no, log(1 - yes))), key=lambda token: -token[1])
        return (TokenLogprobs(*ranked[0], tuple(ranked)), TokenLogprobs(".", 0.0, ()))

    reply, waver = (f"Yes.{quoted}", "No.") if is_supported else (f"{no}.", "Yes.")
    return Task(reply, waver, _UNSURE, _UNSURE, logprobs)


def _share(stated: str, text: str) -> float:
    """Return the share of the stems of what is stated that are in *text*."""
    wanted, there = stems(stated), set(stems(text))
    return sum(stem in there for stem in wanted) / max(1, len(wanted))


def _rating(reference: str, summary: str) -> Task:
    """Return the task of a rating: a summary makes as many of a reference's points as it has of its stems."""
    said = str(1 + round(4 * _share(reference, summary)))
    ranked = ((said, log(0.5)), *((rating, log(0.125)) for rating in "12345" if rating != said))
    return Task(said, None, _UNSURE, _UNSURE, lambda: (TokenLogprobs(*ranked[0], ranked),))


def _errors(reference: str, summary: str) -> Task:
    """Return the task of errors: few of a reference's stems lack details; a number of the summary's own is invented."""
    share = _share(reference, summary)
    missing = ["major_details"] if share < _MAJOR else ["minor_details"] if share < _MINOR else []
    invented = ["hallucination"] if numbers(summary) - numbers(reference) else []
    return Task(json.dumps({"errors": missing + invented}))


def _missed(key_point: str, response: str) -> Task:
    """Return the task of a missed key point: how much of it a response says."""
    share = _share(key_point, response)
    return Task(next(word for word, least in _MISSED if share >= least))


def _score(fields: Fields, *, is_reasoned: bool = False) -> Task:
    """Return the task of a score: the share of a query's stems in a document, behind two sentences if reasoned."""
    share, n_points = _share(fields["query"], fields["document"]), int(fields["n_points"])
    reasons = f"{share:.0%} of the words of the query stand in it. The others are left out.\nSCORE: "
    reply = f"{reasons if is_reasoned else ''}{1 + round((n_points - 1) * share)}"
    return Task(reply, None, str(n_points + 1), _UNSURE)


_TASKS: Mapping[str, Callable[[Fields, Profile, int], Task]] = {
    **dict.fromkeys([f"summarize_{what}" for what in _SUMMARIZED], _summarize),
    **dict.fromkeys(("merge_summaries", "merge_diverse"), _merge),
    **dict.fromkeys(("update_summary", "update_diverse"), _update),
    **dict.fromkeys(
        ("summarize_story", "summarize_story_oracle", "summarize_meeting", "answer_question"),
        partial(_answer, "documents", 10),  # 10 sentences have 200 to 300 words
    ),
    **dict.fromkeys(("condense_to_snippets", "condense_to_summary"), partial(_answer, "document", 4)),
    "answer_from_memory": lambda *_: Task("I remember too little of these texts to say more than the question does."),
    "judge_support": lambda fields, *_: _support(fields["document"], fields["sentence"]),
    "judge_key_point": lambda fields, *_: _support(fields["response"], fields["key_point"], quotes=True),
    "judge_misses": lambda fields, *_: _missed(fields["key_point"], fields["response"]),
    "judge_reference": lambda fields, *_: _rating(fields["reference"], fields["summary"]),
    "judge_consistency": lambda fields, *_: _rating(fields["summary"], fields["reference"]),  # of what the summary says
    "judge_errors": lambda fields, *_: _errors(fields["reference"], fields["summary"]),
    "rerank_documents": lambda fields, *_: _score(fields),
    "rerank_oracle": lambda fields, *_: _score(fields, is_reasoned=True),
}
"""Prompt -> its task, of its fields."""


# ---------------------------------------------------------------- bullets and their coverage


_SUMMARY_WORDS = 300
_FULL_FROM, _PARTIAL_FROM = 0.6, 0.3  # share of an insight's stems in a bullet; a guess, good enough to see all labels
_SHORTEST = 5  # words of a statement worth quoting
_HEADING = re.compile(r"^(?:Conversation|Article|Document) (\d+):\n", re.MULTILINE)
_QUESTION = re.compile(r"^.*\b(?:question|query|subtopic): *(.+)$", re.MULTILINE | re.IGNORECASE)
_WANTED = re.compile(r"\b(\d+) (?:bullets|bullet points|insights)\b")
_UNTOLD = "as many bullets as"
"""Stands in prompts that withhold the number."""
_BULLETS = re.compile(r'\{\s*"bullets":')
_INSIGHT = re.compile(r"\binsight:\s*(.+)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def _read_coverage(prompt: str) -> Task | None:
    shown = [match.start() for match in _BULLETS.finditer(prompt)]
    insights = _INSIGHT.findall(prompt) if shown else []
    if not insights:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(prompt, shown[-1])
        return _coverage([bullet["text"] for bullet in value["bullets"]], set(stems(insights[-1])))
    except (ValueError, KeyError, TypeError):
        return None


def _coverage(bullets: list[str], wanted: set[str]) -> Task:
    """Return the task of coverage: the bullet with most of the *wanted* stems, if it has enough."""
    shares = [len(wanted & set(stems(bullet))) / max(len(wanted), 1) for bullet in bullets]
    best = max(shares, default=0.0)
    if best < _PARTIAL_FROM:
        reply = _label("NO_COVERAGE", "NA")
    else:
        reply = _label("FULL_COVERAGE" if best >= _FULL_FROM else "PARTIAL_COVERAGE", shares.index(best) + 1)
    beyond, listed = _label("FULL_COVERAGE", len(bullets) + 1), _label("PARTIAL_COVERAGE", [1, 2])
    return Task(reply, _label("PARTIAL_COVERAGE", 1), beyond, listed)


def _label(coverage: str, bullet_id: object) -> str:
    return json.dumps({"coverage": coverage, "bullet_id": bullet_id})


def _read_bullets(prompt: str) -> Task | None:
    headings, questions = list(_HEADING.finditer(prompt)), list(_QUESTION.finditer(prompt))
    wanted = _WANTED.findall(prompt) or [str(USUAL_BULLETS)] * prompt.count(_UNTOLD)
    if not headings or not questions or not wanted or int(wanted[-1]) < 1:
        return None
    ends = [heading.start() for heading in headings[1:]] + [max(questions[-1].start(), headings[-1].end())]
    texts = (prompt[heading.end() : end].strip() for heading, end in zip(headings, ends, strict=True))
    documents = {int(heading[1]): text for heading, text in zip(headings, texts, strict=True)}
    return _bullets(documents, questions[-1][1], int(wanted[-1]))


def _bullets(documents: Mapping[int, str], question: str, n_wanted: int) -> Task:
    """Return the task of bullets: statements nearest to the question, each with all the documents that hold it."""
    asked = set(question.lower().split())
    found = dict.fromkeys(sentence for text in documents.values() for sentence in _SENTENCE_END.split(text))
    stated = [sentence for sentence in found if len(sentence.split()) >= _SHORTEST]
    nearest = sorted(stated, key=lambda sentence: -len(asked & set(sentence.lower().split())))[:n_wanted]

    length = _SUMMARY_WORDS // n_wanted
    quotes = [
        (" ".join(statement.split()[:length]), [number for number, text in documents.items() if statement in text])
        for statement in nearest
    ]

    def lines(cite: Callable[[list[int]], str]) -> list[str]:
        return [f"- {quote} {cite(sources)}" for quote, sources in quotes]

    obedient = lines(lambda sources: "".join(f"[{number}]" for number in sources))
    beyond, listed = lines(lambda _: f"[{max(documents) + 1}]"), lines(str)
    return Task("\n".join(obedient), "\n".join(obedient[1:]), "\n".join(beyond), "\n".join(listed))
