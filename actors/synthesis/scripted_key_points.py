"""
A model without a model for key points: it reads questions and documents by rules, and misbehaves at stated rates.

What it says follows from its seed and the prompt alone. A point is a sentence of the document, and its span the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from random import Random

from actors.rehearsal.scripted_chat import Said
from actors.rehearsal.scripted_tasks import rendered_fields
from longform.chat.call import TokenLogprobs
from longform.given import Json
from longform.keys import in_groups, stable_seed
from longform.text.words import stems

_SENTENCE = re.compile(r"[^.!?\n]{20,}[.!?]?")
_LISTED = re.compile(r"^(\d+)\. ([^:\n]+):", re.MULTILINE)
_POINTS_A_ROUND = 6
_LEAST, _MOST = 0.02, 0.98  # P(YES)
_PROSE = "There is much to be said about this, and opinions differ."


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


def extracted(prompt: str, faults: ExtractorFaults) -> Said | None:
    """Return the reply to a prompt about questions, documents or points; None if it is none of them."""
    for name, task in _TASKS.items():
        if (values := rendered_fields(name, prompt)) is not None:
            draw = Random(stable_seed("scripted extractor", faults.seed, prompt))
            if draw.random() < faults.empty:
                return _said("")
            if draw.random() < faults.prose:
                return _said(_PROSE)
            said = task(values, faults, draw)
            return said if isinstance(said, Said) else _said(json.dumps(said, ensure_ascii=False))
    return None


def _said(text: str, logprobs: tuple[TokenLogprobs, ...] | None = None) -> Said:
    return Said(text, is_refusal=False, logprobs=logprobs)


Values = Mapping[str, str]
_Task = Callable[[Values, ExtractorFaults, Random], Json | Said]


def _criteria(_: Values, faults: ExtractorFaults, draw: Random) -> Json:
    suits = draw.random() >= faults.dull
    names = ("not_common_sense", "clear", "unambiguous", "complex", "asks_for_opinion")
    return {name: suits or place < 2 for place, name in enumerate(names)}


def _sorted(values: Values, faults: ExtractorFaults, draw: Random) -> Json:
    """Sort by the first name of each list that stands in the question; else as the first."""
    at_random = draw.random() < faults.spread
    found: dict[str, Json] = {}
    for field, key in (("categories", "category"), ("domains", "domain")):
        names = [name for _, name in _LISTED.findall(values[field])]
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
    return _said(ranked[0][0], (TokenLogprobs(*ranked[0], tuple(ranked)),))


_TASKS: Mapping[str, _Task] = {
    "synthesize_criteria": _criteria,
    "synthesize_sort_question": _sorted,
    "synthesize_deeper_questions": _evolved,
    "synthesize_wider_questions": _evolved,
    "synthesize_searches": _searches,
    "synthesize_points": _points,
    "synthesize_merge_points": _merged,
    "synthesize_key_point": _significant,
}
