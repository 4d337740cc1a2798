"""
Sentence templates: `[a|b]` is a choice, `{slot}` a value, `{slot:words}` a number in words.

A choice holds no other choice. A sentence begins with a capital whatever its first choice or slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

Value = str | int

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)(:words)?\}")
_COMMA_BEFORE_MARK = re.compile(r",\s*([,.?])")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_LARGEST_IN_WORDS = 99


def slots(template: str) -> frozenset[str]:
    """The slots that a template names, in any of its choices."""
    return frozenset(match[1] for match in _SLOT.finditer(template))


def write(template: str, values: Mapping[str, Value], rng: np.random.Generator) -> str:
    """One sentence of the template, its choices taken at random."""
    return _fill(_CHOICE.sub(lambda match: _pick(match[1].split("|"), rng), template), values)


def every_sentence(template: str, values: Mapping[str, Value]) -> Iterator[str]:
    """All sentences that `write` can give, for checks: as many as the product of its choices."""
    pieces = [part.split("|") if place % 2 else [part] for place, part in enumerate(_CHOICE.split(template))]
    for choice in product(*pieces):
        yield _fill("".join(choice), values)


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
    """Without the comma that ends an apposition where another mark follows it."""
    return _COMMA_BEFORE_MARK.sub(r"\1", text)


def _pick(options: list[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]


def _fill(template: str, values: Mapping[str, Value]) -> str:
    text = _SLOT.sub(lambda match: form(values[match[1]], in_words=bool(match[2])), template)
    return text[0].upper() + text[1:]


def form(value: Value, *, in_words: bool) -> str:
    """A value as text: a number with separators, or in words."""
    if isinstance(value, str):
        return value
    return number_in_words(value) if in_words else f"{value:,}"
