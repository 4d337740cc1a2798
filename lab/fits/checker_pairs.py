"""
Pairs of a passage and a sentence to train a checker on, made from any documents by rule.

Half are supported: a sentence of the passage, shortened, or two of them merged. Half are not: one of the changes that
`lab.fits.sentence_changes` makes, the subject of one sentence with the predicate of another, or a sentence
that the passage does not hold. Where a gold map gives statements in words of their own, a sixth is made of them. To
keep a rule's own traces from giving the answer away, a part of the errors stands in the passage and not in the
sentence, and a part of the supported pairs has the same changed sentence on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

import numpy as np

from lab.fits.sentence_changes import ALTERING, Stock, merged, shortened, wrongly_merged
from longform.keys import stable_seed
from longform.text.sentences import sentences
from longform.text.windows import sentence_windows

OTHER_DOCUMENT, WRONG_MERGE = "other_document", "wrong_merge"
UNSUPPORTED = (*ALTERING, OTHER_DOCUMENT, WRONG_MERGE)
SUPPORTED = ("sentence", "deletion", "merge")
STATEMENT = "statement"
"""The kind of a supported pair whose sentence is a known statement in words of its own."""

NEAR = "near"
"""The kind of a pair whose likeness is learned."""

PASSAGE_WORDS = 70
SENTENCE_WORDS = range(6, 46)
_IN_PASSAGE = 0.2
"""Share of errors that stand in the passage, and of supported sentences that were changed on both sides."""

_SPEAKER = re.compile(r"^\[[^\[\]]{1,30}\]:? ")
_STATED_SHARE = 1 / 6
_NEAR_SHARE = 0.3
_STOCK_DOCUMENTS = 12
_TRIES = 40


class CheckerPair(NamedTuple):
    """A passage, consecutive sentences of a document, and a sentence to be judged by it."""

    document: str
    passage: str
    sentence: str
    supported: bool
    kind: str  # one of `SUPPORTED` or `UNSUPPORTED`, or `STATEMENT` or `NEAR`
    wrong: tuple[bool, ...]  # the words of the sentence that the passage does not say there
    likeness: float | None = None  # learned in the place of `supported` where nobody knows that; then `wrong` is empty


class Stated(NamedTuple):
    """A statement in words of its own, or a sentence of another document, and a passage of a document near to it."""

    document: str
    passage: str
    text: str
    likeness: float  # in meaning, from 0 to 1; 1 or 0 if it is known whether the document states it


class _Source(NamedTuple):
    name: str
    group: str
    sentences: list[str]
    usable: list[int]  # places of sentences of a fit length


def checker_pairs(
    documents: Mapping[str, str],
    n: int,
    *,
    seed: int,
    groups: Mapping[str, str],
    stated: Sequence[Stated] = (),
    near: Sequence[Stated] = (),
) -> list[CheckerPair]:
    """
    Return *n* pairs, about half of them supported, kinds in equal shares; the same arguments give the same pairs.

    Documents are texts by name, and a sentence of another document is one of another group. Statements whose support a
    gold map knows make a sixth of the pairs, sentences that another document nearly says three in ten, if there are
    such; the likenesses of these are spread evenly from 0 to 1 as far as there are any.

    Raises:
        ValueError: Fewer than two groups have sentences of a fit length, or they have the same ones.
    """
    sources = [source for name, text in documents.items() if (source := _source(name, groups[name], text)).usable]
    if len({source.group for source in sources}) < 2:
        raise ValueError(f"expected documents of two groups with sentences, got {len(sources)} of one or none")
    known = [[one for one in stated if one.likeness == answer] for answer in (1, 0)]
    made = [_pair(sources, known, stable_seed("checker pair", seed, number)) for number in range(n)]
    if near:
        rng = np.random.default_rng(stable_seed("near pairs", seed))
        places = rng.permutation(n)[: int(_NEAR_SHARE * n)].tolist()
        for place, pair in zip(places, _near_pairs(near, len(places), rng), strict=True):
            made[place] = pair
    return made


def _near_pairs(near: Sequence[Stated], n: int, rng: np.random.Generator) -> Iterator[CheckerPair]:
    ordered = sorted(near, key=lambda one: one.likeness)
    drawn = np.searchsorted([one.likeness for one in ordered], rng.random(n)) + rng.integers(-3, 4, size=n)
    for place in np.clip(drawn, 0, len(ordered) - 1).tolist():
        one = ordered[place]
        yield CheckerPair(one.document, one.passage, one.text, one.likeness > 0.5, NEAR, (), one.likeness)


def _source(name: str, group: str, text: str) -> _Source:
    found = [_SPEAKER.sub("", sentence.text) for sentence in sentences(text)]
    usable = [place for place, sentence in enumerate(found) if len(sentence.split()) in SENTENCE_WORDS]
    return _Source(name, group, found, usable)


def _pair(sources: Sequence[_Source], known: Sequence[Sequence[Stated]], seed: int) -> CheckerPair:
    rng = np.random.default_rng(seed)
    if all(known) and rng.random() < _STATED_SHARE and (pair := _of_statement(sources, known, rng)) is not None:
        return pair
    kind = str(rng.choice(SUPPORTED if rng.random() < 0.5 else UNSUPPORTED))
    # no document in reach may have a date, say: what every document has takes its place
    for make in (_MAKERS[kind], _foreign if kind in UNSUPPORTED else _MAKERS["sentence"]):
        for _ in range(_TRIES):
            source = sources[int(rng.integers(len(sources)))]
            if (pair := make(source, sources, rng)) is not None:
                return pair
    raise ValueError("expected documents that say different things, got groups that share their sentences")


def _of_statement(
    sources: Sequence[_Source], known: Sequence[Sequence[Stated]], rng: np.random.Generator
) -> CheckerPair | None:
    """A statement that its document makes; one that it does not make, or one that was changed."""
    supported, changed = rng.random() < 0.5, rng.random() < 0.5
    one = known[0 if supported or changed else 1]
    chosen = one[int(rng.integers(len(one)))]
    if supported or not changed:
        kind, wrong = (STATEMENT, False) if supported else (OTHER_DOCUMENT, True)
        marks = (wrong,) * len(chosen.text.split())
        return CheckerPair(chosen.document, chosen.passage, chosen.text, supported, kind, marks)
    stock = _stock(sources[int(rng.integers(len(sources)))], sources, rng)
    kind = str(rng.choice(list(ALTERING)))
    said = ALTERING[kind](chosen.text, rng, stock)
    if said is None:
        return None
    marks = changed_words(chosen.text.split(), said.split())
    return CheckerPair(chosen.document, chosen.passage, said, False, kind, marks)


Maker = Callable[[_Source, Sequence[_Source], np.random.Generator], CheckerPair | None]


def _supported(kind: str, source: _Source, sources: Sequence[_Source], rng: np.random.Generator) -> CheckerPair | None:
    passage, places = _passage(source, rng)
    place = int(rng.choice(places))
    said: str | None = passage[place]
    if kind == "deletion":
        said = shortened(passage[place], rng)
    elif kind == "merge":
        others = [other for other in places if other != place]
        said = merged(passage[place], passage[int(rng.choice(others))], rng) if others else None
    elif rng.random() < _IN_PASSAGE:
        said = passage[place] = _any_change(passage[place], source, sources, rng)
    return None if said is None else _made(source, passage, said, kind, [False] * len(said.split()))


def _altered(kind: str, source: _Source, sources: Sequence[_Source], rng: np.random.Generator) -> CheckerPair | None:
    passage, places = _passage(source, rng)
    place = int(rng.choice(places))
    own = base = passage[place]
    if rng.random() < 0.3:
        base = shortened(own, rng) or own  # a shortened sentence is no sign of support
    changed = ALTERING[kind](base, rng, _stock(source, sources, rng))
    if changed is None or _holds(passage, changed):
        return None
    if base == own and rng.random() < _IN_PASSAGE:
        passage[place] = changed
        base, changed = changed, own
    return _made(source, passage, changed, kind, changed_words(base.split(), changed.split()))


def _merged_wrongly(source: _Source, _: Sequence[_Source], rng: np.random.Generator) -> CheckerPair | None:
    passage, places = _passage(source, rng)
    if len(places) < 2:
        return None
    a, b = (passage[int(place)] for place in rng.choice(places, size=2, replace=False))
    said = wrongly_merged(a, b)
    if said is None or _holds(passage, said):
        return None
    return _made(source, passage, said, WRONG_MERGE, changed_words(b.split(), said.split()))


def _elsewhere(source: _Source, sources: Sequence[_Source], rng: np.random.Generator) -> CheckerPair | None:
    """In half of the cases a sentence of this document that the passage does not hold."""
    if rng.random() < 0.5:
        return _foreign(source, sources, rng)
    passage, places = _passage(source, rng)
    far = [place for place in source.usable if place not in places]
    return _beside(source, passage, source.sentences[int(rng.choice(far))]) if far else None


def _foreign(source: _Source, sources: Sequence[_Source], rng: np.random.Generator) -> CheckerPair | None:
    others = [other for other in sources if other.group != source.group]
    other = others[int(rng.integers(len(others)))]
    return _beside(source, _passage(source, rng)[0], other.sentences[int(rng.choice(other.usable))])


def _beside(source: _Source, passage: dict[int, str], said: str) -> CheckerPair | None:
    return None if _holds(passage, said) else _made(source, passage, said, OTHER_DOCUMENT, [True] * len(said.split()))


def _holds(passage: Mapping[int, str], said: str) -> bool:
    return any(said in text for text in passage.values())


def _made(source: _Source, passage: Mapping[int, str], said: str, kind: str, wrong: Sequence[bool]) -> CheckerPair:
    return CheckerPair(source.name, " ".join(passage.values()), said, kind in SUPPORTED, kind, tuple(wrong))


_MAKERS: Mapping[str, Maker] = {
    **{kind: partial(_supported, kind) for kind in SUPPORTED},
    **{kind: partial(_altered, kind) for kind in ALTERING},
    OTHER_DOCUMENT: _elsewhere,
    WRONG_MERGE: _merged_wrongly,
}


def passages(text: str) -> list[str]:
    """Consecutive sentences of *text*, of at most `PASSAGE_WORDS` words together, one list element each."""
    found = [_SPEAKER.sub("", sentence.text) for sentence in sentences(text)]
    sizes = [len(sentence.split()) for sentence in found]
    return [" ".join(found[window.first : window.end]) for window in sentence_windows(sizes, sizes, PASSAGE_WORDS)]


def _passage(source: _Source, rng: np.random.Generator) -> tuple[dict[int, str], list[int]]:
    """Sentences of at most `PASSAGE_WORDS` words together by their places, and the places of the usable ones: some."""
    place = int(rng.choice(source.usable))
    first, last = place, place + 1
    most = int(rng.integers(len(source.sentences[place].split()), PASSAGE_WORDS + 1))
    lengths = [len(sentence.split()) for sentence in source.sentences]
    while True:
        sides = [(first - 1, last), (first, last + 1)]
        fitting = [(a, b) for a, b in sides if a >= 0 and b <= len(source.sentences) and sum(lengths[a:b]) <= most]
        if not fitting:
            break
        first, last = fitting[int(rng.integers(len(fitting)))]
    places = [place for place in source.usable if first <= place < last]
    return dict(enumerate(source.sentences[first:last], start=first)), places


def _any_change(sentence: str, source: _Source, sources: Sequence[_Source], rng: np.random.Generator) -> str:
    """*sentence*, changed in the first way, in random order, that fits it; one that none fits stays."""
    stock = _stock(source, sources, rng)
    for kind in rng.permutation(np.array(list(ALTERING))).tolist():
        if (changed := ALTERING[kind](sentence, rng, stock)) is not None:
            return changed
    return sentence


def _stock(source: _Source, sources: Sequence[_Source], rng: np.random.Generator) -> Stock:
    chosen = rng.choice(len(sources), size=min(_STOCK_DOCUMENTS, len(sources)), replace=False)
    others = [sources[int(place)] for place in chosen if sources[int(place)].name != source.name]
    return Stock.of([text for other in others for text in other.sentences])


def changed_words(before: Sequence[str], after: Sequence[str]) -> tuple[bool, ...]:
    """Mark each word of *after* that does not stand *before* at that place."""
    changed = [True] * len(after)
    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        changed[block.b : block.b + block.size] = [False] * block.size
    return tuple(changed)
