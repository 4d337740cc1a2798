"""
A writer without a model, for rehearsals of a synthesis: it plants faults at stated rates.

Its facts are sentences with a number of their own, so that a search for the number finds the documents that state it.
What it writes follows from its seed and the prompt alone; `write` says beside the text which faults are in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypedDict

from actors.rehearsal.scripted_tasks import rendered_fields
from longform.given import Json
from longform.keys import stable_seed
from longform.synthesis.grammar.passages import PROMPT as PASSAGE
from longform.synthesis.multi_source.plans import DECONTEXTUALIZE, MERGE_QUERIES, MERGE_SUMMARIES
from longform.synthesis.multi_source.plans import FORMS as MULTI_SOURCE_FORMS
from longform.synthesis.written.replies import FORMS

THEMES = (
    "funding staffing transport housing schooling catering insurance lighting drainage security parking heating "
    "recycling tourism fishing farming policing archives broadband gardens libraries museums festivals sports "
    "kindergartens hospitals markets bridges tunnels harbours"
).split()

_ENTITIES = "Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ivy Juniper Larch Maple Oak Poplar Rowan Spruce".split()
_BODIES = "Council Institute Union Trust Office Board".split()
_MONTHS = "January February March April May June July August September October November December".split()
_FILLER = (
    "People in the quarter talked about it for days.",
    "Nobody had expected the matter to last so long.",
    "The mood was calm, and the coffee was not bad.",
    "Some shook their heads, and others went on with their work.",
    "It was said that more would be known before long.",
)
_FACT = re.compile(r"On (\w+), the (\w+ \w+) recorded ([\d,]+) cases on (\d+ \w+)\.")
_FIRST_FACTS = 4  # of a theme, which an outline is likely to hold: those that leak, or are known
_STRAYS = (1000, 1_000_000)  # the numbers of facts that stray into another theme, which are none of its own


@dataclass(frozen=True, kw_only=True)
class WriterFaults:
    """Faults of the scripted writer, each a share in [0, 1]."""

    seed: int = 0
    leaks: float = 0.0
    """
    Facts beside which another one slips in, and those to be taken out that stay; rewritten queries that quote the
    longest sentence of their document, and merged summaries with a number of their own.
    """
    omissions: float = 0.0
    """
    Facts to be stated that are not; rewritten queries without the query's words, and merged texts that leave the last
    of theirs out.
    """
    duplicates: float = 0.0  # of new subtopics and facts that repeat an earlier one
    strays: float = 0.0  # of new facts that belong to another subtopic
    vague: float = 0.0  # of new facts without number, date or name, and of queries that ask nothing
    empty: float = 0.0  # of rewritten and merged texts without a letter
    knows: float = 0.0  # of a theme's first facts that it tells when asked without documents
    invalid_json: float = 0.0  # of replies that break off
    refusals: float = 0.0  # of replies


@dataclass
class WrittenReply:
    """A reply, and its faults in their order: (kind, subject)."""

    text: str
    faults: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_refusal(self) -> bool:
        return ("refusals", "") in self.faults


def write(prompt: str, faults: WriterFaults) -> WrittenReply | None:
    """Return the reply to a prompt of a synthesis; None if it is none for a writer or planner."""
    for name, task in _TASKS.items():
        if (values := rendered_fields(name, prompt)) is not None:
            draw = Random(stable_seed("scripted writer", faults.seed, prompt))
            if draw.random() < faults.refusals:
                return WrittenReply("I would rather not write that.", [("refusals", "")])
            pen = _Pen(faults, draw, prompt)
            said = task(pen, values)
            text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
            if draw.random() < faults.invalid_json:
                return WrittenReply(text[: len(text) // 2], [("invalid_json", "")])
            return WrittenReply(text, pen.planted)
    return None


def theme_of(subtopic: str) -> str:
    """Return the theme of a subtopic, by its name or its name and description."""
    return subtopic.partition(":")[0].split()[-1].lower()


def fact(seed: int, theme: str, number: int) -> str:
    """Return fact *number* of a *theme*, in the world of a *seed*."""
    draw = Random(stable_seed("scripted fact", seed, theme, number))
    who = f"{draw.choice(_ENTITIES)} {draw.choice(_BODIES)}"
    when = f"{draw.randint(1, 28)} {draw.choice(_MONTHS)}"
    return f"On {theme}, the {who} recorded {draw.randint(100_000, 999_999):,} cases on {when}."


def count_of(text: str) -> str | None:
    """Return the number by which a fact is known, in any wording of it."""
    found = re.search(r"\d{3},\d{3}", text)
    return found and found[0]


class StatedFact(TypedDict):
    fact: str
    subtopic: str


class _Pen:
    """Writes one reply, and notes its planted facts and faults."""

    def __init__(self, faults: WriterFaults, draw: Random, prompt: str) -> None:
        self.faults, self.draw, self.prompt = faults, draw, prompt
        self.planted: list[tuple[str, str]] = []

    def errs(self, kind: str) -> bool:
        return bool(self.draw.random() < getattr(self.faults, kind))

    def plant(self, kind: str, what: str) -> str:
        self.planted.append((kind, what))
        return what

    def fresh(self, theme: str, start: int = 0) -> Iterator[str]:
        """Yield facts of *theme* that the prompt does not hold."""
        number = start
        while True:
            text = fact(self.faults.seed, theme, number)
            if str(count_of(text)) not in self.prompt:
                yield text
            number += 1

    def told(self, item: StatedFact) -> list[str]:
        """Return a fact to be stated, perhaps left out, perhaps with another of its theme beside it."""
        said = [item["fact"]]
        if self.errs("omissions"):
            self.plant("omissions", said.pop())
        if self.errs("leaks"):
            sibling = fact(self.faults.seed, theme_of(item["subtopic"]), self.draw.randrange(_FIRST_FACTS))
            if str(count_of(sibling)) not in self.prompt:
                said.append(self.plant("leaks", sibling))
        return said


def _subtopics(pen: _Pen, values: Mapping[str, str]) -> Json:
    used = [theme_of(item["name"]) for item in json.loads(values["kept"])]
    themes = Random(stable_seed("scripted themes", pen.faults.seed, values["setting"])).sample(THEMES, len(THEMES))
    names = []
    for _ in range(int(values["n_subtopics"])):
        if used and pen.errs("duplicates"):
            names.append(pen.plant("duplicates", f"Questions of {pen.draw.choice(used)}"))
        else:
            # after a rejection others come first, as a model would vary
            left = [theme for theme in themes if theme not in used]
            used.append(left[0] if not values["notes"] else pen.draw.choice(left))
            names.append(used[-1].capitalize())
    return {"subtopics": [{"name": name, "description": f"What is told of {theme_of(name)}"} for name in names]}


def _insights(pen: _Pen, values: Mapping[str, str]) -> Json:
    theme = theme_of(values["subtopic"])
    earlier = [item["fact"] for item in json.loads(values["own"])]
    others = [theme_of(item["name"]) for item in json.loads(values["others"])]
    fresh = pen.fresh(theme)
    found = []
    for _ in range(int(values["n_insights"])):
        if earlier and pen.errs("duplicates"):
            found.append(pen.plant("duplicates", restated(pen.draw.choice(earlier))))
        elif others and pen.errs("strays"):
            stray = next(pen.fresh(pen.draw.choice(others), pen.draw.randrange(*_STRAYS)))
            found.append(pen.plant("strays", stray))
        elif pen.errs("vague"):
            found.append(pen.plant("vague", f"On {theme}, several people had views of their own."))
        else:
            earlier.append(next(fresh))
            found.append(earlier[-1])
    return {"insights": found}


def restated(text: str) -> str:
    """Return a fact in other words."""
    return _FACT.sub(r"By \4, \3 cases had been recorded on \1 by the \2.", text)


def _query(pen: _Pen, values: Mapping[str, str]) -> Json:
    theme = theme_of(values["subtopic"])
    return {"query": pen.plant("vague", f"Tell about {theme}") if pen.errs("vague") else f"What is said about {theme}?"}


def _article(pen: _Pen, values: Mapping[str, str]) -> Json:
    items = json.loads(values["insights"])
    opening = f"This is account {values['n_document']} of {values['n_documents']}, told like this: {values['angle']}."
    length = int(values["n_words"]) // max(1, len(items))
    paragraphs = [_padded(pen.draw, pen.told(item), length) for item in items]
    return {"title": f"Account {values['n_document']}", "text": "\n\n".join([opening, *paragraphs])}


def _padded(draw: Random, said: Sequence[str], n_words: int) -> str:
    text = [draw.choice(_FILLER), *said]
    while sum(len(sentence.split()) for sentence in text) < n_words:
        text.append(draw.choice(_FILLER))
    return " ".join(text)


def _remove(pen: _Pen, values: Mapping[str, str]) -> Json:
    text = values["text"]
    for item in json.loads(values["insights"]):
        if pen.errs("leaks"):
            pen.plant("leaks", item["fact"])
        else:
            text = text.replace(item["fact"], "").replace("  ", " ")
    return {"title": values["title"], "text": text}


def _add(pen: _Pen, values: Mapping[str, str]) -> Json:
    added = [sentence for item in json.loads(values["insights"]) for sentence in pen.told(item)]
    return {"title": values["title"], "text": "\n\n".join([values["text"], *added])}


def _chapter(pen: _Pen, values: Mapping[str, str]) -> Json:
    people = values["setting"].rpartition("Participants: ")[2].split(", ")
    said = pen.told({"fact": values["insight"], "subtopic": values["subtopic"]})
    place = f"chapter {values['n_chapter']} of conversation {values['n_document']}"
    lines = [f"Welcome to {place}.", *said, *pen.draw.sample(_FILLER, 2)]
    return {"text": "\n".join(f"{people[turn % len(people)]}: {line}" for turn, line in enumerate(lines))}


def _passage(pen: _Pen, values: Mapping[str, str]) -> Json:
    said = pen.told({"fact": values["statement"].strip(), "subtopic": values["subtopic"]})
    before, after = pen.draw.sample(_FILLER, 2)
    return " ".join([before, *said, after])


def _answer(pen: _Pen, values: Mapping[str, str]) -> Json:
    theme = values["query"].rstrip("?").split()[-1].lower()
    known = [fact(pen.faults.seed, theme, number) for number in range(_FIRST_FACTS) if pen.errs("knows")]
    return {"facts": [pen.plant("knows", text) for text in known] or ["Nobody can know that."]}


_LISTED = re.compile(r"\[\d+\] (.*?)(?=\n\n\[\d+\] |\Z)", re.DOTALL)


def _decontextualize(pen: _Pen, values: Mapping[str, str]) -> Json:
    query = values["query"].strip()
    asked, mark = query.rstrip("?."), "?" if query.endswith("?") else "."
    if pen.errs("omissions"):
        asked = pen.plant("omissions", "What is told there")
    about = f"in a text about {pen.draw.choice(THEMES)} that somebody half remembers"
    if pen.errs("leaks"):
        longest = max(re.split(r"[.?!\n]+", values["document"]), key=len).strip()
        about = f"in a text where {pen.plant('leaks', longest)}"
    return {"query": _spoilt(pen, f"{asked} {about}{mark}")}


def _spoilt(pen: _Pen, text: str) -> str:
    if pen.errs("vague"):
        return pen.plant("vague", "There is much to be said on this. It is a text like many others.")
    return pen.plant("empty", " ") if pen.errs("empty") else text


def _merge_queries(pen: _Pen, values: Mapping[str, str]) -> Json:
    parts = [text.strip().rstrip("?.") for text in _kept(pen, values["queries"])]
    return {"query": _spoilt(pen, f"{', '.join(parts)}?")}


def _merge_summaries(pen: _Pen, values: Mapping[str, str]) -> Json:
    parts = _kept(pen, values["summaries"])
    if pen.errs("leaks"):
        parts = [parts[0], pen.plant("leaks", "It cost 987,654.")]
    return {"summary": pen.plant("empty", "") if pen.errs("empty") else " ".join(parts)}


def _kept(pen: _Pen, listed: str) -> list[str]:
    """Return the texts of a numbered list, perhaps without the last."""
    parts = _LISTED.findall(listed.strip())
    if pen.errs("omissions"):
        pen.plant("omissions", parts.pop())
    return parts


_TASKS: Mapping[str, Callable[[_Pen, Mapping[str, str]], Json]] = {
    "synthesize_subtopics": _subtopics,
    "synthesize_insights": _insights,
    "synthesize_query": _query,
    "synthesize_article": _article,
    "synthesize_remove": _remove,
    "synthesize_add": _add,
    "synthesize_chapter": _chapter,
    "synthesize_answer": _answer,
    PASSAGE: _passage,
    DECONTEXTUALIZE: _decontextualize,
    MERGE_QUERIES: _merge_queries,
    MERGE_SUMMARIES: _merge_summaries,
}
assert _TASKS.keys() <= {*FORMS, *MULTI_SOURCE_FORMS, PASSAGE}
