"""
JSON files of a folder: their bytes, their content once it is known to be whole, and those that a run has.

A sealed file begins with `digest`, the key of all else in it, so that a changed digit is noticed. Somebody who changes
such a file by hand removes that line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from longform.keys import content_key

RECORD = "run.json"
"""States what the run was made from, and what its work cost."""

RESULTS = "results.json"
"""Has everything that the report shows."""

REMADE: Mapping[str, str] = {
    RECORD: "put it back from a copy, or delete it and give the command that made the run again: it writes it anew, "
    "and what the tables hold is not made again",
    RESULTS: "put it back from a copy, or delete it and give the command that made the run again, or `longform "
    "aggregate`: it is written anew from the tables",
    "benchmark.json": "put it back from a copy, or make the benchmark anew",
}
"""File name -> what to do if it is damaged."""

PUT_BACK = (
    "put the file back from a copy, or go on in a new folder: finished calls are in the ledger and not paid again"
)
"""Advice about any other."""

_SEAL = "digest"
_ENDS = re.compile(r"[0-9a-f]-([0-9a-f]{20})\.\w+$")


def check_name(name: str, digest: str) -> None:
    """
    Hold the digest of a file's content against the one that its name ends with; some older names have none.

    Raises:
        ValueError: They differ.
    """
    named = _ENDS.search(name)
    if named is not None and named[1] != digest:
        raise ValueError("it is not what was written, as the hash in its name shows")


def as_bytes(content: Mapping[str, object] | Sequence[object], *, sealed: bool) -> bytes:
    """Return *content* as a file holds it."""
    if sealed:
        assert isinstance(content, Mapping), "a list has no place for a digest"
        as_read = json.loads(json.dumps(content, allow_nan=False))  # whose key is the same
        content = {_SEAL: content_key(as_read), **content}
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def of_bytes(content: bytes, *, needs: Collection[str] | None = None) -> Any:
    """
    Return what a file holds.

    The object must have the keys *needs*; None: it may be a list.

    Raises:
        ValueError: It is damaged; the words say how.
    """
    if not content.strip(b"\0 \t\r\n"):
        raise ValueError("it holds nothing but NUL bytes" if content.strip() else "it is empty")
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1:,} is no UTF-8") from error
    except json.JSONDecodeError as error:
        ends = error.pos >= len(error.doc.rstrip())
        raise ValueError("it ends too early" if ends else f"line {error.lineno}: no JSON") from error
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict):
        if needs is not None or not isinstance(found, list):
            raise ValueError("it holds no object")
        return found
    seal = found.pop(_SEAL, None)
    if lacking := sorted(set(needs or ()) - found.keys()):
        raise ValueError(f"it has no {', '.join(map(repr, lacking))}")
    if seal is not None and seal != content_key(found):
        raise ValueError(f"it is not what was written, as its {_SEAL!r} shows; if you changed it, remove that line")
    return found
