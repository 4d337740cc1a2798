"""Lists of sources at the end of an answer, which say what its numbers stand for; footnotes and addresses of links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from longform.text.marks import marks

_HEADS = (
    r"sources?|references?|citations?|bibliography|works cited|(?:foot|end)?notes|(?:source|reference) list|documents|"
    r"further reading|quellen(?:verzeichnis|angaben)?|literatur(?:verzeichnis)?|referenzen|belege|fußnoten|fuentes|"
    r"referencias|bibliograf[ií]a|bibliographie|références|fonti|riferimenti|fontes|referências|bronnen|källor|kilder|"
    r"źródła|источники|литература|参考文献|参考资料|来源|引用|出典|資料|참고 ?문헌|출처|المصادر|المراجع"
)
_HEAD = re.compile(
    rf"[\s>]*(?:#{{1,6}}\s*)?[*_]{{0,2}}(?:{_HEADS})(?: (?:used|cited|consulted|and notes))?\s*[*_]{{0,2}}"
    rf"(?P<colon>\s*[:：])?[*_]{{0,2}}\s*#*\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)")
_LIST_MARK = re.compile(r"[\s>]*(?:[-*+•]\s+)?")
_MOST_HEADS = 5  # lines that may head the list, of which the last that does is taken
_LABEL = re.compile(
    r"\\?[\[［【(]\^?\s*(?:[^\W\d]{1,12}\.?\s*)?(\d{1,4})(?:[^\]］】)\d][^\]］】)]{0,20})?\\?[\]］】)]|\^?(\d{1,4})[.):]|"
    r"([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})|<sup>(\d{1,4})</sup>"
)
_DEFINITION = re.compile(r" {0,3}\[(\^[^\]\n]{1,60}|[^\]\n]{1,60})\]:\s*(\S.*)")
_IN_A_LINE = re.compile(r"[\[［【(]\^?(\d{1,4})[^\]］】)\n]{0,20}[\]］】)]\s*[:=]?\s*([^\[［【(\n]*[^\[［【(\s,;])")
_MOST_WORDS = 14
"""Words of a line in a list of sources that has no label, no address and no mark of a list."""


class Sourced(NamedTuple):
    """
    An answer without its list of sources.

    Attributes:
        body: The text without its list of sources.
        names: Number, or label of a footnote -> the words that say what it stands for.
    """

    body: str
    names: Mapping[int | str, str]


def without_sources(text: str) -> Sourced:
    """Part *text* from its list of sources, if it has one."""
    names: dict[int | str, str] = {}
    kept: list[str] = []
    within = False
    for line in text.split("\n"):
        found = _DEFINITION.fullmatch(line.rstrip())
        if found is not None:
            label = found[1].strip("^ ")
            names[int(label) if label.isdecimal() else label] = found[2].strip()
            within = True
        elif not (within and line.startswith(("  ", "\t")) and line.strip()):
            within = False
            kept.append(line)
    body, listed = _at_the_end(kept)
    return Sourced("\n".join(body), {**listed, **names})


def _at_the_end(lines: Sequence[str]) -> tuple[Sequence[str], Mapping[int | str, str]]:
    """Return the lines without the list at their end, and its entries."""
    first = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    heads = ((place, _HEAD.fullmatch(lines[place].rstrip())) for place in range(len(lines) - 1, first, -1))
    for place, head in islice(((place, head) for place, head in heads if head is not None), _MOST_HEADS):
        if head["rest"] and not (head["colon"] or head["rest"].startswith(("[", "【"))):
            continue
        end = next((at for at in range(place + 1, len(lines)) if _HEADING.match(lines[at])), len(lines))
        entries = [line for line in lines[place + 1 : end] if line.strip()]
        if head["rest"]:
            if not entries and (names := _of_a_line(head["rest"])) and _is_cited_elsewhere(lines[:place], names):
                return [*lines[:place], *lines[end:]], names
        elif entries and all(map(_is_entry, entries)):
            return [*lines[:place], *lines[end:]], _entries(entries)
    return _without_a_head(lines)


def _without_a_head(lines: Sequence[str]) -> tuple[Sequence[str], Mapping[int | str, str]]:
    """Take the last block for a list if its labels are cited before it, and its lines are no sentences."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    block = lines[start:end]
    labels = [_label(line) for line in block]
    if not start or not block or not all(one is not None and one[0][0] in "[［【\\^(" for one in labels):
        return lines, {}
    names = _entries(block)
    cited = {one for mark in marks("\n".join(lines[:start])) for one in mark.cites}
    counted = cited.issuperset(names) or (sorted(map(str, names)) == sorted(map(str, range(1, len(names) + 1))))
    if len(names) == len(block) and counted and cited & names.keys() and all(map(_is_short, block)):
        return lines[:start], names
    return lines, {}


def _is_entry(line: str) -> bool:
    """Return whether a line below a heading of sources is one of them, or goes on with one."""
    return bool(_unmarked(line) != line or _label(line) or _is_short(line))


def _is_short(line: str) -> bool:
    return "://" in line or (len(line.split()) <= _MOST_WORDS and not line.rstrip().endswith((".", "!", "?", "。")))


def _unmarked(line: str) -> str:
    found = _LIST_MARK.match(line)
    return line[found.end() :] if found is not None else line


def _label(line: str) -> re.Match[str] | None:
    return _LABEL.match(_unmarked(line))


def _entries(lines: Sequence[str]) -> dict[int | str, str]:
    """Return what each number stands for; without numbers, the order counts."""
    found: dict[int | str, str] = {}
    for line in lines:
        label, plain = _label(line), _unmarked(line)
        number = int(next(one for one in label.groups() if one)) if label is not None else len(found) + 1
        name = (plain[label.end() :] if label is not None else plain).strip(" :.–—-\t*_")
        if name:
            found.setdefault(number, name)
    return found


def _of_a_line(rest: str) -> dict[int | str, str]:
    """Return the entries of a list that stands in one line."""
    labelled: dict[int | str, str] = {int(one[1]): one[2].strip(" ,;.") for one in _IN_A_LINE.finditer(rest)}
    if labelled or any(mark.numbered for mark in marks(rest)):
        return labelled
    return {place: name.strip(" .") for place, name in enumerate(re.split(r"[;,]", rest), start=1) if name.strip(" .")}


def _is_cited_elsewhere(lines: Sequence[str], names: Mapping[int | str, str]) -> bool:
    """Return whether the lines cite a number that a list in one line says the meaning of."""
    return any(one in names for mark in marks("\n".join(lines)) for one in mark.cites)
