"""Sentence templates: `{slot}` is a value, `{slot:words}` a number in words, `{slot:again}` the last name once more."""

from __future__ import annotations

import re
from collections.abc import Mapping

Value = str | int

SLOT = re.compile(r"\{(\w+)(?::(words|again))?\}")
_COMMA_BEFORE_MARK = re.compile(r",\s*([,.?])")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_LARGEST_IN_WORDS = 99


def slots(template: str) -> frozenset[str]:
    """The slots that a template names, in any of its choices."""
    return frozenset(match[1] for match in SLOT.finditer(template))


def filled(template: str, values: Mapping[str, Value]) -> str:
    """Fill a template without choices, and begin it with a capital, even in a slot."""
    text = SLOT.sub(lambda match: form(values[match[1]], in_words=match[2] == "words"), template)
    return text[0].upper() + text[1:]


def number_in_words(number: int) -> str:
    """
    `42` -> `forty-two`.

    Raises:
        ValueError: The number is not within 0 to 99.
    """
    if not 0 <= number <= _LARGEST_IN_WORDS:
        msg = f"expected a number from 0 to {_LARGEST_IN_WORDS} to write in words, got {number}"
        raise ValueError(msg)
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] if ones == 0 else f"{_TENS[tens - 2]}-{_ONES[ones]}"


def tidied(text: str) -> str:
    """Drop the comma that ends an apposition if another mark follows it."""
    return _COMMA_BEFORE_MARK.sub(r"\1", text)


def form(value: Value, *, in_words: bool) -> str:
    """A value as text: a number with separators, or in words."""
    if isinstance(value, str):
        return value
    return number_in_words(value) if in_words else f"{value:,}"
