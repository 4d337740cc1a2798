"""
Citations of an answer, however it writes them, as numbers of the haystack's documents.

A citation of what is not there stays one: it becomes a number that no document has, so that it counts as a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from longform.formats.document_names import DocumentNames
from longform.text.answers import may_cite
from longform.text.marks import Mark, is_year, marks, read_cites

Numbering = Literal["haystack", "seen", "ids"]
"""The meaning of a number in brackets: a place in the haystack, among the documents seen, or an id of digits."""

_WRONG = "it counts as a citation of a wrong document"
_NO_ID = "is the id of no document of the haystack"


@dataclass
class MarksRead:
    """The account of a system's marks: each was read as numbers or as names, or was not understood."""

    system: str
    numbers: int = 0
    names: int = 0
    not_understood: dict[str, int] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # mark that was not understood -> its first place
    told: list[str] = field(default_factory=list)  # sentences that say what was decided about its marks

    def document(self) -> dict[str, Any]:
        """Return the same as JSON has it."""
        return {
            "system": self.system,
            "as_numbers": self.numbers,
            "as_ids": self.names,
            "not_understood": dict(self.not_understood),
            "told": [*self.told],
        }

    def tell(self, sentence: str) -> None:
        """Add a sentence, once."""
        self.told += [sentence] if sentence not in self.told else []

    def tell_part(self, name: str, doc_id: str) -> None:
        """Tell that parts of documents are read as documents, by the first of them."""
        if not any(_PARTS in one for one in self.told):
            self.tell(f"{name} is read as a part of {doc_id}, {_PARTS}.")

    def words(self) -> str:
        """Return the same in a line for people."""
        unread = sum(self.not_understood.values())
        n = self.numbers + self.names
        read = f"{n} {'mark' if n == 1 else 'marks'} read ({self.numbers} as numbers, {self.names} as ids)"
        shown = ", ".join(f"{raw} ({self.places[raw]})" for raw in list(self.not_understood)[:_SHOWN])
        more = f" and {len(self.not_understood) - _SHOWN} more" if len(self.not_understood) > _SHOWN else ""
        unknown = f", {unread} not understood and taken out: {shown}{more}" if unread else ""
        return f"{self.system}: {read}{unknown}."


_SHOWN = 5
_PARTS = "as is each name that begins with a document's id"


def accounts_told(accounts: Sequence[MarksRead]) -> list[str]:
    """Return the accounts of systems in lines: one each, then what was decided, for all systems of which it is true."""
    decided = dict.fromkeys(sentence for one in accounts for sentence in one.told)
    found = [one.words() for one in accounts]
    for sentence in decided:
        own = [one.system for one in accounts if sentence in one.told]
        named = "All systems" if len(own) == len(accounts) > 1 else ", ".join(own[:_SHOWN])
        more = f" and {len(own) - _SHOWN} more" if len(own) > _SHOWN and len(own) < len(accounts) else ""
        found.append(f"{named}{more}: {sentence}")
    return found


@dataclass
class Habits:
    """The way in which a system cites in all of its answers."""

    zero: bool = False  # it cites a number 0
    last: bool = False  # it cites the last of the documents that its numbers count
    rounds: int = 0  # numbers in parentheses that may be citations
    others: int = 0  # marks of numbers, of other kinds, and numbers in parentheses that are none

    def note(self, text: str, citations: Iterable[int | str], n_documents: int) -> None:
        """Take an answer's marks and its own citations into account; its numbers count so many documents."""
        used = {int(one) for one in citations if isinstance(one, int) or one.isdecimal()}
        for mark in marks(text):
            numbers = [one for one in mark.cites if isinstance(one, int)]
            if mark.kind == "round" and mark.numbered and not all(map(is_year, numbers)):
                opens = not text[text.rfind("\n", 0, mark.start) + 1 : mark.start].strip("-*•> \t")
                cites = mark.closing and not opens and max(numbers) <= n_documents
                self.rounds, self.others = self.rounds + cites, self.others + (not cites)
            elif mark.kind != "round" and numbers:
                self.others += 1
            used.update(numbers)
        self.zero = self.zero or 0 in used
        self.last = self.last or n_documents in used

    @property
    def from_zero(self) -> bool:
        """True if its numbers count from 0."""
        return self.zero and not self.last

    @property
    def in_parentheses(self) -> bool:
        """True if it cites by numbers in parentheses: it does so throughout, and in no other way."""
        return self.rounds > 1 and not self.others

    def tell(self, account: MarksRead) -> None:
        """Tell what was decided about the marks of all answers of a system."""
        if self.from_zero:
            account.tell("[0] is cited, and never the last document: numbers are counted from 0.")
        elif self.zero:
            account.tell(
                "[0] is cited, and the last document too: numbers are counted from 1, and [0] is a wrong citation."
            )
        if self.in_parentheses:
            account.tell("numbers in parentheses stand throughout where citations do: they are read as such.")


@dataclass
class Numbers:
    """Finds the documents that an answer cites."""

    names: DocumentNames
    # numbers of the documents that the writer saw, in the order of its prompt; None: not named
    seen: Sequence[int] | None
    numbering: Numbering | None  # None: a number is the place among `seen` if that is known, else in the haystack
    habits: Habits
    sources: Mapping[int | str, str]  # number or label -> its line in the answer's list of sources
    read: MarksRead  # the account to which each mark is added
    place: str  # file and line of the answer, for messages
    errors: list[str]  # takes citations that can be read in two ways
    warnings: list[str]  # takes citations that name no document
    _missing: dict[str, int] = field(default_factory=dict)  # citation -> a number that no document has
    _listed: Mapping[int | str, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        listed = {label: self._of_source(told) for label, told in self.sources.items()}
        if any(listed.values()):
            self._listed = listed
            self.read.tell("a list of sources says what its numbers stand for.")

    def of(self, mark: Mark) -> Sequence[int] | None:
        """Return the documents that a mark cites; none: it is not understood. None: it is no citation, but words."""
        found = self._cited(mark)
        if found:
            by_number = mark.numbered or (mark.kind == "link" and self._name(mark.cites[0]) is None)
            self.read.numbers += by_number
            self.read.names += not by_number
        elif found is not None or mark.kind == "link":
            self.read.not_understood[mark.raw] = self.read.not_understood.get(mark.raw, 0) + 1
            self.read.places.setdefault(mark.raw, self.place)
        return found

    def _cited(self, mark: Mark) -> list[int] | None:
        whole = self._name(mark.content)
        if whole is not None and not (mark.content.isdecimal() and self.numbering != "ids"):
            return [self._checked(whole, mark.content)]
        if mark.kind == "round" and mark.numbered and not self.habits.in_parentheses:
            return None
        if mark.numbered and all(is_year(one) and not self._placed(one) for one in mark.cites if isinstance(one, int)):
            return None
        if mark.kind == "link" or "†" in mark.content:  # a target and its label, the name of a file and its number
            either = (self._number(one) if isinstance(one, int) else self._name(one) for one in mark.cites)
            return next(([number] for number in either if number is not None), None if mark.said else [])
        cites = self._apart(mark) if mark.kind == "raised" else mark.cites
        alike = self.names.alike(mark.content) if mark.numbered else []  # [doc-9] beside doc-1, doc-2, ...
        cites = alike or cites
        names = [self._name(one) for one in cites if isinstance(one, str)]
        unknown = names and not any(names) and not alike and not self._mixed(mark)
        if unknown or (mark.kind == "round" and None in names):
            return [] if mark.kind != "round" and may_cite(mark) else None
        found = [self._number(one) if isinstance(one, int) else self._name(one) for one in cites]
        return [
            self.missing(one, _NO_ID) if number is None else number for one, number in zip(cites, found, strict=True)
        ]

    def _mixed(self, mark: Mark) -> bool:
        """Return whether numbers beside unknown names are citations, and no year or page."""
        return any(isinstance(one, int) and self._placed(one) for one in mark.cites)

    def _apart(self, mark: Mark) -> Sequence[int | str]:
        """Return digits above the line one by one if together they are the place of no document."""
        if all(isinstance(one, int) and self._placed(one) for one in mark.cites):
            return mark.cites
        digits = [int(one) for one in mark.content if one.isdecimal()]
        return digits if all(map(self._placed, digits)) else mark.cites

    def _placed(self, number: int) -> bool:
        """Return whether there is a document at this place, or the list of sources names one."""
        counted = len(self.names.ids) if self.numbering == "haystack" or self.seen is None else len(self.seen)
        return number in self._listed or self.habits.from_zero <= number + self.habits.from_zero <= counted

    def one(self, citation: str | int) -> int:
        """Return the number of the document that a citation beside the text means."""
        content = str(citation).strip()
        cites = read_cites(content) if content else ()
        if isinstance(citation, int) or (self.numbering != "ids" and len(cites) == 1 and isinstance(cites[0], int)):
            known = self._name(content) if self.numbering == "ids" or not content.isdecimal() else None
            self.read.numbers += known is None
            self.read.names += known is not None
            return self._number(int(cites[0]) if cites else 0) if known is None else self._checked(known, content)
        found = self._name(content)
        self.read.names += 1
        return self._checked(found, content) if found is not None else self.missing(content, _NO_ID)

    def missing(self, citation: str | int, why: str) -> int:
        """Return a number that no document has, the same for the same citation."""
        text = str(citation).strip()
        if text not in self._missing:
            self._missing[text] = len(self.names.ids) + len(self._missing) + 1
            self._warn(f"[{text}] {why}; {_WRONG}")
        return self._missing[text]

    def _name(self, name: str | int) -> int | None:
        """Return the document of a name: an id, a title, a file, or a footnote's label."""
        if isinstance(name, int):
            return None
        if (listed := self._listed.get(name)) is not None:
            return listed
        found = self.names.find(name)
        if found is not None and found.part:
            self.read.tell_part(name, found.doc_id)
        return None if found is None else found.number

    def _of_source(self, told: str) -> int | None:
        if (found := self.names.find_in(told)) is not None:
            return found.number
        cites = read_cites(told)
        return self._at(cites[0]) if len(cites) == 1 and isinstance(cites[0], int) else None

    def _number(self, number: int) -> int:
        text = str(number)
        if number in self._listed:
            listed = self._listed[number]
            return listed or self.missing(number, "is no document of the haystack by the list of sources")
        named = self.names.numbered(number) if text in self.names.ids or not self._by_seen else None
        if self.numbering == "ids":
            return self.missing(text, _NO_ID) if named is None else self._checked(self.names.ids[named], text)
        found = self._at(number)
        if self.numbering is None and named is not None and self.names.ids[named] != found:
            told = (
                f"[{text}] may be document number {text} or the document with the id {named!r}: say `numbering`: "
                "haystack, seen or ids"
            )
            self.errors += [told] if told not in self.errors else []
        if found is not None:
            return self._checked(found, text)
        if self._by_seen:  # without documents, an error says so
            told = f"is out of range: the answer saw {len(self.seen or ())} documents"
            return number if self.seen is None else self.missing(text, told)
        self._warn(f"[{text}] is out of range: the haystack has {len(self.names.ids)} documents; {_WRONG}")
        return number if number > len(self.names.ids) else len(self.names.ids) + 1

    @property
    def _by_seen(self) -> bool:
        return self.numbering == "seen" or (self.numbering is None and self.seen is not None)

    def _at(self, number: int) -> int | None:
        """Return the document at a place; None: there is none."""
        place = number + self.habits.from_zero
        if self._by_seen and self.seen is None:
            told = f"[{number}] counts among `documents`, and the line has none"
            self.errors += [told] if told not in self.errors else []
            return None
        self.read.tell(
            "numbers are places among the `documents` of a line, since it names them."
            if self._by_seen
            else "numbers are places in the haystack, " + ("as asked for." if self.numbering else _NONE_NAMED)
        )
        if not self._by_seen:
            return place if 1 <= place <= len(self.names.ids) else None
        return self.seen[place - 1] if self.seen and 1 <= place <= len(self.seen) else None

    def _checked(self, number: int, text: str) -> int:
        if self.seen is not None and number not in self.seen:
            self._warn(f"[{text}] cites a document that is not among those the answer saw")
        return number

    def _warn(self, told: str) -> None:
        self.warnings += [told] if told not in self.warnings else []


_NONE_NAMED = "since a line names no `documents`."


def cited_in(text: str, numbers: Numbers) -> str:
    """Return a text with its citations as numbers; marks that are not understood, and words, stay as they are."""
    kept, position = [], 0
    for mark in marks(text):
        if found := numbers.of(mark):
            kept += [text[position : mark.start], f"{mark.said} {_group(found)}".lstrip()]
            position = mark.end
    return "".join([*kept, text[position:]])


def cited(text: str, citations: Sequence[str | int], numbers: Numbers) -> str:
    """Return a line with *citations* behind it."""
    return f"{text} {_group([numbers.one(one) for one in citations])}" if citations else text


def _group(numbers: Iterable[int]) -> str:
    found = [*dict.fromkeys(numbers)]
    told = found * 2 if len(found) == 1 and is_year(found[0]) else found  # one alone in brackets would be a year
    return f"[{', '.join(map(str, told))}]"
