"""Records as the scripts of pages read them: packed, on pages that stay below a size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from longform.keys import in_groups
from longform.report.parts import NO_DATASET, has_datasets
from longform.report.result_tables import anchor_of
from longform.results.cells import Row, of_family, table_rows
from longform.results.results import Results
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


# ---------------------------------------------------------------- pairs of which a reader picks two

_ENDS = {"one", "other", "difference", "p"}


def choosers(results: Results) -> dict[str, str]:
    """
    Return the data of choosers, safe within a script, by the address of the section that each stands in.

    There is one for each table of pairs beside which tables of its systems and families stand.
    """
    found = {}
    tables = results.get("tables") or {}
    for name, content in tables.items():
        beside = {f"{name}_systems", f"{name}_families"} <= {*tables}
        if content["rows"] and beside and {column["name"] for column in content["columns"]} >= _ENDS:
            found[anchor_of(content.get("section") or name)] = _json(results, name)
    return found


def _json(results: Results, name: str) -> str:
    """Return the families of pairs, the joint score first."""
    families = [row for row in table_rows(results, f"{name}_families") if not row["left_out"]]
    several = has_datasets(families)
    pairs, systems = (
        in_groups((of_family(row), row) for row in table_rows(results, f"{name}{end}")) for end in ("", "_systems")
    )
    return page_data(
        families=[
            _family(results, one, pairs[of_family(one)], systems[of_family(one)], several=several)
            for one in sorted(families, key=lambda one: one["measure"] != "joint")
        ]
    )


def _reference(results: Results, one: Row) -> str | None:
    rows = table_rows(results, "comparisons_families")
    found = [row["reference"] for row in rows if (row["judge"], row["dataset"]) == (one["judge"], one["dataset"])]
    return found[-1] if found else None


_OF_SYSTEM = ("system", "score", "summarizer", "setting")
_OF_FAMILY = ("unit", "better", "measure", "judge", "dataset", "n_tests", "smallest_p", "n_clusters", "cluster")


def _family(
    results: Results, one: Row, pairs: Sequence[Row], systems: Sequence[Row], *, several: bool
) -> Mapping[str, Any]:
    writers = any(row.get("summarizer") for row in systems)
    where = [one["dataset"] or NO_DATASET] if several else []
    where += [one["judge"] or "no judge"] if writers else []
    return {
        **{name: one[name] for name in _OF_FAMILY},
        "title": one["title"] + (f" ({', '.join(where)})" if where else ""),
        "clusters": _clusters(one),
        "few": int(one["smallest_p"] > one["level"]),
        "reference": _reference(results, one) if writers else None,
        "systems": [
            {name: row.get(name) for name in _OF_SYSTEM} | {"score": round(row["score"], 3)} for row in systems
        ],
        "pairs": [
            {"difference": told["value"], "half": half_of(told), "p": row["p"], "n": told["n"]}
            for row in pairs
            for told in [row["difference"]]
        ],
    }


def half_of(difference: Row) -> float | None:
    """Return half the width of an interval, in as few digits as it was made of."""
    if difference["low"] is None:
        return None
    half = (difference["high"] - difference["low"]) / 2
    return short if abs((short := round(half, 6)) - half) < 1e-12 else float(half)


def _clusters(one: Row) -> str:
    plural = "queries" if one["cluster"] == "query" else "haystacks"
    shared = (
        f", which share the documents of {one['n_haystacks']} haystacks and so are not independent"
        if one["cluster"] == "query" and 0 < one["n_haystacks"] < one["n_queries"]
        else ""
    )
    n = one["n_sign_changes"]
    made = f"all {n:,} changes of sign (exact)" if one["exact"] else f"{n:,} drawn changes of sign"
    return f"{one['n_clusters']} {plural}{shared}; {made}, smallest possible p {one['smallest_p']:.2g}"
