"""
Change one sentence by rule: into one that says something else, or into one that says no more.

The changes that alter what is said are the errors that word overlap and sentence vectors do not see: another number,
date or name, roles turned round, a denial, the subject of one sentence with the predicate of another. The rules know
endings, capitals and word lists, no grammar; each gives None if the sentence has no part for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from longform.judges.perturbations import NEGATIONS, NUMBER, YEAR, lowered, main_verb, other_number
from longform.text.words import STOP_WORDS

_MONTHS = "January February March April May June July August September October November December".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_DATE = re.compile(rf"\b(?:(?P<year>(?:19|20)\d\d)|(?P<name>{'|'.join(_MONTHS + _WEEKDAYS)}))\b")

_NAME = re.compile(r"(?<=[a-z,;:] )(?:[A-Z][\w&'’-]*[A-Za-z])(?: [A-Z][\w&'’-]*[A-Za-z])*")
_TERM = re.compile(r"(?<![\w-])[a-z][a-z-]{5,}[a-z](?![\w-])")
_ENDING = 3
"""Letters by which a term is replaced by one of its kind: `aspirin` by `insulin`, `patients` by `students`."""

_NOUN_PHRASE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er|[Tt]hese|[Tt]hose|[Tt]his|that) "
    r"(?:[a-z-]+(?:al|ic|ive|ous|ing|ed|ary|able|ible|ful|ant|ent|est|ern) )?[a-z-]{3,}\b|" + _NAME.pattern
)
_JOINED_ALIKE = re.compile(r"[\s,]*(?:and|or|nor|&|as well as|,)?[\s,]*", re.IGNORECASE)
"""Between two that may change places without a change of what is said."""

_OPPOSITES = (
    "increase:decrease increased:decreased increases:decreases increasing:decreasing higher:lower high:low more:less "
    "most:least greater:smaller larger:smaller large:small rise:fall rose:fell rises:falls rising:falling "
    "improve:worsen improved:worsened improves:worsens improving:worsening better:worse best:worst faster:slower "
    "early:late earlier:later before:after above:below positive:negative positively:negatively strong:weak "
    "stronger:weaker always:never all:none many:few gain:loss gains:losses success:failure successful:unsuccessful "
    "effective:ineffective significant:insignificant significantly:insignificantly able:unable similar:different "
    "support:oppose supported:opposed accept:reject accepted:rejected allow:forbid allowed:forbidden with:without "
    "first:last longer:shorter long:short easy:hard easier:harder common:rare likely:unlikely"
).split()
_OPPOSITE = {a: b for pair in _OPPOSITES for a, b in (pair.split(":"), reversed(pair.split(":")))}
_OPPOSED = re.compile(rf"\b(?:{'|'.join(_OPPOSITE)})\b")
_DENIAL = re.compile(r"(?<=\w) (?:not|no longer|never)\b|n['’]t\b")

_OPENING = re.compile(
    r"^(?:However|Moreover|Furthermore|Finally|Additionally|Therefore|Thus|Meanwhile|Indeed|Overall|Also|"
    r"(?:In|For|As|By|On|At|During|With|Since|After|Before) [^,.;:]{3,60}), (?=\w)"
)
_ASIDES = (
    re.compile(r" \([^()]{2,80}\)"),
    re.compile(r",? (?:which|who|where) [^,.;:]{5,90}(?=[.;]?$)"),
    re.compile(r", (?:which|who|where) [^,.;:]{5,90},"),
    re.compile(r", \w+ing [^.;:]{5,90}(?=\.?$)"),
    re.compile(r" (?:because|although|while|whereas) [^.;:]{5,120}(?=\.?$)"),
)
_LEAST_KEPT = 5
"""Words of a shortened sentence."""


class Stock(NamedTuple):
    """Replacements for a sentence's own words: names and terms of other documents."""

    names: Sequence[str]
    terms: Mapping[str, Sequence[str]]  # ending -> words

    @classmethod
    def of(cls, sentences: Sequence[str]) -> Stock:
        """All names and terms of *sentences*, each once, in order."""
        names = dict.fromkeys(name for sentence in sentences for name in _NAME.findall(sentence))
        names = {name: None for name in names if not _DATE.search(name)}
        terms: dict[str, dict[str, None]] = {}
        for term in (term for sentence in sentences for term in _TERM.findall(sentence) if term not in STOP_WORDS):
            terms.setdefault(term[-_ENDING:], {})[term] = None
        return cls(list(names), {ending: list(words) for ending, words in terms.items()})


Change = Callable[[str, np.random.Generator, Stock], str | None]


def other_numbers(sentence: str, rng: np.random.Generator, _: Stock) -> str | None:
    """One number, year and date apart, replaced."""
    found = [match for match in NUMBER.finditer(sentence) if not YEAR.fullmatch(match["digits"] or "")]
    return _replaced(sentence, found, lambda match: other_number(match, rng), rng)


def other_date(sentence: str, rng: np.random.Generator, _: Stock) -> str | None:
    """One year, month or weekday replaced."""

    def other(match: re.Match[str]) -> str:
        if match["year"]:
            return str(int(match["year"]) + int(rng.choice([-1, 1])) * int(rng.integers(1, 10)))
        kin = _MONTHS if match["name"] in _MONTHS else _WEEKDAYS
        return _pick([name for name in kin if name != match["name"]], rng)

    return _replaced(sentence, [*_DATE.finditer(sentence)], other, rng)


def other_entity(sentence: str, rng: np.random.Generator, stock: Stock) -> str | None:
    """One name replaced by a name of the stock; without names one term by a term with the same ending."""
    names = [match for match in _NAME.finditer(sentence) if not _DATE.search(match[0])]
    if names and stock.names:
        return _replaced(sentence, names, lambda _: _pick(stock.names, rng), rng)
    terms = [match for match in _TERM.finditer(sentence) if stock.terms.get(match[0][-_ENDING:])]
    return _replaced(sentence, terms, lambda match: _pick(stock.terms[match[0][-_ENDING:]], rng), rng)


def roles_swapped(sentence: str, rng: np.random.Generator, _: Stock) -> str | None:
    """Two names or noun phrases in each other's place; those that are merely listed together stay."""
    found = [*_NOUN_PHRASE.finditer(sentence)]
    pairs = [
        (a, b)
        for place, a in enumerate(found)
        for b in found[place + 1 :]
        if a[0].lower() != b[0].lower() and not _JOINED_ALIKE.fullmatch(sentence[a.end() : b.start()])
    ]
    if not pairs:
        return None
    a, b = pairs[int(rng.integers(len(pairs)))]
    one, two = str(a[0]), str(b[0])
    if a.start() == 0:
        one, two = lowered(one), two[0].upper() + two[1:]
    return f"{sentence[: a.start()]}{two}{sentence[a.end() : b.start()]}{one}{sentence[b.end() :]}"


def denied(sentence: str, rng: np.random.Generator, _: Stock) -> str | None:
    """A denial put in or taken out, or one word replaced by its opposite."""
    ways: list[Callable[[], str | None]] = [
        lambda: _pick(options, rng) if (options := [*filter(None, (form(sentence) for form in _FORMS))]) else None,
        lambda: _replaced(sentence, [*_OPPOSED.finditer(sentence)], lambda match: _OPPOSITE[match[0]], rng),
        lambda: _replaced(sentence, [*_DENIAL.finditer(sentence)], lambda _: "", rng),
    ]
    for way in rng.permutation(len(ways)).tolist():
        changed: str | None = ways[way]()
        if changed is not None:
            return changed
    return None


_FORMS = tuple(form for name, form in NEGATIONS.items() if name in ("not", "contracted", "never", "no_longer"))

ALTERING: Mapping[str, Change] = {
    "number": other_numbers,
    "date": other_date,
    "entity": other_entity,
    "role": roles_swapped,
    "negation": denied,
}
"""Kind of error -> the change that makes it."""


def shortened(sentence: str, rng: np.random.Generator) -> str | None:
    """Return the sentence without an aside or its opening, which says nothing more than before."""
    kept = []
    for aside in _ASIDES:
        if (match := aside.search(sentence)) is not None:
            rest = sentence[: match.start()] + sentence[match.end() :]
            kept.append(rest if rest.endswith((".", "!", "?")) else rest + ".")
    if (opening := _OPENING.match(sentence)) is not None:
        rest = sentence[opening.end() :]
        kept.append(rest[0].upper() + rest[1:])
    kept = [text for text in kept if len(text.split()) >= _LEAST_KEPT]
    return _pick(kept, rng) if kept else None


def merged(first: str, second: str, rng: np.random.Generator) -> str:
    """Both sentences as one."""
    joint = _pick([", and ", "; ", ", while "], rng)
    return first.rstrip(" .!?") + joint + lowered(_OPENING.sub("", second))


def wrongly_merged(first: str, second: str) -> str | None:
    """The subject of *first* with the predicate of *second*."""
    verbs = [main_verb(sentence) for sentence in (first, second)]
    if verbs[0] is None or verbs[1] is None:
        return None
    subject, predicate = first[: verbs[0].start()], second[verbs[1].start() :]
    own = second[: verbs[1].start()]
    if not subject.strip() or subject.strip().lower() == own.strip().lower() or len(predicate.split()) < 3:
        return None
    return subject + predicate


def _replaced(
    sentence: str,
    places: Sequence[re.Match[str]],
    other: Callable[[re.Match[str]], str],
    rng: np.random.Generator,
) -> str | None:
    """Return *sentence* with one of *places* replaced; None if there is none, or the same came out."""
    if not places:
        return None
    match = places[int(rng.integers(len(places)))]
    changed = sentence[: match.start()] + other(match) + sentence[match.end() :]
    return changed if changed.lower() != sentence.lower() else None


def _pick(choices: Sequence[str], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]
