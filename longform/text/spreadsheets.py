"""Texts in files that spreadsheets open."""

from __future__ import annotations

_COMPUTED = ("=", "+", "-", "@", "\t", "\r")


def plain_cell(text: str) -> str:
    """
    Return a text that a spreadsheet shows and does not compute: one that begins like a formula has `'` before it.

    So has one that begins with `'` and such a sign: taking one `'` off gives every text back.
    """
    return f"'{text}" if text.lstrip("'").startswith(_COMPUTED) else text
