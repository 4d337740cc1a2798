"""
Sources as files hold them, and the chapters that marks cut them into (MSRS, section 3.2).

    sources.jsonl   {"id", "text" or "file", "queries": [{"query_id", "query", "answers": [...]}]}

`file` is a path below the folder of the JSON Lines file. A line without queries is a document without queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import NamedTuple

from pydantic import Field

from longform.errors import UsageError
from longform.formats.fields import Entry, Filled, Record, Text
from longform.formats.json_files import json_lines
from longform.synthesis.multi_source.settings import CutSettings, MultiSourceSynthesis
from longform.synthesis.recipe import Read, unpacked

FILE = "sources.jsonl"
_BLOCKS = frozenset(
    "address article aside blockquote br center dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header hr li main ol p "
    "pre section table td th tr ul".split()
)
_UNSEEN = frozenset(("script", "style", "template", "title"))
_SPACE = re.compile(r"\s+")
_ENDS = re.compile(r" *\n *")
_GAP = re.compile(r"\n{2,}")


class SourceQuery(NamedTuple):
    query_id: str
    text: str
    answers: tuple[str, ...]


class SourceChapter(NamedTuple):
    doc_id: str
    text: str


class LongSource(NamedTuple):
    """A long document, cut."""

    source_id: str
    chapters: tuple[SourceChapter, ...]  # those with text, in their order
    queries: tuple[SourceQuery, ...]
    n_empty: int  # chapters without text, which are left out

    @property
    def text(self) -> str:
        """Return the whole, without marks."""
        return "\n\n".join(chapter.text for chapter in self.chapters)


class _QueryEntry(Entry):
    query_id: Filled
    query: Filled
    answers: list[Filled] = Field(min_length=1)


class _SourceLine(Entry):
    id: Filled
    text: Text | None = None
    file: Filled | None = None
    queries: list[_QueryEntry] = Field(default_factory=list)


def read_sources(settings: MultiSourceSynthesis, read: Read) -> list[LongSource]:
    """
    Return the sources of a configuration, in the order of their lines.

    Raises:
        UsageError: A file cannot be read, or there is no source, none with a query, or one without text.
        InputError: A line is not as above, or an id is not its own.
    """
    url = settings.sources if settings.sources.endswith((".jsonl", ".jsonl.gz")) else f"{settings.sources}/{FILE}"
    found: dict[str, LongSource] = {}
    query_ids: set[str] = set()
    for record in json_lines(unpacked(url, read).split(b"\n"), url):
        line = record.read(_SourceLine)
        if line.id in found:
            raise record.error("id", expected="an id that no other source has")
        for query in line.queries:
            if query.query_id in query_ids:
                raise record.error("queries", expected=f"each query_id once, found {query.query_id!r} again")
            query_ids.add(query.query_id)
        text = _text(record, line, url, read)
        found[line.id] = _source(
            line, cut_text(text, settings.cut, html=settings.html), was_cut=settings.cut is not None
        )
        if not found[line.id].chapters:
            raise record.error("text", expected="text outside its marks", found="none")
    if not query_ids:
        raise UsageError(f"{url}: expected sources with queries, found {len(found)} sources and no query")
    return list(found.values())


def _text(record: Record, line: _SourceLine, url: str, read: Read) -> str:
    if (line.text is None) == (line.file is None):
        raise record.error("text", expected="text or file, and not both")
    if line.file is None:
        return line.text or ""
    path = f"{url.rpartition('/')[0] or '.'}/{line.file}"
    try:
        return read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise record.error("file", expected="a file in UTF-8", found=f"{path}: {error}") from error


def _source(line: _SourceLine, texts: Sequence[str], *, was_cut: bool) -> LongSource:
    filled = [text for text in texts if text]
    ids = [f"{line.id}:{number:03}" for number in range(1, len(filled) + 1)] if was_cut else [line.id]
    return LongSource(
        source_id=line.id,
        chapters=tuple(SourceChapter(doc_id, text) for doc_id, text in zip(ids, filled, strict=False)),
        queries=tuple(SourceQuery(one.query_id, one.query.strip(), tuple(one.answers)) for one in line.queries),
        n_empty=len(texts) - len(filled),
    )


def cut_text(text: str, cut: CutSettings | None, *, html: bool) -> list[str]:
    """
    Return the chapters of *text*, without outer space; those between two marks with nothing between them are empty.

    Of HTML, the text that a browser shows is read, a line for each block. *cut* has the marks; None: the text is one
    chapter.
    """
    parts = _shown(text, cut.tags if cut else ()) if html else [text.replace("\r\n", "\n")]
    marks = [re.compile(line) for line in cut.lines] if cut else []
    return [chapter.strip() for part in parts for chapter in _by_lines(part, marks)]


def _by_lines(text: str, marks: Sequence[re.Pattern[str]]) -> Iterator[str]:
    chapter: list[str] = []
    for line in text.split("\n"):
        if any(mark.fullmatch(line.strip()) for mark in marks):
            yield "\n".join(chapter)
            chapter = []
        else:
            chapter.append(line)
    yield "\n".join(chapter)


def _shown(text: str, tags: Sequence[str]) -> list[str]:
    """Return what a browser shows of the chapters of an HTML text."""
    reader = _BrowserText(tags)
    reader.feed(text)
    reader.close()
    return [_GAP.sub("\n\n", _ENDS.sub("\n", "".join(parts))) for parts in reader.chapters]


class _BrowserText(HTMLParser):
    """Gathers what a browser shows; a chapter ends before each element that is a mark."""

    def __init__(self, tags: Sequence[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.chapters: list[list[str]] = [[]]
        self._tags = {(name.lower(), wanted) for name, _, wanted in (tag.partition(".") for tag in tags)}
        self._unseen = self._kept = 0  # elements around that are not shown, and that keep their space

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = dict(attrs).get("class") or ""
        if any((tag, wanted) in self._tags for wanted in ("", *classes.split())):
            self.chapters.append([])
        self._kept += tag == "pre"
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BLOCKS:
            self.chapters[-1].append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _UNSEEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._kept = max(0, self._kept - (tag == "pre"))
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS:
            self.chapters[-1].append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.chapters[-1].append(data.replace("\r\n", "\n") if self._kept else _SPACE.sub(" ", data))
