"""
The blocks of an answer that may state something: paragraphs, items of lists, and rows of tables.

Headings, rules, code and the heads of tables are no blocks. In a text that is read so, a character of private use, a
sign, stands for each citation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

FIRST_SIGN, MOST_SIGNS = 0xF0000, 0xFFFE
SIGNS = "\U000f0000-\U000ffffd"
SIGN = re.compile(f"[{SIGNS}]")
_NO_SIGN = re.compile(f"[^{SIGNS}]")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_FENCE = re.compile(r" {0,3}(`{3}|~{3})[^`]*$")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s*([-*_=~])(?:\s*\1){2,}\s*$")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_BOLD = re.compile(r"\s*(\*\*|__)(?!\s)(?:(?!\1).)+\1\s*:?\s*$")
_LABEL = (
    r"[*_]{0,3}(?:key |main )?(?:point|insight|finding|take-?away|observation|statement|claim|punkt|erkenntnis|aussage)"
    r"[ #]{0,2}\d{1,3}(?:[:.)–—][*_]{0,3}|[*_]{1,3}:)\s+"
)
_ITEM = re.compile(
    r"\s*(?:(?:[-*+•‣◦▪●·–—]\s+|(?:\*\*|__)?[(（]?(?P<number>\d{1,3})[.)）](?:\*\*|__)?\s+|[(]?[a-z][)]\s+|"
    rf"[(]?[ivx]{{1,5}}[)]\s+)(?:\[[ x✓✗]\]\s+)?(?:{_LABEL})?|{_LABEL})", re.IGNORECASE,
)  # fmt: skip
_SEPARATOR = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_LIST_TAG = re.compile(r"<li\b[^<>\n]{0,200}>", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:p|div|ul|ol|br|tr|table|section|article)\b[^<>\n]{0,200}>|</(?:li|h[1-6])>", re.IGNORECASE
)
_STOP = re.compile(rf"[.!?…。！？؟।:][\"'”’»)\]*_]*[\s{SIGNS}]*$")
_NOT_SAID = re.compile(f"[\\s{SIGNS},;]")
_END_OF_A_LINE = 80
_WORDS_OF_A_HEADING = 6


class Block(NamedTuple):
    """Lines that belong together, without the mark of their item; of a row, its words as one line."""

    kind: Literal["prose", "item", "row"]
    lines: list[str]


def blocks(text: str) -> Iterator[Block]:
    """Yield what may state something; headings, rules, code and the heads of tables do not."""
    text = _BLOCK_TAG.sub("\n", _LIST_TAG.sub("\n- ", text))
    reader = _Lines(text.split("\n"), {mark: text.count(mark) for mark in ("```", "~~~")})
    for place in range(len(reader.lines)):
        yield from reader.take(place)
    yield from reader.end()


@dataclass
class _Lines:
    """Reads lines one by one, and holds what the next one may go on with."""

    lines: Sequence[str]
    fences: dict[str, int]  # those that are still to come
    block: Block | None = None
    heads: list[str] | None = None  # of the table in which the next line may be a row
    number: int = 0  # of the last item of a numbered list
    indent: int = 0  # of the last item
    fence: str = ""  # that opened the code in which the next line stands

    def end(self) -> Iterator[Block]:
        """Yield the block that is held."""
        held, self.block = self.block, None
        if held is not None:
            yield held

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
        elif "|" in line and (self.heads is not None or _is_head(self.lines, place)):
            yield from self.end()
            yield from self._row(line)
        elif not line.strip() or _HEADING.match(line) or _RULE.match(line) or _is_bold(line):
            self.heads = None
            yield from self.end()
        else:
            self.heads = None
            yield from self._words(line)

    def _underlined(self) -> Iterator[Block]:
        if self.block is not None and self.block.kind == "prose" and _is_title(self.block):
            self.block = None
        yield from self.end()

    def _row(self, line: str) -> Iterator[Block]:
        if self.heads is None:
            self.heads = _cells(line)
        elif not _SEPARATOR.match(line):
            yield Block("row", _row(self.heads, _cells(line)))

    def _words(self, line: str) -> Iterator[Block]:
        item = _ITEM.match(line)
        if item is not None and item["number"] and self.block is not None:
            number = int(item["number"])
            item = item if number == self.number + 1 or (self.block.kind == "prose" and number <= 1) else None
        if item is not None:
            indent = len(line) - len(line.lstrip())
            if self.block is not None and indent > self.indent and _is_head_of(self.block):
                self.block = None
            self.number, self.indent = int(item["number"] or self.number), indent
            yield from self.end()
            self.block = Block("item", [line[item.end() :]])
        elif self.block is None or self._is_over(self.block, line):
            yield from self.end()
            self.block = Block("prose", [line])
        else:
            self.block.lines.append(line)

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
        return "" if self.fences[fence[1]] < 1 or kind in ("markdown", "md", "text", "txt") else fence[1]


def _is_bold(line: str) -> bool:
    """Return whether a line is a heading in bold type."""
    return _BOLD.match(line) is not None and not SIGN.search(line) and not re.search(r"[.!?。]\s*(?:\*\*|__)\s*$", line)


def _is_title(block: Block) -> bool:
    """Return whether a block may be a heading of what follows: one line that cites nothing and ends no sentence."""
    only = block.lines[0]
    return len(block.lines) == 1 and not SIGN.search(only) and not _stops(only)


def _is_head_of(item: Block) -> bool:
    """Return whether a block is an item that is the heading of a list below it."""
    return item.kind == "item" and _is_title(item) and len(item.lines[0].split()) <= _WORDS_OF_A_HEADING


def _is_head(lines: Sequence[str], place: int) -> bool:
    return place + 1 < len(lines) and "-" in lines[place + 1] and _SEPARATOR.match(lines[place + 1]) is not None


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]


def _row(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Return the words of a row: a cell that is no sentence stands behind its head, a number of the row is left out."""
    named = [(heads[place] if place < len(heads) else "", cell) for place, cell in enumerate(cells)]
    said = [(head, cell) for head, cell in named if _NOT_SAID.sub("", cell)]
    said = [(head, cell) for head, cell in said if not (cell.strip(".)").isdecimal() and len(head) <= 3)]
    signs = "".join(cell for _, cell in named if not _NOT_SAID.sub("", cell))
    words = [cell if len(cell.split()) >= 4 or not head else f"{head}: {cell}" for head, cell in said]
    return [f"{'; '.join(words)} {_NO_SIGN.sub('', signs)}"]


def block_texts(block: Block) -> Iterator[str]:
    """Yield the texts of a block: its lines, joined where one only goes on, as an indented line of an item does."""
    lines = block.lines
    texts = [line.strip() for line in lines]
    stops = _stops(" ".join(texts[-2:]))  # the last may be a mark alone
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


def _goes_on(before: str, line: str, *, stops: bool) -> bool:
    """Return whether a line is the rest of the one before it, not the next of several."""
    first = line.lstrip("*_\"'“(")[:1]
    if first.islower() or first in ".,;:)" or SIGN.match(first) or _stops(before):
        return True
    return stops and not SIGN.match(before[-1:])


def _stops(line: str) -> bool:
    """Return whether a sentence ends with a line, marks or none behind it."""
    return _STOP.search(line[-_END_OF_A_LINE:]) is not None
