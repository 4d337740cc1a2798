"""
Marks by which answers cite: `[3]`, `[1–3]`, `[^1]`, `【1†source】`, `¹`, `(Source 1)`, `[text](document)` and others.

A mark tells what it cites, numbers and names, and not which documents these are: that depends on what the answer saw.
What is no citation for sure (an ISBN, a date, a task box, `[sic]`, what stands in code) is no mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from longform.text.citations import bounded
from longform.text.sentences import STOPS

_WORDS = (
    r"doc(?:ument(?:o|os|s)?|s)?|dokumente?n?|dok|sources?|src|quellen?|fuentes?|fontes?|fonti?|refs?|references?|"
    r"referenzen?|referencias?|cite|cited|citations?|oaicite|passages?|articles?|artikel|texts?|chunks?|files?|"
    r"snippets?|contexts?|(?:search )?results?|evidence|(?:foot)?notes?|fn|reports?|papers?|id|ids|источники?|"
    r"web(?:page|site)?s?|urls?|links?|документы?|文档|文件|文献|来源|來源|资料|資料|文書|出典|参考|引用|문서|출처|المصدر|مصدر|وثيقة"
)
_SEE = r"see(?: also)?|cf|vgl|siehe(?: auch)?|from|per|via|aus|voir|ver|ibid|ebd|op\. ?cit|according to|laut|based on"
_BEFORE = (
    rf"(?:(?:{_SEE})\b[\s.:]*)?"
    rf"(?:(?:(?:{_WORDS})(?:[\s_]?ids?)?[\s.:#№=_-]*){{1,2}}|(?:no|nr)\.?\s|[dsrcp](?=\d{{1,3}}\b))?"
)
_LOCATOR = r"(?:pp?\.?|s\.|§+|sec(?:tion)?|para(?:graph)?|lines?|l(?=\d)|chunk|part|ch(?:apter)?)[\s.:]*[\dl][\dl\s–-]*"
_NUMBER = re.compile(
    rf"{_BEFORE}[#^@№]?\s*(\d{{1,30}})(?:\s*(?:[-–—‐‑−~]|\.\.+|to|bis)\s*(?:(?:{_WORDS})[\s.:#]*)?[#^]?(\d{{1,30}}))?"
    rf"\^?(?:\s*[:,]?\s*{_LOCATOR})?",
    re.IGNORECASE,
)
_NAMED_NUMBER = re.compile(rf"(?:{_WORDS})[\s.#№]*(\d{{1,30}})()\s*[:–—(-]\s*\S.*", re.IGNORECASE)
_SERVED = re.compile(r"(\d{1,9})(?::(\d{1,9}))?†(.*)", re.DOTALL)  # of file search: message, place in it, file name
_WORDED = re.compile(rf"\s*(?:{_SEE}|{_WORDS})\b", re.IGNORECASE)
_PREFIX = re.compile(
    rf"(?:(?:{_SEE})\b[\s.:]*)?(?:(?:{_WORDS})(?:[\s_]?ids?)?\s*[:=]|(?<=\s)|^(?=@))\s*@?(?=\S)", re.IGNORECASE
)
_NAMED = re.compile(rf"(?:{_WORDS})(?:[\s_]?ids?)?\s*[:=]", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[,;،、；，&|]\s*|\s+(?:and|und|et|y|e|og|en|и|و|和)\s+", re.IGNORECASE)
_NOTHING = frozenset(("sic", "sic!", "emphasis added", "inaudible", "laughter", "redacted", "note", "edit"))
_OTHER_NUMBERS = re.compile(
    r"(?:isbn|issn|tel|phone|fax)\b.*|\+?[\d\s/().:-]*[\s/().:-][\d\s/().:-]{3,}", re.IGNORECASE
)
_MOST_OF_A_RANGE = 50
_MOST_WORDS_OF_A_NAME = 6
_MEASURED = re.compile(r"(?:(?<!\d{4})(?<=\d)|\b(?:[kcdmnµ]?m|ft|in|yd|mi|sq|s|ha|[xyznrE]|R|mc|CO|σ|χ))$")
_ENDS = re.compile(rf"[\s*_]*(?:[.,;:!?…{STOPS})\]|\[【［(<]|$)|[*_]*\s+(?:[^\W\d_a-zа-яà-ÿ]|[-*•\d\"“])")
_COUNTED = (
    r"(?:documents?|docs?|sources?|dokumente?|quellen?)[ ]\#?\d{1,3}"
    r"(?:,?[ ](?:(?:and|und|&)[ ])?(?:(?:documents?|docs?|sources?|dokument|quelle)[ ])?\d{1,3}\b)*"
)
_SAYS = (
    r"(?:says?|said|reports?|states?|notes?|mentions?|describes?|shows?|claims?|confirms?|adds?|finds?|argues?|"
    r"explains?|indicates?|suggests?|berichte[nt]?|sag(?:t|en)|nenn(?:t|en))"
)
_WORDED_MARKS = r"""
    |(?:(?<=according[ ]to[ ])|(?<=as[ ]stated[ ]in[ ])|(?<=as[ ]reported[ ]in[ ])|(?<=laut[ ]))
      (?P<credit>{_COUNTED})\b(?!\s+of\b)
    |(?:(?<![^\n])|(?<=[-*•>][ ]))[*_]{0,2}(?P<opening>{_COUNTED})[*_]{0,2}[:：][*_]{0,2}(?=[ ]\S)
    |(?:(?<![^\n])|(?<=[.!?][ ])|(?<=[-*•>][ ]))(?:the[ ])?(?P<subject>{_COUNTED})(?=[ ](?:also[ ])?{_SAYS}\b)
    |(?<=[—–-][ ])(?P<dashed>{_COUNTED})(?=[.!?]*(?![^\n]))
    |(?<![^\n\s])[*_]{0,2}
      (?P<stated>(?:sources?|references?|citations?|quellen?|belege?|fuentes?|fontes?)[*_]{0,2}\s?[:：][*_]{0,2}[ ]
      [^\n\[\]【(]{1,150}(?![^\n]))
    """.replace("{_COUNTED}", _COUNTED).replace("{_SAYS}", _SAYS)
_MARKS = r"""
    (?=[`~!\[［【〔〖<\\{$^⁰¹²³⁴⁵⁶⁷⁸⁹(（①-⑳\ue200]|h(?=ttps?://))(?:
    (?P<code>(?<!`)(?P<tick>`++)(?!\[[\d,;\ ]{1,40}\]`)[^`\n]{1,500}+(?P=tick))
    |(?P<fence>(?:(?<![^\n])|(?<=\n[ ])|(?<=\n[ ]{2})|(?<=\n[ ]{3}))(?P<fenced>`{3}|~{3})
      (?!`|[ ]*(?:markdown|md|te?xt)[ ]*\n)[^\n]*\n(?P<inner>))
    |(?P<image>!\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\))
    |\[(?P<label>[^\[\]\n]{1,300}|\[[^\[\]\n]{1,300}\])\]
      \((?P<target>[^()\s]{1,500}(?:\([^()\s]{0,100}\)[^()\s]{0,200})?)(?:\s{1,9}["'][^"'\n]{0,200}["'])?\)
    |<a\s[^<>]{0,300}?href=["']?(?P<href>[^"'<>\s]{1,500})["']?[^<>]{0,200}>(?P<anchor>[^<>\n]{0,300})</a>
    |<(?P<tag>sup|cite|ref|citation|source)\b[^<>\n]{0,200}>(?!\[{1,2}[^<>\n]{1,100}\]\()
      (?:<a\b[^<>\n]{0,300}>)?(?P<tagged>[^<>\n]{1,200})(?:</a>)?</(?P=tag)>
    |<(?:source|doc|document|ref|cite|citation)\s[a-z_]{1,20}=["']?(?P<attribute>[^"'<>\n]{1,100}?)["']?\s{0,3}/?>
      (?:</(?:source|doc|document|ref|cite|citation)>)?
    |\\cite[a-z]{0,6}(?:\[[^\]\n]{0,50}\])?\{(?P<latex>[^{}\n]{1,200})\}
    |(?P<span>\[\d{1,3}\]\s?[-–—]\s?\[\d{1,3}\])
    |\\?\^?[\[［【〔〖]{1,2}(?P<bracket>(?:[^\[\]［］【】〔〕〖〗\n\\]|\n(?![ \t]*\n)){0,200})
      \\?[\]］】〕〗]{1,2}
    |\ue200(?P<private>[^\ue200\ue201\n]{1,200})\ue201
    |<?(?P<address>https?://[^\s<>()\[\]"'“”]{3,500}[^\s<>()\[\]"'“”.,;:!?])>?
    |(?:(?<=[^\s>])|(?<=[^\s>][ ]))(?P<circled>[①-⑳]{1,9})
    |\{{1,2}(?P<brace>\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20})\}{1,2}
    |(?:(?<=[a-z]{3})|(?<=[.!?,;”"’)])|(?<=[a-z]{3}[ ])|(?<=\d{3}[ ])|(?<=[.!?][ ]))
      \^(?P<raised>\d{1,2}(?:,?\^\d{1,2})*)(?![\w^]|[.,]\d)
    |\$?\^\{?\[?(?P<caret>\d{1,3}(?:\s?,\s?\d{1,3}){0,20})\]?(?:\^|\}\$?)
    |(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹](?:[⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒⸴,·\ ]{0,40}[⁰¹²³⁴⁵⁶⁷⁸⁹])?)
    |[(（](?P<round>(?![^()\n]{0,200}://)[^()（）\[\]\n]{1,200})[)）]
    )
"""
_TOKEN = re.compile(_MARKS, re.VERBOSE | re.IGNORECASE)
_TOKEN_OR_WORDS = re.compile(_MARKS + _WORDED_MARKS, re.VERBOSE | re.IGNORECASE)
_MAY_CITE_IN_WORDS = re.compile(
    r"(?:do[ck]ument|doc|source|quelle|reference|citation|beleg|fuente|fonte)\w{0,2}[*_]{0,2}(?:\s#?\d|\s?[:：])",
    re.IGNORECASE,
)

Kind = Literal["mark", "link", "round", "raised"]


class Mark(NamedTuple):
    """
    A mark, `text[start:end]`.

    Attributes:
        kind: link: with a target; round: numbers or a name in parentheses, which cite only if something else says so;
            raised: digits above the line, which may stand for one number or for one each.
        content: The words inside, of a link its target.
        cites: Numbers, and names: ids, titles, addresses.
        said: Words that the sentence needs: of a link, or of a document that says something.
        closing: It stands where a sentence or a clause may end.
    """

    start: int
    end: int
    raw: str
    kind: Kind
    content: str
    cites: tuple[int | str, ...]
    said: str
    closing: bool

    @property
    def numbered(self) -> bool:
        """True if it cites nothing but numbers."""
        return all(isinstance(one, int) for one in self.cites)


def marks(text: str) -> Iterator[Mark]:
    """Yield all marks of *text*, in order; none overlap. The time is linear in the length."""
    position = 0
    token = _TOKEN_OR_WORDS if _MAY_CITE_IN_WORDS.search(text) else _TOKEN
    while (found := token.search(text, position)) is not None:
        if found["fence"] is not None:
            position = _after_fence(text, found)
            continue
        position = found.end()
        if (mark := _read(text, found)) is not None:
            yield mark


def _after_fence(text: str, opened: re.Match[str]) -> int:
    """Return the end of a block of code; of one that nothing closes, the end of its first line."""
    closing = text.find(f"\n{opened['fenced']}", opened.end() - 1)
    return opened.end() if closing < 0 else closing + 4


def _read(text: str, found: re.Match[str]) -> Mark | None:
    closing = _closes(text, found.end()) or found["private"] is not None
    raw = " ".join(found[0].split())
    if target := found["target"] or found["href"] or found["address"]:
        label = _plain((found["label"] or found["anchor"] or "").strip("[]"))
        numbers = _numbers_alone(label)
        said = "" if numbers or (closing and _names(label, target)) else label
        cites = (target, *(numbers or ((label,) if label else ())))
        return Mark(found.start(), found.end(), raw, "link", target, cites, said, closing)
    name = next((name for name in _CONTENTS if name in found.re.groupindex and found[name] is not None), None)
    content = "" if name is None else _content(name, found[name])
    kind = _kind(found, content)
    if kind == "raised":
        if _MEASURED.search(text[max(0, found.start() - 12) : found.start()]):
            return None
        content = re.sub("[·⸴˒^ ]+", ",", content)
    cites = () if is_other(content) else read_cites(content)
    only_numbers = all(isinstance(one, int) for one in cites)
    if not cites or (not only_numbers and (kind == "raised" or "\n" in found[0])):
        return None
    if name == "stated" and not _is_list_of_names(text[: found.start()][-4:], cites):
        return None
    return Mark(found.start(), found.end(), raw, kind, content, cites, raw if name == "subject" else "", closing)


_CONTENTS = (
    "span", "credit", "opening", "subject", "dashed", "stated", "private", "circled", "bracket", "tagged", "attribute",
    "latex", "brace", "raised", "caret", "power", "round",
)  # fmt: skip


def _content(name: str, written: str) -> str:
    """Return the words of a mark as all marks have them."""
    if name == "private":  # as web search of OpenAI writes them
        return written.rsplit("\ue202", maxsplit=1)[-1]
    if name == "circled":
        written = ",".join(written)
    elif name in ("span", "tagged"):
        written = re.sub(r"[\[\](){}【】]+", " ", written)
    plain = _plain(written.rstrip(". *_") if name == "stated" else written)
    return re.sub("[-–—]", ",", plain) if name == "span" and _numbers(plain) is None else plain


def _is_list_of_names(before: str, cites: tuple[int | str, ...]) -> bool:
    """Return whether the words behind `Source:` are names, and no sentence; within a line, names of one word."""
    begins = not before or re.search(r"[.!?)\]”\"*_>•\n-][ \t]*$|\s\s$", before) is not None
    most = _MOST_WORDS_OF_A_NAME if begins else 1
    return all(isinstance(one, int) or len(one.split()) <= most for one in cites)


def _kind(found: re.Match[str], content: str) -> Kind:
    if found["power"] or found["caret"] or found["raised"] or (found["tag"] or "").casefold() == "sup":
        return "raised"
    worded = _WORDED.match(content) is not None and any(isinstance(one, int) for one in read_cites(content))
    sourced = _NAMED.match(content) is not None
    return "round" if found["round"] is not None and not worded and not sourced else "mark"


def _plain(content: str) -> str:
    """Return the words of a mark in plain characters: digits of other scripts stay, those of other widths do not."""
    return " ".join(re.sub(r"[\u200b-\u200f\u2060\ufeff*`]", "", unicodedata.normalize("NFKC", content)).split())


def is_other(content: str) -> bool:
    """Return whether words in brackets are no citation for sure: nothing, `[sic]`, an ISBN, a date, a telephone."""
    plain = content.casefold().strip(" .…")
    if plain in _NOTHING or not any(character.isalnum() for character in plain) or plain in ("x", "✓"):
        return True
    return _is_isbn(plain) or (_OTHER_NUMBERS.fullmatch(plain) is not None and not _numbers_alone(plain))


def _is_isbn(content: str) -> bool:
    """Return whether digits are an ISBN, by its check digit (ISO 2108)."""
    digits = re.sub(r"[\s-]", "", content)
    if re.fullmatch(r"97[89][0-9]{10}", digits):
        return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0
    if digits != content and re.fullmatch(r"[0-9]{9}[0-9xX]", digits):  # ten digits alone are no sign of a book
        values = [10 if digit in "xX" else int(digit) for digit in digits]
        return sum(value * (10 - place) for place, value in enumerate(values)) % 11 == 0
    return False


def is_year(number: int) -> bool:
    """Return whether a number in brackets may be a year."""
    return 1000 <= number <= 2100


@lru_cache(maxsize=4096)
def read_cites(content: str) -> tuple[int | str, ...]:
    """Return the numbers and names that the words inside a mark cite; none if they only tell a place in a document."""
    if (served := _SERVED.fullmatch(content)) is not None:
        return _served(served)
    parts = [part for part in _SEPARATOR.split(re.sub(r"(?<=\d)\s+(?=\d)", ",", content)) if part]
    found: list[int | str] = []
    for part in parts:
        numbers = _numbers(part)
        if numbers is None and re.fullmatch(_LOCATOR, part, re.IGNORECASE) and found:
            continue
        if numbers and found and isinstance(found[-1], str) and all(map(is_year, numbers)):
            continue  # of what the name before it names
        name = _PREFIX.sub("", part, count=1) if _named_after_word(part) else part.strip("^ ")
        found += [name] if numbers is None else numbers
    return tuple(dict.fromkeys(found))


def _named_after_word(part: str) -> bool:
    return part.startswith("@") or _NAMED.match(part) is not None


def _served(served: re.Match[str]) -> tuple[int | str, ...]:
    """Read `1†source` and `4:0†town.pdf`; a name says more than a number, and lines of the text say nothing."""
    number = int(served[2] or served[1])
    name = served[3].strip()
    told = re.fullmatch(rf"(?:{_WORDS})?|L[\d-]+(?:.*L[\d-]+)?", name, re.IGNORECASE)
    return (number,) if told else (name, number)


def _numbers(part: str) -> list[int] | None:
    """Return the number or the numbers of a range that *part* is; None: it is none, a range of years or backwards."""
    found = _NUMBER.fullmatch(part) or _NAMED_NUMBER.fullmatch(part)
    if found is None:
        return None
    first = bounded(found[1])
    if not found[2]:
        return [first]
    last = bounded(found[2])
    return list(range(first, last + 1)) if 0 <= last - first <= _MOST_OF_A_RANGE and not is_year(first) else None


def _numbers_alone(content: str) -> list[int]:
    found = read_cites(content)
    numbers = [one for one in found if isinstance(one, int)]
    return numbers if len(numbers) == len(found) else []


def _closes(text: str, end: int) -> bool:
    return _ENDS.match(text[end : end + 12] if end + 12 < len(text) else text[end:]) is not None


def _names(label: str, target: str) -> bool:
    """Return whether a link's words only name its target, as `council` does council-march."""
    said, place = _slug(label), _slug(target)
    return bool(said) and (said in place or _WORDED.fullmatch(label) is not None)


def _slug(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
