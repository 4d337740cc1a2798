"""
The layout of an answer, in lines that `longform.text.blocks` reads: tags become the Markdown that says the same.

Lines of a list that stand in one are parted, the cells of a column of sources become citations, and texts in JSON or in
fences are the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from longform.text.blocks import PROSE_IN_FENCES, cells, is_head

_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_WRITTEN_END = re.compile(r"\\n(?![a-z])")
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<kind>[\w-]*)[^\n`]*\n(?P<inner>.*?)^[ \t]*(?P=fence)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_WORDS_OF_PROSE = 5  # of a line
_UNSEEN = re.compile(
    r"<!--.{0,2000}?-->|<(style|script)\b[^<>]{0,300}>[^<]{0,2000}</\1>|<!doctype[^<>]{0,200}>|<\|[^|<>\n]{1,40}\|>|"
    r"<th\b[^<>]{0,200}>(?:[^<>]|</?(?:b|strong|em|i|p|span)>){0,300}</th>",
    re.IGNORECASE | re.DOTALL,
)
_LATEX = ((re.compile(r"\\(?:begin|end)\{\w{1,20}\*?\}"), ""), (re.compile(r"\\item\b"), "\n- "))
_ROW_TAG = re.compile(r"(</?(?:table|thead|tbody|tr|td)\b[^<>]{0,200}>)\s+", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-z][\w-]{0,30})(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)
_WITHIN_LINES = frozenset(
    "a abbr b bdi bdo big cite citation code data del doc document em font i img ins kbd mark q ref s samp small "
    "source span strike strong sub sup time tt u var wbr".split()
)
_ALONE = frozenset(("br", "hr", "p", "li", "dd", "dt", "tr", "td"))
_AS = {
    **dict.fromkeys(("li", "dd"), "\n- "),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "title", "caption", "summary", "dt"), "\n# "),
    "table": "\n\n||\n|---|",
    "tr": "\n|",
    "td": "",
    "/td": "|",
    "/tr": "",
}
_INNER_BULLET = re.compile(r"(?<=\S)\s+(?=[•‣▪●◦]\s)")
_INNER_NUMBER = re.compile(r"(?:^\s*|(?<=[.!?;:,\])】”\"])[ \t])[(]?(\d{1,2})[.)][ \t](?=\S)")
_BRACKETED_LABEL = re.compile(r"\s*(?:\*\*)?\[(\d{1,3})\](?:\*\*)?:?\s+(?=\w)")
_CITES_AT_THE_END = re.compile(r"\w.*\[[\d, ]+\][^\w\]]*$")
_SOURCES = re.compile(
    r"(?:sources?|documents?|docs?|citations?|references?|refs?|evidence|quellen?|belege?|fuentes?)(?: ids?)?",
    re.IGNORECASE,
)


def laid_out(text: str) -> str:
    """Return *text* in lines, without tags that part it and fences around prose; time is linear in its length."""
    text = _LINE_ENDS.sub("\n", text)
    if "\n" not in text and len(_WRITTEN_END.findall(text)) > 1:  # as files of one line a row write it
        text = _WRITTEN_END.sub("\n", text)
    text = _of_json(_FENCED.sub(_unfenced, text))
    if "\\item" in text:
        for pattern, instead in _LATEX:
            text = pattern.sub(instead, text)
    if "<" in text:
        text = _ROW_TAG.sub(r"\1", _UNSEEN.sub("", text))
        closed = {name.casefold() for slash, name in _TAG.findall(text) if slash}
        text = _TAG.sub(lambda tag: _in_lines(tag, closed), text)
    lines = [part for line in text.split("\n") for part in _parted(line)]
    return "\n".join(_with_marks(_listed(lines)))


def _unfenced(fenced: re.Match[str]) -> str:
    """Return what stands in fences, if these are the frame of prose and not of code."""
    lines = [line for line in fenced["inner"].split("\n") if line.strip()]
    n_prose = sum(len(line.split()) >= _WORDS_OF_PROSE for line in lines)
    kind = fenced["kind"].casefold()
    is_json = kind == "json" and _of_json(fenced["inner"]) != fenced["inner"]
    is_prose = kind in PROSE_IN_FENCES or kind == "html" or (not kind and 2 * n_prose >= len(lines) > 0)
    return fenced["inner"] if is_prose or is_json else fenced[0]


def _of_json(text: str) -> str:
    """Return the texts of an answer in JSON as items of a list, each with the numbers that stand beside it."""
    if text.strip()[:1] not in ("{", "["):
        return text
    try:
        items = [*_texts(json.loads(text))]
    except (ValueError, RecursionError):  # the latter if it is nested so deep that nobody wrote it to be read
        return text
    return "\n".join(f"- {item}" for item in items) if any(len(item.split()) > 1 for item in items) else text


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value of JSON; a list of numbers beside a text is what it cites."""
    if isinstance(value, str):
        yield from (line for line in value.split("\n") if line.strip())
    parts = value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else []
    numbers = [part for part in parts if isinstance(part, list) and part and all(type(one) is int for one in part)]
    texts = [text for part in parts if part not in numbers for text in _texts(part)]
    if isinstance(value, dict) and len(texts) == 1 and len(numbers) == 1:
        texts = [f"{texts[0]} {numbers[0]}"]
    yield from texts


def _in_lines(tag: re.Match[str], closed: set[str]) -> str:
    """Return what stands for a tag: a line break and the mark of a line; tags within lines stay."""
    name = tag[2].casefold()
    if name in _WITHIN_LINES or not (name in closed or name in _ALONE):
        return tag[0]
    return _AS.get(f"{tag[1]}{name}", "\n")


def _parted(line: str) -> Iterator[str]:
    """Yield the items of a list that stands in one line."""
    begins, expected = [0], 1
    for number in _INNER_NUMBER.finditer(line):
        if int(number[1]) == expected:
            begins.append(number.start())
            expected += 1
    begins = begins if expected > 2 else [0]
    for begin, end in zip(begins, [*begins[1:], len(line)], strict=True):
        if end > begin or len(begins) == 1:
            yield from _INNER_BULLET.split(line[begin:end])


def _listed(lines: list[str]) -> list[str]:
    """Return lines; those that begin with [1], [2] and so on, and cite behind their words, are items of a list."""
    labels = {place: found for place, line in enumerate(lines) if (found := _BRACKETED_LABEL.match(line))}
    counts = [int(found[1]) for found in labels.values()] == [*range(1, len(labels) + 1)]
    if len(labels) > 1 and counts and all(_CITES_AT_THE_END.search(lines[place]) for place in labels):
        return [f"- {line[labels[place].end() :]}" if place in labels else line for place, line in enumerate(lines)]
    return lines


def _with_marks(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines; cells below the head of a column of sources stand in square brackets."""
    columns: list[int] = []
    for place, line in enumerate(lines):
        if "|" not in line:
            columns = []
        elif is_head(lines, place):
            columns = [column for column, head in enumerate(cells(line)) if _SOURCES.fullmatch(head.strip("*_ "))]
        elif columns and any(character.isalnum() for character in line):
            row = cells(line)
            yield f"| {' | '.join(_marked(cell) if column in columns else cell for column, cell in enumerate(row))} |"
            continue
        yield line


def _marked(cell: str) -> str:
    return cell if not cell or re.search(r"[\[\]()【】⁰¹²³⁴⁵⁶⁷⁸⁹^<]", cell) else f"[{cell}]"
