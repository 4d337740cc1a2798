"""Sentences of a text, each with its place. The offline summarizer quotes them, and answers are read by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple, Protocol

from nupunkt import sentence_spans

from longform.text.language import ENGLISH, language, language_name

STOPS = "։؟۔܀-܂߹।॥။።፧፨᙮។៕᠃᠉꓿᱾᱿꧈꧉꯫།༎‼‽⁇⁈⁉。｡！？"
"""Marks that end sentences in scripts of their own, for a class of a regular expression."""
OWN_SPACES = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"
"""Letters of scripts that put no space between words (Thai, Lao, Tibetan, Burmese, Khmer)."""

_CLOSING = r"[\"'”’»」』）〉》】〕)］\]｣]"
_STOP = re.compile(
    rf"""
    (?=(?P<stop> (?: (?: [{STOPS}] | ፡፡ | (?<=[^\W\da-zA-Zａ-ｚＡ-Ｚ]) ．
        | (?<=[\u0370-\u03ff\u1f00-\u1fff]) [;\u037e] (?=\s+[\u0386-\u03ab])
        | [.!?…][“‘] (?=\s+[^\W\d_a-zß-öø-ÿąćčďěęłńňřśšťůźżž]) )+ {_CLOSING}* )+ ))
    (?P=stop) (?! [、，,;；] | (?<={_CLOSING})(?:と|って|など|を|の|的|吗|呢) )  # 「はい。」と言った is one sentence
    """,
    re.VERBOSE,
)
"""Stops of other scripts (no ． behind a digit) and what they close, whole, as by `++`, wrong in Python 3.11.2."""
_OTHER_STOP = re.compile(rf"[{STOPS}፡．;\u037e“‘]")
_QUOTED = re.compile(rf"{_CLOSING}+[\uac00-\ud7a3]")  # “네.”라고 is one word
_COMPANY = re.compile(r"\w[!?] (?:Inc|Corp|Ltd|Co|LLC|PLC|GmbH|AG|S\.?A)\b")
_WORD = re.compile(
    r"(?P<opening>[“„«‹‘\"'(\[¿¡]*(?:\w{1,4}['’](?=\w{3}))?)"
    r"(?P<word>[^\W_](?:[^\s,;:!?()\[\]\"“”«»]{0,10}[^\s,;:!?()\[\]\"“”«».'’])?)\."
)
"""The end of a sentence that may be an abbreviation, behind what opens it."""
_NUMBER = re.compile(r"[€$£#]?\d")
_NUMBERED = re.compile(r"[§№]|[^\W\d_]{1,3}(?:\.[º°]?|[º°]) ?\d")
_SHORT = re.compile("max|min|máx|mín|maks|aprox|макс")
_CONSONANTS = "bcčćdđfghjklłmnprřsštvxzžбвгджзклмнпрстфхцчшщβγδζθκλμνξπρστφχψ"
_NO_VOWEL = re.compile(rf"(?<!\d )(?<![\w/])(?:[{_CONSONANTS.upper()}]|\b)[{_CONSONANTS}]{{1,4}}\.$")
"""A word without a vowel, no unit behind a number."""
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\w?\.[-‐])+[^\W\d_a-z]")
_ORDINAL = re.compile(
    r"(?<!\bI )\b(?:am|im|vom|zum|bis|beim|de[rsmn]|das|die|eine?[nrsm]?|jede[nrsm]?) \d{1,2}\.$", re.IGNORECASE
)
"""A German ordinal, as in `Am 3. Mai`, which ends no sentence."""
_OWN_STOP = re.compile("[։۔।॥።។။]")
_OF_OWN_STOP = re.compile(r"[\u0530-\u058f\u0600-\u06ff\u0900-\u0dff\u1000-\u109f\u1200-\u139f\u1780-\u17ff]\W*\.$")
_RULES_OF = {"slovenian": "slovene", "afrikaans": "dutch", "croatian": "slovene"} | dict.fromkeys(
    ("ukrainian", "belarusian", "bulgarian", "macedonian", "serbian", "kazakh"), "russian"
)
"""Languages that mostly abbreviate as another one does; the others have the name that the library gives them."""
_NEAR = 32  # characters on each side of a full stop that are read
_READ = 4000  # characters of a text that tell its language and its stops
_LONGEST = 16  # characters of an abbreviation and what opens it


class Sentence(NamedTuple):
    """A sentence; `text[start:end]` of the text it came from is `text`, without space around it."""

    text: str
    start: int
    end: int


def sentences(text: str, within: str | None = None) -> list[Sentence]:
    """
    Return the sentences of *text*, in order; nothing but white space lies between them.

    A line break always ends a sentence: a transcript has one turn a line, and a heading is no part of what follows.
    Stops of other scripts (。！？ ؟ ।) end one without a space behind them. Abbreviations end none; they are those of
    the language of *within*, which *text* is a part of.
    """
    found: list[Sentence] = []
    offset = 0
    for line in text.split("\n"):
        for start, end in _spans(line, text if within is None else within):
            found.append(Sentence(line[start:end], offset + start, offset + end))
        offset += len(line) + 1
    return found


def _spans(line: str, within: str) -> Iterator[tuple[int, int]]:
    whole: list[tuple[int, int]] = []
    for start, end in sentence_spans(line):
        goes_on = whole and _goes_on(line, whole[-1][1], start, within)
        whole.append((whole.pop()[0] if goes_on else start, end))
    if _OTHER_STOP.search(line) is None:
        yield from whole
        return
    for start, end in whole:
        begin = start
        for stop in _STOP.finditer(line, start, end):
            yield begin, stop.end()
            begin = end - len(line[stop.end() : end].lstrip())
        if begin < end:
            yield begin, end


def _goes_on(line: str, end: int, start: int, within: str) -> bool:
    """Return whether a sentence goes on behind a mark that ends one elsewhere, as behind an abbreviation."""
    if start == end:
        return _QUOTED.match(line, start) is not None
    if line[end - 1] != ".":
        return line[end - 1] == "!" and _COMPANY.match(line, end - 2) is not None
    near = max(end - _NEAR, 0)
    last = line[max(line.rfind(" ", near, end) + 1, near) : end]
    number = _NUMBER.match(line, start) is not None
    if len(last) > _LONGEST or (last[0].islower() and not number and _language(within) == ENGLISH):
        return False
    found = _WORD.fullmatch(last)
    before, after = line[near:end], line[start : start + _NEAR]
    if found is None or (_OF_OWN_STOP.search(before) and not _OWN_STOP.search(within, 0, _READ)):
        return False
    return (
        _INITIALS.fullmatch(found["word"]) is not None
        or _ORDINAL.search(before) is not None
        or _OF_OWN_STOP.search(before) is not None
        or (number and _SHORT.fullmatch(found["word"]) is not None)
        or (found["opening"] != "" and _joined(f"of {found['word']}.", after))
        or _abbreviates(found["word"], before, after, _language(within))
    )


def _abbreviates(word: str, before: str, after: str, code: str) -> bool:
    """Return whether a word is an abbreviation; an English one that is new is a title, or stands before a number."""
    number = _NUMBER.match(after) is not None
    if code == ENGLISH:
        if "-" in word or not (number or word[0].isupper()) or _joined(f"of {word}.", "x"):
            return False
    elif after[0].islower() or (number and _NO_VOWEL.search(before)) or (len(word) < 6 and _NUMBERED.match(after)):
        return True
    tokenizer = _tokenizer(code)
    following = after.split(maxsplit=1)[0]
    return tokenizer is not None and next(tokenizer.span_tokenize(f"{word}. {following}"))[1] > len(word) + 1


@lru_cache(maxsize=16)
def _language(text: str) -> str:
    """Return the language of a text, English if it is not known; `the` tells English soon."""
    if text.count(" the ", 0, _READ) * 300 >= min(len(text), _READ):
        return ENGLISH
    return language(text) or ENGLISH


@lru_cache(maxsize=10_000)
def _joined(before: str, after: str) -> bool:
    """Return whether English knows that no sentence ends between two texts."""
    return all(end != len(before) for _, end in sentence_spans(f"{before} {after}"))


class _Tokenizer(Protocol):
    def span_tokenize(self, text: str) -> Iterator[tuple[int, int]]: ...


@cache
def _tokenizer(code: str) -> _Tokenizer | None:
    """Return what knows the abbreviations of a language; None for a language that the library does not know."""
    import punkt  # slow, and few texts need it

    name = language_name(code).lower()
    name = _RULES_OF.get(name, name)
    if not punkt.has_prefixes(name):
        return None
    model = punkt.load_model(name) if name in punkt.available_languages() else punkt.PunktParameters()
    tokenizer: _Tokenizer = punkt.PunktSentenceTokenizer(punkt.with_nonbreaking_prefixes(model, name))
    return tokenizer
