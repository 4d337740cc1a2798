"""Lists of sources at the end of an answer, which say what its numbers stand for; footnotes and addresses of links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple
from unicodedata import normalize

from longform.text.marks import marks, read_cites

_UNSURE = r"notes|documents"  # heads that also stand above what an answer states
_HEADS = (
    r"sources?|references?|citations?|bibliography|works cited|(?:foot|end)notes|further reading|"
    rf"{_UNSURE}|"
    r"quellen(?:verzeichnis|angaben)?|literatur(?:verzeichnis)?|referenzen|belege|fußnoten|fuentes|"
    r"referencias|bibliograf[ií]a|bibliographie|références|fonti|riferimenti|fontes|referências|bronnen|källor|kilder|"
    r"źródła|источники|литература|参考文献|参考资料|来源|引用|出典|資料|참고 ?문헌|출처|المصادر|المراجع"
)
_HEAD = re.compile(
    rf"[\s>(]*(?:#{{1,6}}\s*)?(?:[^\w\s]{{1,4}}\s|\d{{1,2}}[.)]\s)?[*_]{{0,2}}"
    rf"(?:(?:list of|all|my) )?(?P<noun>{_HEADS})(?: (?:documents?|list|used|cited|consulted))?"
    rf"(?: ?(?:and|und|&|/) ?(?:{_HEADS}))?\s*[*_]{{0,2}}"
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
_BRACKETED = re.compile(r"\[([^\[\]\n]{1,61})\]")
_IN_A_LINE = re.compile(r"[\[［【(]\^?(\d{1,4})[^\]］】)\n]{0,20}[\]］】)]\s*[:=]?\s*([^\[［【(\n]*[^\[［【(\s,;])")
_NAMES_FILE = re.compile(r"\w\.\w{2,5}\W*$|://")
_MOST_WORDS = 14
"""Words of a line in a list of sources that has no label, no address and no mark of a list."""


class Sourced(NamedTuple):
    """An answer without its list of sources."""

    body: str
    names: Mapping[int | str, str]  # number, or label of a footnote -> the words that say what it stands for


def without_sources(text: str) -> Sourced:
    """Part *text* from its list of sources, if it has one, and from definitions of what it cites."""
    lines = text.split("\n")
    defined = _definitions(lines)
    body = "\n".join(line for place, line in enumerate(lines) if place not in defined)
    cited = _cited(body) | {found[1] for found in _BRACKETED.finditer(body)} if defined else set()
    names = {_key(label): told for label, told in defined.values() if "://" in told or {label, _key(label)} & cited}
    kept = [line for place, line in enumerate(lines) if place not in defined or _key(defined[place][0]) not in names]
    left, listed = _at_the_end(kept)
    return Sourced("\n".join(left), {**listed, **names})


def _key(label: str) -> int | str:
    """Return what a mark cites by the label of a definition."""
    plain = label.strip("^ ")
    return int(plain) if plain.isdecimal() else plain


def _definitions(lines: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return the label and the words of the definition that stands in a line, or goes on in it, by its place."""
    found: dict[int, tuple[str, str]] = {}
    for place, line in enumerate(lines):
        defined = _DEFINITION.fullmatch(line.rstrip())
        if defined is not None:
            found[place] = defined[1], defined[2].strip()
        elif place - 1 in found and line.startswith(("  ", "\t")) and line.strip():
            found[place] = found[place - 1]
    return found


def _at_the_end(lines: Sequence[str]) -> tuple[Sequence[str], Mapping[int | str, str]]:
    """Return the lines without the list at their end, and its entries."""
    first = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    heads = ((place, _HEAD.fullmatch(lines[place].rstrip(" \t)"))) for place in range(len(lines) - 1, first, -1))
    for place, head in islice(((place, head) for place, head in heads if head is not None), _MOST_HEADS):
        if head["rest"] and not (head["colon"] or head["rest"].startswith(("[", "【"))):
            continue
        end = next((at for at in range(place + 1, len(lines)) if _HEADING.match(lines[at])), len(lines))
        entries = [line for line in lines[place + 1 : end] if line.strip()]
        is_sure = re.fullmatch(_UNSURE, head["noun"], re.IGNORECASE) is None
        if head["rest"] and not entries:
            names, numbers = _of_a_line(head["rest"])
            cited = _cited("\n".join(lines[:place]))
            if cited.intersection(names) or (not names and numbers and cited.issuperset(numbers)):
                return [*lines[:place], *lines[end:]], names
        elif not head["rest"] and entries and all(_is_entry(line, any_item=is_sure) for line in entries):
            return [*lines[:place], *lines[end:]], _entries(entries)
    return _without_a_head(lines)


def _without_a_head(lines: Sequence[str]) -> tuple[Sequence[str], Mapping[int | str, str]]:
    """Take the last lines for a list if their labels are cited before them, and they are no sentences."""
    written = [place for place, line in enumerate(lines) if line.strip()]
    form = _form(lines[written[-1]]) if written else ""
    start = len(lines)
    while start and (not lines[start - 1].strip() or (_form(lines[start - 1]) == form and _is_short(lines[start - 1]))):
        start -= 1
    above = next((lines[place] for place in reversed(written) if place < start), "")
    if not form or not above or _form(above) == form or lines[start].strip():  # a blank line stands between
        return lines, {}
    block = [line for line in lines[start:] if line.strip()]
    if not all(_unmarked(line)[0] in "[［【\\^(" or _NAMES_FILE.search(line) for line in block):
        return lines, {}
    names = _entries(block)
    cited = _cited("\n".join(lines[:start]))
    counted = cited.issuperset(names) or (sorted(map(str, names)) == sorted(map(str, range(1, len(names) + 1))))
    if len(names) == len(block) and counted and cited & names.keys() and not any(map(_states, block)):
        return lines[:start], names
    return lines, {}


def _form(line: str) -> str:
    """Return the way in which the label of an entry is written; empty: it has none, or names nothing."""
    label = _label(line)
    is_named = label is not None and _unmarked(line)[label.end() :].strip()
    return re.sub(r"\d+", "0", label[0]) if label is not None and is_named else ""


def _cited(text: str) -> set[int | str]:
    return {one for mark in marks(text) for one in mark.cites}


def _is_entry(line: str, *, any_item: bool) -> bool:
    """
    Return whether a line below a heading of sources is one of them, or goes on with one.

    A sentence that cites is none; *any_item*: an item of a list is one, however many words it has.
    """
    label = _label(line)
    plain = _unmarked(line)[label.end() :] if label is not None else _unmarked(line)
    if _is_stated(plain):
        return False
    return label is not None or _is_short(line) or (any_item and plain != line)


def _states(line: str) -> bool:
    """Return whether a line with a label says something, and does not only name a source."""
    return not _is_short(line) or any(mark.numbered and mark.kind == "mark" for mark in [*marks(line)][1:])


def _is_stated(words: str) -> bool:
    """Return whether words are a sentence with its citations, and no entry with a number behind it."""
    own = [mark for mark in marks(words) if mark.kind == "mark" and mark.numbered and mark.start]
    if not own or sum(len(mark.cites) for mark in own) > 1:
        return bool(own)
    return any(part.rstrip().endswith((".", "。")) for part in (words, words[: own[0].start]))


def _is_short(line: str) -> bool:
    is_sentence = line.rstrip().endswith((".", "!", "?", "。")) or _is_stated(line)
    return "://" in line or (len(line.split()) <= _MOST_WORDS and not is_sentence)


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
        written = next(one for one in label.groups() if one) if label is not None else str(len(found) + 1)
        name = (plain[label.end() :] if label is not None else plain).strip(" :.–—-\t*_")
        if name:
            found.setdefault(int(normalize("NFKC", written)), name)
    return found


def _of_a_line(rest: str) -> tuple[dict[int | str, str], set[int]]:
    """Return the entries of a list that stands in one line, and numbers that it cites without a name."""
    labelled: dict[int | str, str] = {int(one[1]): one[2].strip(" ,;.") for one in _IN_A_LINE.finditer(rest)}
    cites = read_cites(re.sub(r"[\[\]【】()（）]+", " ", rest).strip(" ."))
    numbers = {one for one in cites if isinstance(one, int)}
    if labelled or (numbers and len(numbers) == len(cites)):
        return labelled, numbers
    return {place: name for place, name in enumerate((str(one).strip(" .") for one in cites), start=1) if name}, set()
