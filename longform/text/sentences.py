"""Sentences of a text, each with its place, and sentences and words as NLTK splits them for released labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Protocol

from nupunkt import sentence_spans

from longform.text.abbreviations import goes_on

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
        before = whole[-1][1] if whole else -1
        is_within = (
            _QUOTED.match(line, start) if before == start else before > 0 and goes_on(line, before, start, within)
        )
        whole.append((whole.pop()[0] if is_within else start, end))
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


class _Tokenizer(Protocol):
    def tokenize(self, text: str) -> list[str]: ...


def release_sentences(text: str) -> list[str]:
    """Return the sentences of *text*, stripped, as `nltk.sent_tokenize` gives them; nothing is downloaded."""
    return _tokenizer().tokenize(text.strip())


@cache
def _tokenizer() -> _Tokenizer:
    # NLTK's rules over the model's parameters from a package: that package's own rules split five of forty released
    # summaries otherwise.
    import punkt
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer  # slow to import

    model = punkt.load_model("english")
    parameters = PunktParameters()
    parameters.abbrev_types.update(model.abbrev_types)
    parameters.collocations.update(model.collocations)
    parameters.sent_starters.update(model.sent_starters)
    parameters.ortho_context.update({word: int(context) for word, context in model.ortho_context.items()})
    tokenizer: _Tokenizer = PunktSentenceTokenizer(parameters)
    return tokenizer


def n_words(text: str) -> int:
    """Return the number of words and marks of *text*, as `nltk.word_tokenize` splits it sentence by sentence."""
    return sum(len(_word_tokenizer().tokenize(sentence)) for sentence in release_sentences(text))


@cache
def _word_tokenizer() -> _Tokenizer:
    from nltk.tokenize.destructive import NLTKWordTokenizer  # slow to import

    tokenizer: _Tokenizer = NLTKWordTokenizer()
    return tokenizer
