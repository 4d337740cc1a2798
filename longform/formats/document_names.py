"""Names by which answers cite documents: their ids, files of the same name, parts of them, and titles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_ENDING = re.compile(r"\.(?:txt|md|pdf|html?|docx?|json|xml|csv|rtf|pptx?|xlsx?)$", re.IGNORECASE)
_PART = re.compile(
    r"#|::?|@|\||§|[-_. /]?(?:chunk|part|passage|segment|section|page|p)[-_. ]?(?=\d)|[_/-](?=\d+$)", re.IGNORECASE
)
_WORDS = re.compile(r"[\s,;()\[\]<>\"“”„«»'`]+")
_NUMBERED = re.compile(r"([^\W\d_]+)[-_]?\d+")
_LEAST_TITLE = 8
"""Characters of a title that is looked for in a longer text."""


class NamedDocument(NamedTuple):
    """A document; `part`: the name is one of a part of it."""

    number: int
    doc_id: str
    part: bool


@dataclass(frozen=True)
class DocumentNames:
    """
    Finds the documents of a haystack by their names.

    Attributes:
        ids: Number, from 1, of each document by its id.
        titles: Title of each document that has one, by its id.
    """

    ids: Mapping[str, int]
    titles: Mapping[str, str]

    def find(self, name: str) -> NamedDocument | None:
        """Return the document with this id, file name, address or title; None if there is none, or several."""
        if name in self.ids:
            return NamedDocument(self.ids[name], name, part=False)
        doc_id = next((self._known[key] for key in _keys(name) if self._known.get(key)), None)
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

    def has_alike(self, name: str) -> bool:
        """Return whether ids of the haystack have the same word before a number as a name that is none of them."""
        found = _NUMBERED.match(name)
        return found is not None and found[1].casefold() in self._stems

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(found[1].casefold() for found in map(_NUMBERED.fullmatch, self.ids) if found is not None)

    @cached_property
    def _known(self) -> Mapping[str, str | None]:
        """Each way to write the name of one document; None: of several."""
        found: dict[str, str | None] = {}
        for doc_id in self.ids:
            for key in {*_keys(doc_id), _slug(self.titles.get(doc_id, ""))} - {""}:
                found[key] = doc_id if found.get(key, doc_id) == doc_id else None
        return found


def _keys(name: str) -> list[str]:
    """Return the ways to look for a name: whole, as the last part of a path, without the ending of a file."""
    plain = re.sub(r"^[a-z]+://(?:www\.)?", "", name.strip().strip("`'\"<>"), flags=re.IGNORECASE)
    plain = re.split(r"[?#]", plain, maxsplit=1)[0].rstrip("/") if "://" in name else plain
    last = re.split(r"[/\\]", plain)[-1]
    return [*dict.fromkeys(key for key in map(_slug, (plain, last, _ENDING.sub("", last))) if key)]


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "-", text.casefold()).strip("-")
