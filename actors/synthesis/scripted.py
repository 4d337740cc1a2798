"""
The scripted writer, verifier and extractor of a synthesis, chosen by the name of a model.

    scripted-writer:seed=1,leaks=0.2,omissions=0.1,duplicates=0.1,invalid_json=0.05,refusals=0.05
    scripted-verifier:seed=2,errors=0.05
    scripted-extractor:seed=3,strays=0.1,doubles=0.1,gaps=0.1,prose=0.05

The options are the fields of `WriterFaults`, `VerifierFaults` and `ExtractorFaults`; those left out are 0. The verifier
answers questions about key points, too, without a fault. The extractor reads questions and documents by rules: a point
is a sentence of the document, and its span the same.

The verifier is right but for a stated share of its replies. It shares no code with the scripted writer: it goes by the
numbers and themes that it reads in the texts. What it says follows from its seed and the prompt alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from math import log
from random import Random
from typing import TypeVar

from actors.rehearsal.scripted_chat import Said
from actors.rehearsal.scripted_tasks import rendered_fields
from actors.synthesis.scripted_writer import WriterFaults, write
from longform.chat.call import TokenLogprobs
from longform.errors import UsageError
from longform.given import Json
from longform.keys import in_groups, stable_seed
from longform.text.words import stems

Values = Mapping[str, str]
Task = TypeVar("Task")


@dataclass(frozen=True, kw_only=True)
class VerifierFaults:
    """Faults of the scripted verifier, each a share of its replies."""

    seed: int = 0
    errors: float = 0.0  # one verdict is wrong: a find missed, or one that is none
    invalid_json: float = 0.0  # the reply breaks off


@dataclass(frozen=True, kw_only=True)
class ExtractorFaults:
    """Faults of the scripted extractor, each a share in [0, 1]."""

    seed: int = 0
    dull: float = 0.0  # of questions that meet two criteria of five
    spread: float = 0.0  # of questions that are sorted at random
    strays: float = 0.0  # of points whose span does not stand in the document
    doubles: float = 0.0  # of merged lists in which a point stands in two groups
    gaps: float = 0.0  # of merged lists from which a point is missing
    prose: float = 0.0  # of replies without the form that was asked for
    empty: float = 0.0  # of replies without a text


Faults = WriterFaults | VerifierFaults | ExtractorFaults

_KINDS: dict[str, type[Faults]] = {
    "scripted-writer": WriterFaults,
    "scripted-verifier": VerifierFaults,
    "scripted-extractor": ExtractorFaults,
}


def say(prompt: str, model: str) -> Said | None:
    """
    Return the reply of *model* to *prompt*; None if it is none of these, or is asked for another task.

    Raises:
        UsageError: The name has options that it does not know.
    """
    faults = scripted_faults(model)
    if isinstance(faults, WriterFaults):
        written = write(prompt, faults)
        return None if written is None else Said(written.text, written.is_refusal)
    if isinstance(faults, VerifierFaults):
        text = verify(prompt, faults)
        return extracted(prompt, ExtractorFaults()) if text is None else Said(text, is_refusal=False)
    return None if faults is None else extracted(prompt, faults)


@cache
def scripted_faults(model: str) -> Faults | None:
    """
    Return the faults that the name of a model states; None if it is not a name of a scripted one.

    Raises:
        UsageError: It is one, with options that it does not know.
    """
    name, _, said = model.partition(":")
    if name not in _KINDS:
        return None
    kind = _KINDS[name]
    known = [one.name for one in fields(kind)]
    options: dict[str, float] = {}
    for part in filter(None, said.split(",")):
        key, _, value = part.partition("=")
        try:
            options[key] = int(value) if key == "seed" else float(value)
        except ValueError:
            options[f"{part} (no number)"] = 0.0
    if unknown := sorted(options.keys() - set(known)):
        raise UsageError(f"model {model!r}: expected options of {known}, each =NUMBER, found {unknown}")
    return kind(**options)  # type: ignore[arg-type]


# ---------------------------------------------------------------- the verifier


_COUNT = re.compile(r"\b\d{3},\d{3}\b")
_SUBTOPIC = re.compile(r"^Subtopic (\d+): (.+)$")
_FACT = re.compile(r"^  Fact (\d+): (.+)$")


def verify(prompt: str, faults: VerifierFaults) -> str | None:
    """Return the reply to a prompt of a synthesis; None if it is none for a verifier."""
    for task, values, draw in _asked(prompt, "verifier", faults.seed, _VERIFYING):
        errs, breaks_off = draw.random() < faults.errors, draw.random() < faults.invalid_json
        reply = json.dumps(task(values, draw if errs else None))
        return reply[: len(reply) // 2] if breaks_off else reply
    return None


def _asked(prompt: str, who: str, seed: int, tasks: Mapping[str, Task]) -> Iterator[tuple[Task, Values, Random]]:
    """Give the one of *tasks* that a prompt is for, if it is for one, with its values, and the draws of the reply."""
    for name, task in tasks.items():
        if (values := rendered_fields(name, prompt)) is not None:
            yield task, values, Random(stable_seed(f"scripted {who}", seed, prompt))


def _overlaps(values: Values, wrong: Random | None) -> Json:
    return _pairs([item["name"].lower().split()[-1] for item in json.loads(values["subtopics"])], wrong)


def _duplicates(values: Values, wrong: Random | None) -> Json:
    return _pairs([_count(item["fact"]) for item in json.loads(values["insights"])], wrong)


def _pairs(signs: list[str | None], wrong: Random | None) -> Json:
    """Return numbers of things with the same sign; if *wrong*, of one thing the opposite."""
    found = {n: signs.index(sign) + 1 for n, sign in enumerate(signs, start=1) if sign and signs.index(sign) + 1 < n}
    if wrong and len(signs) > 1:
        number = wrong.randint(2, len(signs))
        if found.pop(number, None) is None:
            found[number] = wrong.randint(1, number - 1)
    return {"pairs": [{"number": number, "repeats": repeats} for number, repeats in found.items()]}


def _categorize(values: Values, wrong: Random | None) -> Json:
    themes = [item["name"].lower().split()[-1] for item in json.loads(values["subtopics"])]
    said = re.findall(r"\w+", values["text"].lower())
    right = next((number for number, theme in enumerate(themes, start=1) if theme in said), 0)
    others = [number for number in range(len(themes) + 1) if number != right]
    return {"subtopic": wrong.choice(others) if wrong else right}


def _find(values: Values, wrong: Random | None) -> Json:
    facts = {number: item["fact"] for number, item in enumerate(json.loads(values["insights"]), start=1)}
    return {"present": _stated(facts, values["text"], wrong)}


def _classify(values: Values, wrong: Random | None) -> Json:
    facts: dict[int, str] = {}
    subtopic_of: dict[int, int] = {}
    themes: dict[int, str] = {}
    subtopic = 0
    for line in values["outline"].splitlines():
        if found := _SUBTOPIC.match(line):
            subtopic = int(found[1])
            themes[subtopic] = found[2].partition(":")[0].lower().split()[-1]
        elif found := _FACT.match(line):
            facts[int(found[1])] = found[2]
            subtopic_of[int(found[1])] = subtopic
    right = _stated(facts, values["chapter"], None)
    about = next((subtopic_of[number] for number in right), 0)
    return {"subtopic": about, "insights": _stated(facts, values["chapter"], wrong)}


def _stated(facts: Mapping[int, str], text: str, wrong: Random | None) -> list[int]:
    """Return the facts whose number stands in *text*; if *wrong*, the opposite for one of them."""
    there = set(_COUNT.findall(text))
    stated = {number for number, fact in facts.items() if _count(fact) in there}
    if wrong and facts:
        stated ^= {wrong.choice(sorted(facts))}
    return sorted(stated)


def _count(fact: str) -> str | None:
    found = _COUNT.search(fact)
    return found and found[0]


_LISTED = re.compile(r"\[(\d+)\] (.*?)(?=\n\n\[\d+\] |\Z)", re.DOTALL)
_RUN = 4  # words of an answer that tell it
_KEPT = 0.5  # of a query's words


def _check_rewrite(values: Values, wrong: Random | None) -> Json:
    original, query = _said(values["original"]), _said(values["query"])
    told = [
        " ".join(run) for run in _runs(query) if run in _runs(_said(values["answers"])) and run not in _runs(original)
    ]
    if wrong:
        told = [] if told else query[:1]
    return {"same": _kept(original, query), "told": told[:1]}


def _check_merge(values: Values, wrong: Random | None) -> Json:
    merged = _said(values["query"])
    missing = {int(number) for number, text in _LISTED.findall(values["queries"]) if not _kept(_said(text), merged)}
    if wrong:
        missing ^= {1}
    return {"missing": sorted(missing)}


def _said(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _runs(said: list[str]) -> list[tuple[str, ...]]:
    return [tuple(said[start : start + _RUN]) for start in range(len(said) - _RUN + 1)]


def _kept(before: list[str], after: list[str]) -> bool:
    return sum(word in after for word in before) >= _KEPT * len(before)


_VERIFYING: Mapping[str, Callable[[Values, Random | None], Json]] = {
    "synthesize_overlaps": _overlaps,
    "synthesize_duplicates": _duplicates,
    "synthesize_categorize": _categorize,
    "synthesize_find": _find,
    "synthesize_classify": _classify,
    "synthesize_check_rewrite": _check_rewrite,
    "synthesize_check_merge": _check_merge,
}


# ---------------------------------------------------------------- questions, documents and points


_SENTENCE = re.compile(r"[^.!?\n]{20,}[.!?]?")
_NAMED = re.compile(r"^(\d+)\. ([^:\n]+):", re.MULTILINE)
_POINTS_A_ROUND = 6
_LEAST, _MOST = 0.02, 0.98  # P(YES)
_PROSE = "There is much to be said about this, and opinions differ."


def extracted(prompt: str, faults: ExtractorFaults) -> Said | None:
    """Return the reply to a prompt about questions, documents or points; None if it is none of them."""
    for task, values, draw in _asked(prompt, "extractor", faults.seed, _EXTRACTING):
        if draw.random() < faults.empty:
            return _reply("")
        if draw.random() < faults.prose:
            return _reply(_PROSE)
        said = task(values, faults, draw)
        return said if isinstance(said, Said) else _reply(json.dumps(said, ensure_ascii=False))
    return None


def _reply(text: str, logprobs: tuple[TokenLogprobs, ...] | None = None) -> Said:
    return Said(text, is_refusal=False, logprobs=logprobs)


_Extracting = Callable[[Values, ExtractorFaults, Random], Json | Said]


def _criteria(_: Values, faults: ExtractorFaults, draw: Random) -> Json:
    suits = draw.random() >= faults.dull
    names = ("not_common_sense", "clear", "unambiguous", "complex", "asks_for_opinion")
    return {name: suits or place < 2 for place, name in enumerate(names)}


def _sorted(values: Values, faults: ExtractorFaults, draw: Random) -> Json:
    """Sort by the first name of each list that stands in the question; else as the first."""
    at_random = draw.random() < faults.spread
    found: dict[str, Json] = {}
    for field, key in (("categories", "category"), ("domains", "domain")):
        names = [name for _, name in _NAMED.findall(values[field])]
        said = [n for n, name in enumerate(names, start=1) if f"({name})" in values["question"]]
        found[key] = draw.randint(1, len(names)) if at_random else said[0] if said else 1
    return found


def _evolved(values: Values, _: ExtractorFaults, draw: Random) -> Json:
    """Write questions that name their category and domain in brackets, and add words of their own to the given one."""
    names = " ".join(f"({values[field].partition(':')[0]})" for field in ("category", "domain"))
    given = values["question"].rstrip(" ?")
    return {
        "questions": [
            f"{given}, {names}, " + " ".join(f"case{draw.randrange(10_000)}" for _ in given.split()) + "?"
            for _ in range(int(values["n_questions"]))
        ]
    }


def _searches(values: Values, _: ExtractorFaults, __: Random) -> Json:
    words = values["question"].split()
    half = len(words) // 2
    parts: list[Json] = [" ".join(words[:half]), " ".join(words[half:])]
    return {"kind": "complex", "sub_questions": parts} if half else {"kind": "simple", "sub_questions": []}


def _points(values: Values, faults: ExtractorFaults, draw: Random) -> Json:
    """Give the next sentences that were not found yet; if the document has fewer than two, two points of its words."""
    document, found = values["document"], values["found"]
    spans = [span.strip() for span in _SENTENCE.findall(document)]
    named = dict.fromkeys(span for span in spans if " ".join(span.split()) not in " ".join(found.split()))
    points = [(" ".join(span.split()), span) for span in named]
    if len(spans) < 2 and found.startswith("("):
        points = [(f"{said}: {document.strip()[:60]}", document.strip()[:60]) for said in ("First", "Second")]
    return {"points": [_point(text, span, faults, draw) for text, span in points[:_POINTS_A_ROUND]]}


def _point(text: str, span: str, faults: ExtractorFaults, draw: Random) -> Json:
    strays = draw.random() < faults.strays
    return {"point": text, "spans": [f"{span} as nobody said" if strays else span]}


def _merged(values: Values, faults: ExtractorFaults, draw: Random) -> Json:
    texts: list[str] = [one["point"] for one in json.loads(values["points"])]
    said = in_groups((tuple(stems(text)), number) for number, text in enumerate(texts, start=1))
    groups = [*said.values()]
    if draw.random() < faults.doubles:
        groups.append([groups[0][0]])
    if draw.random() < faults.gaps:
        groups = [numbers for numbers in groups if len(texts) not in numbers]
    return {"groups": [{"point": texts[numbers[0] - 1], "numbers": [*numbers]} for numbers in groups]}


def _significant(_: Values, __: ExtractorFaults, draw: Random) -> Said:
    """Say YES of one half of the points, with every P(YES) as often as any other."""
    yes = draw.uniform(_LEAST, _MOST)
    ranked = sorted((("YES", log(yes)), ("NO", log(1 - yes))), key=lambda token: -token[1])
    return _reply(ranked[0][0], (TokenLogprobs(*ranked[0], tuple(ranked)),))


_EXTRACTING: Mapping[str, _Extracting] = {
    "synthesize_criteria": _criteria,
    "synthesize_sort_question": _sorted,
    "synthesize_deeper_questions": _evolved,
    "synthesize_wider_questions": _evolved,
    "synthesize_searches": _searches,
    "synthesize_points": _points,
    "synthesize_merge_points": _merged,
    "synthesize_key_point": _significant,
}
