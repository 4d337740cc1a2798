"""
Reads an answer, as Markdown or plain, as statements: each with the numbers of the documents that it cites.

Prose is split into sentences. An item of a list and a row of a table are a statement each; an item is split only if
marks stand behind its inner sentences. A mark belongs to the sentence that it follows, before or behind the full stop;
marks that open a paragraph whose end has none belong to the sentence that they precede. Headings, announcements (a
colon at the end, nothing cited), rules, code, lists of sources and what a model thinks are no statements.
"""

from __future__ import annotations

import html
import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from longform.text.blocks import FIRST_SIGN, MOST_SIGNS, SIGN, SIGNS, block_texts, blocks
from longform.text.citations import Bullet, cited_numbers, without_citations
from longform.text.layout import laid_out
from longform.text.marks import Mark, is_year, marks, read_cites
from longform.text.reasoning import set_aside
from longform.text.sentences import OWN_SPACES, STOPS, sentences
from longform.text.source_lists import without_sources

VERSION = "statements@3"
"""Changes with any change of what a text is read as."""

Resolve = Callable[[Mark], Sequence[int] | None]
"""
Tells the numbers of the documents that a mark cites; none for a mark that is not understood, and is taken out of its
sentence. None: it is no mark, and its words stay.
"""


class Statements(NamedTuple):
    """
    An answer as it is read.

    Attributes:
        statements: In order, each with its citations behind it, as `[1, 3]`.
        not_understood: Marks that look like citations and cite no number, as they are written.
    """

    statements: list[Bullet]
    not_understood: list[str]


def statements(text: str) -> list[Bullet]:
    """Return the statements of an answer, in order, each with its citations behind it, as `[1, 3]`."""
    return read_answer(text).statements


def read_answer(text: str) -> Statements:
    """
    Read an answer whose numbers are those of documents, or what its list of sources says.

    Never raises, and takes time linear in the length.
    """
    body, names = without_sources(laid_out(set_aside(text).answer))
    found = _Reading(_Numbered({key: read_cites(name) for key, name in names.items()}).of)
    for block in blocks(found.signed(body)):
        for words in block_texts(block):
            found.read(_clean(words), whole=block.kind != "prose", announcements=False)
    return Statements(found.bullets(closed=True), found.not_understood)


def cited_sentences(text: str) -> list[Bullet]:
    """
    Return the sentences of each line of a text, in order, each with its citations behind it.

    Citations are those of `longform.text.citations`, and belong to sentences as in `statements`.
    """
    found = _Reading(_in_square_brackets)
    for line in found.signed(text).split("\n"):
        found.read(line, whole=False, announcements=True)
    return found.bullets(closed=False)


def _in_square_brackets(mark: Mark) -> Sequence[int] | None:
    return cited_numbers(mark.raw) or None if mark.kind == "mark" and not without_citations(mark.raw) else None


@dataclass(frozen=True)
class _Numbered:
    """Resolves marks where numbers are those of documents; a list of sources may give a number another one."""

    names: dict[int | str, tuple[int | str, ...]]

    def of(self, mark: Mark) -> Sequence[int] | None:
        numbers = [one for one in mark.cites if isinstance(one, int)]
        if mark.kind == "round" or (numbers and mark.numbered and all(map(is_year, numbers))):
            return None
        if numbers and (mark.numbered or mark.kind == "link" or mark.content.count("†")):
            return [other for number in numbers for other in self._meant(number)]
        return [] if may_cite(mark) else None

    def _meant(self, number: int) -> Sequence[int]:
        meant = self.names.get(number, ())
        return [one for one in meant if isinstance(one, int)] or [number]


_CITING = re.compile(
    r"(?:see|cf|vgl|siehe|source|sources|quelle|ibid|ebd|ref|id|loc|op|doc|document|n\. ?d)\b|"
    r".*\b(?:1[5-9]|20)\d\d[a-z]?\b|"
    r"(?=\S*[\d_:/.-])\S+$|@", re.IGNORECASE,
)  # fmt: skip


def may_cite(mark: Mark) -> bool:
    """Return whether a mark that cites nothing known looks like a citation: by its words, or where a sentence ends."""
    if mark.kind == "link":
        return not mark.said
    return mark.kind == "mark" and (mark.closing or _CITING.match(mark.content) is not None)


_EMPHASIS = (
    (re.compile(r"!\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)"), ""),
    (re.compile(r"\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)"), r"\1"),
    (re.compile(r"\*\*|~~|(?<!\w)__|__(?!\w)"), ""),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,500}?)(?<=[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w_])_(?=[^\s_])([^_\n]{1,500}?)(?<=[^\s_])_(?![\w_])"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>"), ""),
    (re.compile(r"`+"), ""),
    (re.compile(r"(?<=\w)[ \t]{1,9}(?=[.,;!?](?:\s|$))"), ""),
    (re.compile(r"\\([\[\]()*_#`.!|>~-])"), r"\1"),
)
_NOUNS = r"(?:see(?: also)?|sources?|quellen?|refs?|references?|citations?|cited in|from|per|cf|vgl|siehe)"
_JOINED = rf"[{SIGNS}](?:[\s,;/&]{{0,3}}(?:(?:and|und|et|y)\s)?[{SIGNS}])*"
_CREDIT = r"(?:according to|as (?:stated|noted|described|reported|shown|mentioned|written) (?:in|by)|as per|per|laut)"
_HELD = re.compile(rf"[(（\[]\s*(?:(?:{_NOUNS}|{_CREDIT})[\s.:]*)?({_JOINED})\s*[)）\]]", re.IGNORECASE)
_ANNOUNCED = re.compile(rf"(?:[—–-]\s*)?(?<!\w){_NOUNS}\s*:\s*(?=[{SIGNS}])", re.IGNORECASE)
_CREDITED_FIRST = re.compile(rf"(?:^|(?<=[.!?] )){_CREDIT}\s*({_JOINED})\s*,?\s+(\w)(\w*)", re.IGNORECASE)
_CREDITED_LAST = re.compile(rf",?\s+(?:{_CREDIT}|in|see)\s*({_JOINED})(?=\s*(?:[.!?;,]|$))", re.IGNORECASE)
_LEAD_IN = re.compile(r"^\s*(\*\*|__)[^\s*_]+(?: [^\s*_]+){0,2}\.\1\s+(?=\S)")
"""A heading in bold type that begins a paragraph, as `**Point 1.** The council ...`"""
_RUN = re.compile(rf"\s*{_JOINED}")
_THEMES = r"(?:takeaways?|findings?|points?|insights?|summary|overview|conclusions?|answers?|response|list|results)"
_TALK = re.compile(
    r"(?:i hope (?:this|that|it)\b.*|(?:please )?(?:let me know|feel free|do(?:n't| not) hesitate)\b.*|"
    r"(?:would|do) you (?:like|want|need)\b.*\?|is there anything else\b.*|"
    r"if you (?:have|need|want|would)\b.*\b(?:questions|let me know|just ask|ask me)\b.*|"
    r"(?:certainly|sure(?: thing)?|of course|absolutely|great question|okay|ok)\W{0,2}|"
    rf"(?:below|here|above)(?: is| are|'s)\b.{{0,60}}\b{_THEMES}\b.{{0,60}}|note: (?:this|the) {_THEMES}\b.*|"
    rf"(?:in (?:conclusion|summary), )?these are the \w+ {_THEMES}\W*|(?:\w+ )?{_THEMES}\W*|introduction|background|"
    r"(?:\w+ ){1,3}\w+,|\W*(?:the )?end(?: of \w{1,12})?\W*|"
    r"(?:word count|words|confidence(?: level| score)?)\s?[:=]\s?.{1,20}|\W*\d{1,5} words\W*)",
    re.IGNORECASE,
)
"""A sentence to whoever asked, which states nothing of the documents."""
_OPEN_END = re.compile(r"[a-zA-ZÀ-ÿ0-9%€$£][\"'”’»)*]*$")
_FRAYED = re.compile(r"[\s,;—–-]+([.!?]?)$")
"""Marks before which a citation stood that is taken out."""
_BRACKETED_NUMBER = re.compile(r"\[([\d, ]+)\]")
_STOPPED = re.compile(rf"[.{STOPS}](?!\S)")
_ENDED = re.compile(rf"[.!?…{STOPS}{OWN_SPACES}]$")


@dataclass
class _Reading:
    """Reads a text whose marks one function resolves."""

    resolve: Resolve
    not_understood: list[str] = field(default_factory=list)
    _cites: list[tuple[int, ...]] = field(default_factory=list)  # of each sign
    _signs: dict[tuple[int, ...], int] = field(default_factory=dict)
    _units: list[tuple[str, list[int]]] = field(default_factory=list)
    _text: str = ""
    _waiting: list[int] = field(default_factory=list)  # citations before any statement

    def signed(self, text: str) -> str:
        """Return *text* with a sign for each of its marks."""
        self._text = text = SIGN.sub("", text)
        kept, position = [], 0
        for mark in marks(text):
            numbers = self.resolve(mark)
            if numbers is not None:
                self.not_understood += [] if numbers else [mark.raw]
                kept += [text[position : mark.start], f"{mark.said} {self._sign(numbers)}".lstrip()]
                position = mark.end
        return "".join([*kept, text[position:]])

    def _sign(self, numbers: Sequence[int]) -> str:
        """Return the character that stands for these citations; past the last one, marks are not understood."""
        place = self._signs.setdefault(tuple(numbers), len(self._cites))
        if place == len(self._cites):
            self._cites.append(tuple(numbers))
        return chr(FIRST_SIGN + place) if place < MOST_SIGNS else ""

    def bullets(self, *, closed: bool) -> list[Bullet]:
        return [_bullet(text, numbers, closed=closed) for text, numbers in self._units]

    def read(self, words: str, *, whole: bool, announcements: bool) -> None:
        """
        Read a text without line breaks, with a sign for each mark.

        If *whole*, it is one statement unless marks stand behind its inner sentences. With *announcements*, a sentence
        that ends with a colon and cites nothing is one too.
        """
        plain, places, ends = _without_signs(words)
        numbers = [self._cites[ord(sign) - FIRST_SIGN] for sign in SIGN.findall(words)]
        found = _sentences(plain, ends, self._text)
        if whole and not any(place < found[-1][0] for place in places if place):
            found = [(0, len(plain))] if found else []
        if not found:
            self._before([number for one in numbers for number in one])
            return
        leading = bool(places) and places[0] == 0 and places[-1] < len(plain.rstrip())
        own: list[list[int]] = [[] for _ in found]
        for place, one in zip(places, numbers, strict=True):
            own[_owner(found, place, leading=leading)] += one
        for (start, end), cited in zip(found, own, strict=True):
            said = _FRAYED.sub(r"\1", plain[start:end].strip().lstrip(":;,—–) "))
            if not any(character.isalnum() for character in said):
                self._before(cited)
            elif cited or announcements or not (said.endswith((":", "：")) or _TALK.fullmatch(said)):
                self._units.append((said, [*self._waiting, *cited]))
                self._waiting = []

    def _before(self, numbers: Sequence[int]) -> None:
        """Let the statement before cite what stands alone; before any, the next."""
        (self._units[-1][1] if self._units else self._waiting).extend(numbers)


def _first_credited(found: re.Match[str]) -> str:
    first = found[2].upper() if found[3].islower() else found[2]  # iPhone stays as it is
    return f"{first}{found[3]} {found[1]}"


def _clean(words: str) -> str:
    words = _CREDITED_LAST.sub(r" \1", _CREDITED_FIRST.sub(_first_credited, _LEAD_IN.sub("", words)))
    for pattern, instead in _EMPHASIS:
        words = pattern.sub(instead, words)
    words = html.unescape(words) if "&" in words else words
    return _ANNOUNCED.sub("", _HELD.sub(r" \1", words)).strip()


def _without_signs(words: str) -> tuple[str, list[int], list[int]]:
    """Return the words alone, the place of each sign in them, and the places at which a mark shows a sentence's end."""
    kept, length, places, ends, position = [], 0, [], [], 0
    for run in _RUN.finditer(words):
        before = words[position : run.start()]
        kept.append(before)
        length += len(before)
        places += [length] * len(SIGN.findall(run[0]))
        position = run.end()
        stopped = _ended_by(kept)
        if stopped and words[position : position + 1] in (".", "。", ","):
            position += 1
        if stopped:
            ends.append(length)
        elif _STOPPED.match(words, position):
            ends.append(length + 1)
        if words[position : position + 1].isalnum() and length:
            kept.append(" ")
            length += 1
    return "".join([*kept, words[position:]]), places, ends


def _ended_by(kept: Sequence[str]) -> bool:
    last = next((one for one in reversed(kept) if one.strip()), "").rstrip("\"'“”‘’«»‹›」』)")
    return _ENDED.search(last) is not None


def _sentences(plain: str, ends: Sequence[int], within: str) -> list[tuple[int, int]]:
    """Return the spans of sentences; a mark behind a full stop ends one if a word with a capital or a digit follows."""
    cuts = [end for end in ends if plain[end:].strip() and not plain[end:].lstrip()[0].islower()]
    pieces = itertools.pairwise([0, *cuts, len(plain)])
    return [
        (start + one.start, start + one.end) for start, end in pieces for one in sentences(plain[start:end], within)
    ]


def _owner(found: Sequence[tuple[int, int]], place: int, *, leading: bool) -> int:
    """Return the sentence that a mark at *place* belongs to."""
    if leading:
        return min(bisect_right(found, place, key=lambda span: span[1]), len(found) - 1)
    return max(bisect_left(found, place, key=lambda span: span[0]) - 1, 0)


def _bullet(said: str, numbers: Sequence[int], *, closed: bool) -> Bullet:
    """
    Return a statement in whose words no number stands in square brackets but those that it cites.

    A *closed* one ends with a full stop, as an item of a list often does not: encoders read the same words otherwise
    without it.
    """
    cited = sorted(dict.fromkeys(numbers))
    plain = _BRACKETED_NUMBER.sub(r"(\1)", said)
    plain = _OPEN_END.sub(r"\g<0>.", plain) if closed else plain
    return Bullet(f"{plain} [{', '.join(map(str, cited))}]" if cited else plain, cited)
