"""Checks what callers give: an error names the argument, what was expected and what came."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from longform.errors import UsageError
from longform.formats.fields import describe, has_surrogates
from longform.judges.cards import unmeasured_languages
from longform.settings.judges import SHIPPED_IN

_LOG = logging.getLogger(__name__)


def texts_of(argument: str, value: object, *, least: int = 1) -> list[str]:
    """
    Return *value* as a list of *least* texts or more; messages name the *argument*.

    Raises:
        UsageError: It is something else, or has too few.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise UsageError(f"{argument}: expected a list of texts, found {_named(value)}")
    texts = [text_of(f"{argument}[{place}]", text) for place, text in enumerate(value)]
    if len(value) < least:
        raise UsageError(f"{argument}: expected at least {least} text{'s' if least > 1 else ''}, found {len(value)}")
    return texts


def text_of(argument: str, value: object) -> str:
    """
    Return *value*, a text.

    Raises:
        UsageError: It is something else, or has halves of surrogate pairs, which are no characters.
    """
    if not isinstance(value, str):
        raise UsageError(f"{argument}: expected a text, found {_named(value)}")
    if has_surrogates(value):
        raise UsageError(f"{argument}: expected a text of whole characters, found {describe(value)}")
    return value


def summary_text(value: object) -> str:
    """
    Return a summary as one text; its bullets, if it is a list of them, are the items of a list.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(value, str):
        return text_of("summary", value)
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise UsageError(f"summary: expected a text or a list of bullets, found {_named(value)}")
    items = (" ".join(one.split()) for one in texts_of("summary", value, least=0))
    return "\n".join(one if one.startswith(("- ", "* ", "• ")) else f"- {one}" for one in items)


def number_of(argument: str, value: object) -> int:
    """
    Return *value*, a whole number above 0.

    Raises:
        UsageError: It is something else.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{argument}: expected a whole number above 0, found {value!r}")
    return value


def languages_told(texts: Mapping[str, Iterable[str]], judge: str) -> tuple[str, ...]:
    """Return a sentence for each language that an offline judge was not measured on, and log it."""
    found = tuple(unmeasured_languages(texts, {judge: SHIPPED_IN}))
    for sentence in found:
        _LOG.warning(sentence)
    return found


def _named(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
