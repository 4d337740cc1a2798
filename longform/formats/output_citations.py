"""
Citations of an answer, however it writes them, as numbers of the haystack's documents.

A citation of what is not there stays one: it becomes a number that no document has, so that it counts as a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Numbering = Literal["haystack", "seen", "ids"]
"""The meaning of a number in brackets: a place in the haystack, among the documents seen, or an id of digits."""

_GROUP = re.compile(r"\[([^\[\]\n]+)\](?!\()")  # not the text of a link
_WRONG = "it counts as a citation of a wrong document"
_NO_ID = "is the id of no document of the haystack"
_LIKE_AN_ID = re.compile(r"(?=.*[\d_:/-])\S+")


@dataclass
class Numbers:
    """
    Finds the documents that an answer cites.

    Attributes:
        ids: Number, from 1, of each document of the haystack by its id.
        seen: Ids of the documents that the writer saw, in the order of its prompt; None: not named.
        numbering: Of numbers; None: by the place in the haystack, unless a number may be an id too.
        errors: To which a citation is added that can be read in two ways.
        warnings: To which one is added that names no document.
    """

    ids: Mapping[str, int]
    seen: Sequence[str] | None
    numbering: Numbering | None
    errors: list[str]
    warnings: list[str]
    _missing: dict[str, int] = field(default_factory=dict)  # citation -> a number that no document has

    def of(self, citation: str | int) -> int | None:
        """Return the number of the document that a citation means; None if it is no citation that we can read."""
        text = str(citation).strip()
        if text.isdecimal() and text.isascii() and self.numbering != "ids":
            return self._of_number(text)
        if self.numbering == "ids" and text.isdecimal() and text not in self.ids:
            return self.missing(text, _NO_ID)
        return self._checked(self.ids[text], text) if text in self.ids else None

    def missing(self, citation: str | int, why: str) -> int:
        """Return a number that no document has, the same for the same citation."""
        text = str(citation).strip()
        if text not in self._missing:
            self._missing[text] = len(self.ids) + len(self._missing) + 1
            self._warn(f"[{text}] {why}; {_WRONG}")
        return self._missing[text]

    def _of_number(self, text: str) -> int:
        number = int(text)
        if self.numbering is None and self.ids.get(text, number) != number:
            told = (
                f"[{text}] may be document number {text} of the haystack or the document with the id {text!r}: say "
                "`numbering`: haystack, seen or ids"
            )
            self.errors += [told] if told not in self.errors else []
        if self.numbering == "seen":
            seen = self.seen or ()
            if 1 <= number <= len(seen):
                return self.ids[seen[number - 1]]
            return self.missing(text, f"is out of range: the answer saw {len(seen)} documents")
        if 1 <= number <= len(self.ids):
            return self._checked(number, text)
        self._warn(f"[{text}] is out of range: the haystack has {len(self.ids)} documents; {_WRONG}")
        return number

    def _checked(self, number: int, text: str) -> int:
        if self.seen is not None and number not in {self.ids[doc_id] for doc_id in self.seen}:
            self._warn(f"[{text}] cites a document that is not among those the answer saw")
        return number

    def _warn(self, told: str) -> None:
        self.warnings += [told] if told not in self.warnings else []


def cited_in(text: str, numbers: Numbers) -> str:
    """Return a line with its citations as numbers; brackets that cite nothing stay as they are."""

    def replaced(group: re.Match[str]) -> str:
        content = group.group(1).strip()
        parts = [content] if content in numbers.ids else [part.strip() for part in re.split("[,;]", content)]
        parts = [part for part in parts if part]
        found = [numbers.of(part) for part in parts]
        if all(number is None for number in found):
            if parts and _LIKE_AN_ID.fullmatch(content):
                told = f"[{content}] is read as text: no document of the haystack has this id"
                numbers.warnings += [told] if told not in numbers.warnings else []
            return group.group(0)
        return _group(
            numbers.missing(part, _NO_ID) if number is None else number
            for part, number in zip(parts, found, strict=True)
        )

    return _GROUP.sub(replaced, text)


def cited(text: str, citations: Sequence[str | int], numbers: Numbers) -> str:
    """Return a line with *citations* behind it."""
    found = [number if (number := numbers.of(one)) is not None else numbers.missing(one, _NO_ID) for one in citations]
    return f"{text} {_group(found)}" if found else text


def _group(numbers: Iterable[int]) -> str:
    return f"[{', '.join(map(str, dict.fromkeys(numbers)))}]"
