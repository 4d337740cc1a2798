"""Names by which answers cite documents: their ids, files of the same name, parts of them, and titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from longform.keys import in_groups
from longform.text.citations import bounded

_ENDING = re.compile(r"\.(?:txt|md|pdf|html?|docx?|json|xml|csv|rtf|pptx?|xlsx?)$", re.IGNORECASE)
_PART = re.compile(
    r"#|::?|@|\||§|[-_. /]?(?:chunk|part|passage|segment|section|page|p)[-_. ]?(?=\d)|[_/-](?=\d+$)", re.IGNORECASE
)
_WORDS = re.compile(r"[\s,;()\[\]<>\"“”„«»'`]+")
_NUMBERED = re.compile(r"([^\W\d_]+)[-_]?([0-9]{1,9})")
_RANGE = re.compile(rf"{_NUMBERED.pattern}\s*(?:[-–—‐‑−~]|\.\.+|to|bis)\s*\1[-_]?([0-9]{{1,9}})", re.IGNORECASE)
_MOST_OF_A_RANGE = 50
_ONE_NUMBER = re.compile(r"((?:.*/)?[^/0-9]*)([0-9]+)([^/0-9]*)", re.DOTALL)
_LEAST_TITLE = 8
"""Characters of a title that is looked for in a longer text."""


class NamedDocument(NamedTuple):
    """A document; `part`: the name is one of a part of it."""

    number: int
    doc_id: str
    part: bool


@dataclass(frozen=True)
class DocumentNames:
    """Finds the documents of a haystack by their names."""

    ids: Mapping[str, int]  # id -> number of the document, from 1
    titles: Mapping[str, str]  # id -> title, for documents that have one

    def find(self, name: str) -> NamedDocument | None:
        """Return the document with this id, file name, address or title; None if there is none, or several."""
        if name in self.ids:
            return NamedDocument(self.ids[name], name, part=False)
        keys = _keys(name)
        doc_id = next((self._known[key] for key in [*keys, *map(_apart, keys)] if self._known.get(key)), None)
        if doc_id is not None:
            return NamedDocument(self.ids[doc_id], doc_id, part=False)
        for at in reversed([*_PART.finditer(name)]):
            if (doc_id := name[: at.start()]) in self.ids:
                return NamedDocument(self.ids[doc_id], doc_id, part=True)
        return None

    def find_in(self, told: str) -> NamedDocument | None:
        """Return the only document that some words name, whole or among others."""
        if (whole := self.find(told.strip())) is not None:
            return whole
        words = (one.strip(".:*_") for one in _WORDS.split(told))
        found = {one.doc_id: one for word in words if word and (one := self.find(word)) is not None}
        if not found:
            key = f"-{_slug(told)}-"
            titled = [(doc_id, _slug(title)) for doc_id, title in self.titles.items()]
            named = [doc_id for doc_id, title in titled if len(title) >= _LEAST_TITLE and f"-{title}-" in key]
            found = {doc_id: NamedDocument(self.ids[doc_id], doc_id, part=False) for doc_id in named}
        return next(iter(found.values())) if len(found) == 1 else None

    def alike(self, content: str) -> list[str]:
        """Return the names in a mark that begins with the word which documents have before their number; else none."""
        found = _NUMBERED.match(content)
        if found is None or found[1].casefold() not in self._stems:
            return []
        return [name for part in re.split("[,;]", content) for name in _in_range(part.strip())]

    def numbered(self, number: int) -> str | None:
        """Return the only document that a number names: it is the id, or the only number of an id alike to others."""
        found = self._by_number.get(number, ())
        return str(number) if str(number) in self.ids else found[0] if len(found) == 1 else None

    @cached_property
    def _by_number(self) -> Mapping[int, Sequence[str]]:
        parted = {doc_id: _ONE_NUMBER.fullmatch(_ENDING.sub("", doc_id)) for doc_id in self.ids}
        numbers = {doc_id: found.groups() for doc_id, found in parted.items() if found is not None}
        alike = Counter((before, behind) for before, _, behind in numbers.values())
        return in_groups((bounded(of[1]), doc_id) for doc_id, of in numbers.items() if alike[of[0], of[2]] > 1)

    @cached_property
    def _stems(self) -> frozenset[str]:
        plain = (_NUMBERED.fullmatch(_ENDING.sub("", doc_id)) for doc_id in self.ids)
        return frozenset(found[1].casefold() for found in plain if found is not None)

    @cached_property
    def _known(self) -> Mapping[str, str | None]:
        """Each way to write the name of one document; None: of several."""
        found: dict[str, str | None] = {}
        for doc_id in self.ids:
            for key in {*_keys(doc_id), _slug(self.titles.get(doc_id, ""))} - {""}:
                found[key] = doc_id if found.get(key, doc_id) == doc_id else None
        apart: dict[str, str | None] = {}  # `doc 2` is doc2, unless another document has just this name
        for key, known in found.items():
            apart[_apart(key)] = known if apart.get(_apart(key), known) == known else None
        return apart | found


def _in_range(name: str) -> list[str]:
    """Return the names from doc1 to doc3 of `doc1-doc3`; another name stands for itself."""
    found = _RANGE.fullmatch(name)
    if found is None or not 0 <= int(found[3]) - int(found[2]) <= _MOST_OF_A_RANGE:
        return [name]
    return [f"{found[1]}-{one:0{len(found[2])}}" for one in range(int(found[2]), int(found[3]) + 1)]


def _keys(name: str) -> list[str]:
    """Return the ways to look for a name: whole, as the last part of a path, without the ending of a file."""
    plain = re.sub(r"^[a-z]+://(?:www\.)?", "", name.strip().strip("`'\"<>"), flags=re.IGNORECASE)
    plain = re.split(r"[?#]", plain, maxsplit=1)[0].rstrip("/") if "://" in name else plain
    last = re.split(r"[/\\]", plain)[-1]
    return [*dict.fromkeys(key for key in map(_slug, (plain, last, _ENDING.sub("", last))) if key)]


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "-", text.casefold()).strip("-")


def _apart(key: str) -> str:
    return re.sub(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])", "-", key)
