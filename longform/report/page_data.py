"""Records as the scripts of pages read them: packed, on pages that stay below a size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice, takewhile
from types import NoneType
from typing import Any, TypeVar

from longform.tables.packed import column

PLACES = 4
"""Decimals kept of scores and probabilities."""

PAGE_BYTES = 2_800_000
"""Most data of one page, unless a single record has more; with its markup a page stays below 3 MB."""

SMALL_PAGE_BYTES = 300_000
"""A page with less data goes on with the next haystack, so that hundreds of small ones do not have a page each."""

_SIZED_TOGETHER = 32  # records

Record = TypeVar("Record", bound=Mapping[str, Any])


def script_json(data: object) -> str:
    """Return JSON that no text in it can end: it holds no `<`, so neither `</script>` nor `<!--`."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def page_data(**tables: Sequence[Any]) -> str:
    """Return records by the name of their table as the JSON that `pageData` of `element.js` reads."""
    return script_json({name: column(rows) for name, rows in tables.items()})


def paged(
    records: Iterable[Record],
    haystack: Callable[[Record], str],
    *,
    together: str,
    most_bytes: int = PAGE_BYTES,
    small_bytes: int = SMALL_PAGE_BYTES,
) -> Iterator[list[Record]]:
    """
    Yield the records of pages of at most *most_bytes* of data, in their order; one page is in memory at a time.

    Args:
        records: Those of a haystack together.
        haystack: The id of the haystack of a record, which begins a page unless the one before is small.
        together: The field of which records with the same value share a page, if they fit into one.
        most_bytes: The largest page.
        small_bytes: The size from which a page ends with its haystack.
    """
    page, sized = list[Record](), _Sized()
    for block in _blocks(records, haystack):
        if page and haystack(block[0]) != haystack(page[-1]) and sized.n_bytes >= small_bytes:
            yield page
            page, sized = [], _Sized()
        sized.add(block)
        if sized.n_bytes <= most_bytes:
            page += block
            continue
        sized = _Sized(page)
        for record in block:
            page.append(record)
            sized.add([record])
            while sized.n_bytes > most_bytes and len(page) > 1:
                own = len(list(takewhile(record[together].__eq__, (one[together] for one in reversed(page)))))
                moved = own if own < len(page) else 1
                yield page[:-moved]
                page, sized = page[-moved:], _Sized(page[-moved:])
    if page:
        yield page


def _blocks(records: Iterable[Record], haystack: Callable[[Record], str]) -> Iterator[list[Record]]:
    """Yield some records of a haystack at a time: sizes of many are sooner told together than one by one."""
    for _, own in groupby(records, haystack):
        while block := list(islice(own, _SIZED_TOGETHER)):
            yield block


class _Sized:
    """The bytes that records have on a page, as `longform.tables.packed.column` writes them, but for the heads."""

    def __init__(self, records: Sequence[Mapping[str, Any]] = ()) -> None:
        self.n_bytes = 0
        self._texts: dict[str, set[str | None]] = {}  # by column
        self._shared: set[int] = set()
        self.add(records)

    def add(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Add records; one that stands within several, as a query in its summaries, counts once."""
        if records:
            self._add(records, "")

    def _add(self, values: Sequence[Any], name: str) -> None:
        kinds = {*map(type, values)}
        if kinds == {dict}:
            if not name.endswith("[]"):
                values = [*{id(value): value for value in values if id(value) not in self._shared}.values()]
                self._shared.update(map(id, values))
            for part in values[0] if values else ():
                self._add([value[part] for value in values], f"{name}.{part}")
        elif kinds <= {str, NoneType}:
            seen = self._texts.setdefault(name, set())
            unseen = {*values} - seen
            seen |= unseen
            self.n_bytes += len(script_json([*unseen]).encode())
            self.n_bytes += len(values) * (len(str(len(seen))) + 1)
        elif kinds <= {list, tuple, NoneType}:
            self.n_bytes += sum(5 if value is None else len(str(len(value))) + 1 for value in values)
            self._add([item for value in values for item in value or ()], f"{name}[]")
        else:
            self.n_bytes += len(script_json(values))
