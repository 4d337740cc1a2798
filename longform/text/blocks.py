r"""
The blocks of an answer that may state something: paragraphs, items of lists, and rows of tables.

Headings, rules, code and the heads of tables are no blocks. A heading of many words that nothing stands below is one:
an answer may set all that it says in bold type. In a text that is read so, a character of private use, a sign, stands
for each citation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple
from unicodedata import category

from longform.text.sentences import STOPS

FIRST_SIGN, MOST_SIGNS = 0xF0000, 0xFFFE
SIGNS = "\U000f0000-\U000ffffd"
SIGN = re.compile(f"[{SIGNS}]")
_NO_SIGN = re.compile(f"[^{SIGNS}]")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_FENCE = re.compile(r" {0,3}(`{3}|~{3})[^`]*$")
PROSE_IN_FENCES = ("markdown", "md", "text", "txt", "plain", "plaintext")
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}(?:\s|$)|#{2,6}(?=[^\W\d]))")
_RULE = re.compile(r"\s*([-*_=~])(?:\s*\1){2,}\s*$")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_BOLD = re.compile(r"\s*(\*{1,3}|_{1,3})(?!\s)(?:(?!\1).)+\1\s*:?\s*$")
_DECORATED = re.compile(r"\s*([-=~*])\1{1,5}\s*[^-=~*\n]{1,60}\1{2,6}\s*$")
_LABEL = (
    r"[*_]{0,3}(?:key |main )?(?:point|insight|finding|take-?away|observation|statement|claim|fact|item|bullet|step|"
    r"argument|reason|no\.?|number|punkt|erkenntnis|aussage)[ #]{0,2}\d{1,3}(?:[:.)–—][*_]{0,3}|[*_]{1,3}:)\s+"
)
_ITEM = re.compile(
    r"\s*(?:(?:[-*+•‣◦▪●·–—]\s+|[-=]>\s+|(?:[①-⓿❶-➓]|\d\ufe0f?\u20e3)\s*|"
    r"(?:\*\*|__)?[(（]?(?P<number>\d{1,3})(?:[.)）:]|\s[-–—])(?:\*\*|__)?\s+|#(?P<counted>\d{1,3})[.:)]?\s+|"
    r"(?P<letters>[ivx]{1,5}|[a-z])\.\s+|[(]?[a-z][)]\s+|[(]?[ivx]{1,5}[)]\s+)"
    rf"(?:\[[ x✓✗]\]\s+)?(?:{_LABEL})?|{_LABEL})", re.IGNORECASE,
)  # fmt: skip
_SECOND = re.compile(r"\s*(?:\*\*)?(?:II|B)\.(?:\*\*)?\s", re.IGNORECASE)
_ORNAMENT = re.compile(r"(\s*)([^\w\s!-~]{1,5})\s+(?=\D)")
_SEPARATOR = re.compile(r"\s*[|+]?\s*:?[-=]+:?\s*(?:[|+]\s*:?[-=]+:?\s*)*[|+]?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_STOP = re.compile(rf"[.!?…{STOPS}:][\"'”’»)\]*_]*[\s{SIGNS}]*$")
_NOT_SAID = re.compile(f"[\\s{SIGNS},;]")
_END_OF_A_LINE = 80
_WORDS_OF_A_HEADING = 6
_WORDS_OF_A_CELL = 4  # from which it is a sentence


class Block(NamedTuple):
    """Lines that belong together, without the mark of their item; of a row, its words as one line."""

    kind: Literal["prose", "item", "row", "title"]
    lines: list[str]


def blocks(text: str) -> Iterator[Block]:
    """Yield what may state something; headings, rules, code and the heads of tables do not."""
    title: Block | None = None
    for block in _read(text):
        if title is not None and (block.kind == "title" or not _is_below(title, block)):
            yield title
        title = block if block.kind == "title" else None
        if title is None:
            yield block
    if title is not None:
        yield title


def _read(text: str) -> Iterator[Block]:
    """Yield the same, and lines that are headings if something stands below them."""
    lines = text.split("\n")
    reader = _Lines(lines, {mark: text.count(mark) for mark in ("```", "~~~")}, any(map(_SECOND.match, lines)))
    for place in range(len(reader.lines)):
        yield from reader.take(place)
    yield from reader.end()


@dataclass
class _Lines:
    """Reads lines one by one, and holds what the next one may go on with."""

    lines: Sequence[str]
    fences: dict[str, int]  # those that are still to come
    lettered: bool  # items may be counted by letters, `A.` or `I.`
    block: Block | None = None
    heads: list[str] | None = None  # of the table in which the next line may be a row
    number: int = 0  # of the last item of a numbered list
    indent: int = 0  # of the last item
    fence: str = ""  # that opened the code in which the next line stands

    def end(self) -> Iterator[Block]:
        """Yield the block that is held."""
        held, self.block = self.block, None
        if held is not None:
            is_title = held.kind == "prose" and _is_title(held) and is_short(held.lines[0])
            yield held._replace(kind="title") if is_title else held

    def take(self, place: int) -> Iterator[Block]:
        """Yield the block that a line ends, and a row."""
        whole = self.lines[place]
        line = whole[quote.end() :] if (quote := _QUOTE.match(whole)) is not None else whole
        fence = _FENCE.match(line)
        if fence is not None or self.fence:
            yield from self.end()
            self.fence = self._fenced(fence, line)
            return
        if self.block is not None and _UNDERLINE.match(line):
            yield from self._underlined()
        elif "|" in line and (self.heads is not None or is_head(self.lines, place)):
            yield from self.end()
            yield from self._row(line)
        elif not line.strip() or _RULE.match(line) or ("+" in line and _SEPARATOR.match(line)):
            self.heads = self.heads if line.strip() else None
            yield from self.end()
        elif (heading := _heading(line)) is not None:
            self.heads = None
            yield from self.end()
            yield from heading
        else:
            self.heads = None
            yield from self._words(line)

    def _underlined(self) -> Iterator[Block]:
        if self.block is not None and self.block.kind == "prose" and _is_title(self.block):
            self.block = None
        yield from self.end()

    def _row(self, line: str) -> Iterator[Block]:
        if self.heads is None and not SIGN.search(line):
            self.heads = cells(line)
        elif not _SEPARATOR.match(line):
            self.heads = self.heads or []  # a first row that cites is no head
            yield Block("row", _row(self.heads, cells(line)))

    def _words(self, line: str) -> Iterator[Block]:
        line = _plain_bullet(line)
        item = _ITEM.match(line)
        number = 0 if item is None else self._number(item)
        if item is not None and (number is None or (number and self.block and not self._may_be(number))):
            item = None
        if item is not None:
            indent = len(line) - len(line.lstrip())
            if self.block is not None and indent > self.indent and _is_head_of(self.block):
                self.block = None
            self.number, self.indent = number or self.number, indent
            yield from self.end()
            self.block = Block("item", [line[item.end() :]])
        elif self.block is None or self._is_over(self.block, line):
            yield from self.end()
            self.block = Block("prose", [line])
        else:
            self.block.lines.append(line)

    def _number(self, item: re.Match[str]) -> int | None:
        """Return the number of an item; 0: it has none; None: its letters count nothing here, as those of a name."""
        if item["letters"] is None:
            return int(item["number"] or item["counted"] or 0)
        places = (_roman(item["letters"]), "abcdefghijklmnopqrstuvwxyz".find(item["letters"].casefold()) + 1)
        return self.number + 1 if self.lettered and {self.number + 1, 1}.intersection(places) else None

    def _may_be(self, number: int) -> bool:
        """Return whether a number is that of the next item, and not one with which a line of a paragraph begins."""
        return number == self.number + 1 or (self.block is not None and self.block.kind == "prose" and number <= 1)

    def _is_over(self, block: Block, line: str) -> bool:
        """Return whether a line that is not indented follows an item that has come to its end."""
        return block.kind == "item" and not line.startswith((" ", "\t")) and _stops(block.lines[-1])

    def _fenced(self, fence: re.Match[str] | None, line: str) -> str:
        """Return the mark that closes the code in which the next line stands; empty: it stands in none."""
        if fence is None:
            return self.fence
        self.fences[fence[1]] -= 1
        if self.fence:
            return "" if fence[1] == self.fence else self.fence
        kind = line.strip().strip("`~").strip().casefold()
        return "" if self.fences[fence[1]] < 1 or kind in PROSE_IN_FENCES else fence[1]


def _heading(line: str) -> list[Block] | None:
    """Return what a heading may state: nothing if it is short, else a title; None: the line is none."""
    plain = re.sub(r"^[\s#]+", "", line) if _HEADING.match(line) else line
    is_cited = SIGN.search(line) is not None
    if plain == line and (is_cited or not (_is_bold(line) or _DECORATED.match(line))):
        return None
    return [] if is_short(plain) else [Block("item" if is_cited else "title", [_without_mark(plain)])]


def is_short(line: str) -> bool:
    """Return whether a line has no more words than a heading."""
    return len(line.split()) <= _WORDS_OF_A_HEADING


def _is_below(title: Block, block: Block) -> bool:
    """Return whether a title is one of *block*; a short line above a paragraph may be an answer in few words."""
    return block.kind != "prose" or not is_short(title.lines[0])


def _plain_bullet(line: str) -> str:
    """Return a line with a dash in place of an ornament (a symbol of Unicode and what varies it) that opens it."""
    found = _ORNAMENT.match(line)
    if found is None or category(found[2][0]) not in ("So", "Sm", "Sk") or found[2][0] in "<>":
        return line
    return f"{found[1]}- {line[found.end() :]}"


def _without_mark(line: str) -> str:
    item = _ITEM.match(line)
    return line if item is None else line[item.end() :]


def _roman(letters: str) -> int:
    """Return the number that i, v and x mean; 0: other letters mean none."""
    worth = [{"i": 1, "v": 5, "x": 10}.get(letter, 0) for letter in letters.casefold()]
    return sum(-one if one < max(worth[place:]) else one for place, one in enumerate(worth))


def _is_bold(line: str) -> bool:
    """Return whether a line is a heading in bold type."""
    return _BOLD.match(line) is not None and not re.search(r"[.!?。]\s*[*_]{1,3}\s*$", line)


def _is_title(block: Block) -> bool:
    """Return whether a block may be a heading of what follows: one line that cites nothing and ends no sentence."""
    only = block.lines[0]
    return len(block.lines) == 1 and not SIGN.search(only) and not _stops(only)


def _is_head_of(item: Block) -> bool:
    """Return whether a block is an item that is the heading of a list below it."""
    return item.kind == "item" and _is_title(item) and is_short(item.lines[0])


def is_head(lines: Sequence[str], place: int) -> bool:
    """Return whether a line has the heads of a table."""
    return place + 1 < len(lines) and lines[place + 1].strip()[:1] in "|+-=:" and bool(_separates(lines[place + 1]))


def _separates(line: str) -> re.Match[str] | None:
    return _SEPARATOR.match(line) if "-" in line or "=" in line else None


def cells(line: str) -> list[str]:
    """Return the cells of a row."""
    return [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]


def _row(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Return the words of a row: a cell that is no sentence stands behind its head, a number of the row is left out."""
    headed = [(heads[place] if place < len(heads) else "", cell) for place, cell in enumerate(cells)]
    said = [(head, cell) for head, cell in headed if _NOT_SAID.sub("", cell)]
    said = [(head, cell) for head, cell in said if not (cell.strip(".)").isdecimal() and len(head) <= 3)]
    signs = "".join(cell for _, cell in headed if not _NOT_SAID.sub("", cell))
    is_long = [len(cell.split()) >= _WORDS_OF_A_CELL for _, cell in said]
    if is_long == [False, True]:
        words = [f"{said[0][1].strip(':')}: {said[1][1]}"]  # a label and what is said of it
    else:
        words = [
            cell if long or not head else f"{head}: {cell}" for (head, cell), long in zip(said, is_long, strict=True)
        ]
    return [f"{'; '.join(words)} {_NO_SIGN.sub('', signs)}"]


def block_texts(block: Block) -> Iterator[str]:
    """Yield the texts of a block: its lines, joined where one only goes on, as an indented line of an item does."""
    lines = block.lines
    texts = [line.strip() for line in lines]
    stops = _stops(" ".join(texts[-2:]))  # the last may be a mark alone
    if len(lines) > 1 and _opens(*texts[:2]):
        lines, texts = lines[1:], texts[1:]
    held: list[str] = []
    for line, text in zip(lines, texts, strict=True):
        rest = block.kind == "item" and line.startswith((" ", "\t"))
        if held and not rest and not _goes_on(held[-1], text, stops=stops):
            yield " ".join(held)
            held = []
        held.append(text)
        if line.endswith(("  ", "\\")):
            yield " ".join(held).rstrip("\\ ")
            held = []
    if held:
        yield " ".join(held)


def _opens(first: str, second: str) -> bool:
    """Return whether the first line is a heading of the others, in bold type, or announces them: `Key findings:`."""
    is_bold = _is_bold(first) and not SIGN.search(first)
    return is_short(first) and (is_bold or first.endswith((":", "："))) and not second[:1].islower()


def _goes_on(before: str, line: str, *, stops: bool) -> bool:
    """Return whether a line is the rest of the one before it, not the next of several."""
    first = line.lstrip("*_\"'“(")[:1]
    if first.islower() or first in ".,;:)" or SIGN.match(first) or _stops(before):
        return True
    return stops and not SIGN.match(before[-1:])


def _stops(line: str) -> bool:
    """Return whether a sentence ends with a line, marks or none behind it."""
    return _STOP.search(line[-_END_OF_A_LINE:]) is not None
