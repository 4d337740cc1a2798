"""Write the numbers of a text in one way: `twenty-seven`, `3.4 million`, `40 per cent`, `5 dollars`, `the 3rd`."""

from __future__ import annotations

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_WORTH = {**{word: n for n, word in enumerate(_SMALL)}, **_TENS, "a": 1, "an": 1}
_SCALES = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9, "trillion": 12}
_ORDINALS = {word: n for n, word in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), 3)}

_TENS_AND_ONE = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_SMALL[1:10])})\b", re.IGNORECASE)
_SCALED = re.compile(
    rf"(?:\b({'|'.join(_WORTH)})[ -]|(\d+(?:,\d{{3}})*(?:\.\d+)?)[ -]?)({'|'.join(_SCALES)})s?\b", re.IGNORECASE
)
_SHARE = re.compile(rf"\b({'|'.join([*_SMALL, *_TENS])})(?= (?:percent|per cent|pct)\b)", re.IGNORECASE)
_ORDINAL = re.compile(rf"(?<!\ba )(?<!\bone )\b({'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_RULES = (
    (re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.IGNORECASE), ""),
    (re.compile(r"(?<=\d) ?(?:percent|per cent|pct)\b", re.IGNORECASE), "%"),
    (re.compile(r"\b(?:USD ?|US\$)(?=\d)"), "$"),
    (re.compile(r"(?<![\d.,$])(\d[\d.,]*) ?(?:US )?(?:dollars?|USD)\b", re.IGNORECASE), r"$\1"),
    (re.compile(r"\b(\d{1,2})[:.]00 ?(?=[ap]\.?m\b)", re.IGNORECASE), r"\1 "),
)


def plain_numbers(text: str) -> str:
    """Return *text* with its numbers as digits, percentages behind `%` and dollars behind `$`."""
    text = _TENS_AND_ONE.sub(lambda match: str(_WORTH[match[1].lower()] + _WORTH[match[2].lower()]), text)
    for _ in range(2):  # three hundred thousand
        text = _SCALED.sub(_product, text)
    text = _SHARE.sub(lambda match: str(_WORTH[match[1].lower()]), text)
    text = _ORDINAL.sub(lambda match: str(_ORDINALS[match[1].lower()]), text)
    for pattern, plain in _RULES:
        text = pattern.sub(plain, text)
    return text


def _product(match: re.Match[str]) -> str:
    worth, digits, scale = match.groups()
    number = _WORTH[worth.lower()] if worth else float(digits.replace(",", ""))
    return f"{number * 10 ** _SCALES[scale.lower()]:.15g}"
