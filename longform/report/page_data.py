"""Records as the scripts of pages read them: packed, on pages that stay below a size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from longform.tables.packed import column

PLACES = 4
"""Decimals kept of scores and probabilities."""

PAGE_BYTES = 2_800_000
"""Most data of one page, unless a single record has more; with its markup a page stays below 3 MB."""

SMALL_PAGE_BYTES = 300_000
"""A page with less data goes on with the next haystack, so that hundreds of small ones do not have a page each."""

Some = TypeVar("Some")


def script_json(data: object) -> str:
    """Return JSON that no text in it can end: it holds no `<`, so neither `</script>` nor `<!--`."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def page_data(**tables: Sequence[Any]) -> str:
    """Return records by the name of their table as the JSON that `pageData` of `element.js` reads."""
    return script_json({name: column(rows) for name, rows in tables.items()})


class Block(NamedTuple):
    """Records of a haystack that stand on a page together."""

    haystack: str
    ids: Sequence[Any]  # name the records, in their order
    data: str  # the records as `page_data` packs them


def paged(
    blocks: Iterable[Block], *, most_bytes: int = PAGE_BYTES, small_bytes: int = SMALL_PAGE_BYTES
) -> Iterator[list[Block]]:
    """
    Yield the blocks of pages of at most *most_bytes* of data, in their order; one page is in memory at a time.

    A page of one block has any size. One of *small_bytes* or more ends with its haystack, whose blocks come together.
    """
    page, n_bytes = list[Block](), 0
    for block in blocks:
        size = len(block.data.encode())
        ends = n_bytes >= small_bytes and page[-1].haystack != block.haystack
        if page and (ends or n_bytes + size > most_bytes):
            yield page
            page, n_bytes = [], 0
        page.append(block)
        n_bytes += size
    if page:
        yield page


def fitting(
    whole: Some, written: Callable[[Some], str], halves: Callable[[Some], Sequence[Some]], most_bytes: int
) -> Iterator[tuple[Some, str]]:
    """
    Yield *whole* with its text, or as few halvings of it as keep each text below *most_bytes*.

    What cannot be halved, such as one row, has a text of any size.
    """
    text = written(whole)
    parts = halves(whole) if len(text.encode()) > most_bytes else ()
    if not parts:
        yield whole, text
    for part in parts:
        yield from fitting(part, written, halves, most_bytes)


def blocks_data(blocks: Iterable[Block], **tables: Sequence[Any]) -> str:
    """Return the data of a page that shows *blocks*, and other tables beside them."""
    return f"[{','.join([*(block.data for block in blocks), page_data(**tables)])}]"
