"""The words of an HTML page, read tag by tag: memory and time grow with its length, however deep it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser

_NO_WORDS = frozenset(("script", "style", "nav", "noscript", "template", "head", "iframe", "svg"))
_BLOCKS = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "div", "dl", "dt", "figcaption",
        "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre",
        "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
    )
)  # fmt: skip
_EMPTY = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_HEAD = 4096  # bytes in which a page says its encoding
_SPACE = re.compile(r"\s+")


def declared_encoding(content: bytes) -> str | None:
    """Return the encoding that a page states, if Python knows it."""
    if (found := _CHARSET.search(content[:_HEAD])) is None:
        return None
    try:
        name = found[1].decode("ascii")
        b"".decode(name)  # not by codecs.lookup, which knows base64, too
    except (LookupError, UnicodeError):
        return None
    return name


class PageText(HTMLParser):
    """
    Collects the words of a page.

    Scripts, styles, navigation and the head are left out. Blocks stand on lines of their own, and space is one blank
    except in `pre`. `title` is None for a page without one.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._title: list[str] = []
        self._titles = 0
        self._open: list[str] = []
        self._n_open: Counter[str] = Counter()
        self._n_silent = 0  # open tags whose words do not count
        self.feed(page)
        self.close()

    @property
    def title(self) -> str | None:
        return "".join(self._title) if self._titles else None

    @property
    def text(self) -> str:
        """The words, without empty lines."""
        lines = (line.strip() for line in "".join(self._parts).split("\n"))
        return "\n".join(line for line in lines if line)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:  # noqa: ARG002  the parser's
        if tag == "body":
            self._end_of("head")
        if tag in _BLOCKS:
            self._parts.append("\n")
        elif tag in {"td", "th"} and self._parts and not self._parts[-1][-1:].isspace():
            self._parts.append(" ")
        self._titles += tag == "title"
        if tag in _EMPTY:
            return
        self._open.append(tag)
        self._n_open[tag] += 1
        self._n_silent += tag in _NO_WORDS

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self._end_of(tag)

    def handle_endtag(self, tag: str) -> None:
        self._end_of(tag)

    def _end_of(self, tag: str) -> None:
        """Close the tags down to the last open one of this name."""
        while self._n_open[tag]:
            closed = self._open.pop()
            self._n_open[closed] -= 1
            self._n_silent -= closed in _NO_WORDS
            if closed in _BLOCKS:
                self._parts.append("\n")
            elif closed in {"td", "th"}:
                self._parts.append(" ")
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._n_open["title"]:
            self._title += [data] if self._titles == 1 else []
        if not self._n_silent:
            self._parts.append(data if self._n_open["pre"] else _SPACE.sub(" ", data))
