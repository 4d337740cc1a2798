"""Abbreviations, initials and ordinals of some thirty languages, whose full stops end no sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Protocol

from nupunkt import sentence_spans

from longform.text.language import ENGLISH, language, language_name

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


def goes_on(line: str, end: int, start: int, within: str) -> bool:
    """Return whether a sentence goes on behind a mark that ends one elsewhere, as behind an abbreviation."""
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
