"""
Texts of files as people keep them: plain text, Markdown, HTML, PDF and Word.

Each kind of file is one function from its bytes to a title and a text, and one line of `TEXTS`. The libraries that read
PDF and Word are those of the extra `longform[files]`, and are imported when the first such file is read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any, NamedTuple

from longform.errors import LongformError, UsageError
from longform.formats.files import refused, too_large_for_word
from longform.formats.html_text import PageText, declared_encoding
from longform.formats.json_files import recoding
from longform.given import storable

_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_TITLE_FIELD = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_PROTOTYPE = b"%PDF-"
_MOST = 128 * 2**20  # bytes of a file
_PAGES = 20_000  # of a PDF
_CHARACTERS = 64 * 2**20  # of its pages


class FileText(NamedTuple):
    """The text of a file; the title is None if the file states none."""

    title: str | None
    text: str


class NoTextError(LongformError):
    """A file gives no text; the message says why and what to do."""


def text_of(path: str, content: bytes) -> FileText:
    """
    Return the text of a file by its ending.

    Raises:
        NoTextError: It has none that can be read.
        UsageError: The library that reads such files is not installed.
    """
    ending = ending_of(path)
    if ending not in TEXTS:
        known = ", ".join(TEXTS)
        raise NoTextError(f"expected a file of {known}, found {ending or 'no ending'}; convert it or move it away")
    if not content.strip():
        raise NoTextError("the file is empty; fill it or delete it")
    if len(content) > _MOST:
        raise NoTextError(f"it has {len(content) // 2**20:,} MB, and at most {_MOST // 2**20} are read; split it")
    found = TEXTS[ending](content)
    text = found.text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise NoTextError("there are no words in it; fill it or delete it")
    return FileText(" ".join((found.title or "").split()) or None, storable(text))


def ending_of(path: str) -> str:
    """Return the ending of a path in small letters, that of the file inside if it is gzipped."""
    return PurePosixPath(path.lower().removesuffix(".gz")).suffix


def marked(content: bytes) -> bool:
    """Return whether bytes begin with a byte order mark, which says how they are to be read."""
    return any(content.startswith(mark) for mark in _MARKS)


def decoded(content: bytes) -> str:
    """Return bytes as text: UTF-8, or what a byte order mark says; others are a NoTextError."""
    mark = next((mark for mark in _MARKS if content.startswith(mark)), b"")
    if not mark and (at := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise NoTextError(f"a NUL byte in line {line}: binary content, or damaged; mend it or move it away")
    try:
        return content.decode(_MARKS.get(mark, "utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        where = f"byte 0x{content[error.start]:02x} at {error.start}, in line {line}"
        raise NoTextError(f"no UTF-8 ({where}), {recoding(content)}") from error


def file_text(content: bytes, path: str) -> str:
    """Return a whole file as `decoded` reads it, its lines ended by line feeds alone; an error is an InputError."""
    try:
        return decoded(content).replace("\r\n", "\n").replace("\r", "\n")
    except NoTextError as error:
        raise refused(path, "UTF-8", str(error)) from error


def _markdown(content: bytes) -> FileText:
    text = decoded(content)
    front = _FRONT_MATTER.match(text)
    named = front and _TITLE_FIELD.search(front[1])
    body = text[front.end() :] if front else text
    heading = _HEADING.search(_FENCED.sub("", body))
    title = named[1].strip("\"'") if named else heading[1] if heading else None
    return FileText(title, body)


def _html(content: bytes) -> FileText:
    stated = None if marked(content) else declared_encoding(content)
    try:
        page = PageText(content.decode(stated) if stated else decoded(content))
    except UnicodeDecodeError:
        page = PageText(decoded(content))
    return FileText(page.title, page.text)


def _pdf(content: bytes) -> FileText:
    pypdf: Any = _library("pypdf", ".pdf", "pypdf")
    if _PROTOTYPE not in content[:1024]:
        raise NoTextError("no PDF, whatever its ending says; give it its own ending or move it away")
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        is_locked = reader.is_encrypted and not reader.decrypt("")
        pages = [] if is_locked else list(_pages(reader))
        title = None if is_locked or not reader.metadata else reader.metadata.title
    except NoTextError:
        raise
    except Exception as error:  # pypdf raises errors of many kinds at damaged files
        raise NoTextError(f"the PDF cannot be read ({error}); save it anew, as by printing it to PDF") from error
    if is_locked:
        raise NoTextError("the PDF is encrypted; save it without a password")
    text = "\n\n".join(page.strip() for page in pages if page.strip())
    if not text:
        raise NoTextError(f"a PDF of {len(pages)} pages without text, likely scanned; run OCR on it, as by: ocrmypdf")
    return FileText(title if isinstance(title, str) else None, text)


def _pages(reader: Any) -> Iterator[str]:
    """Yield the text of each page of a PDF, as far as anybody writes so many or so long ones."""
    n_characters = 0
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text()
        n_characters += len(text)
        if number > _PAGES or n_characters > _CHARACTERS:
            raise NoTextError(
                f"at most {_PAGES:,} pages and {_CHARACTERS // 2**20} million characters of a PDF are read, and it has "
                "more; split it"
            )
        yield text


def _docx(content: bytes) -> FileText:
    docx: Any = _library("docx", ".docx", "python-docx")
    try:
        if (why := too_large_for_word(io.BytesIO(content))) is None:
            document = docx.Document(io.BytesIO(content))
            return FileText(document.core_properties.title, "\n".join(_blocks(document)))
    except Exception as error:  # python-docx raises errors of zipfile, lxml and its own
        raise NoTextError(
            f"no Word file that can be read ({error}); save it anew as .docx, without a password"
        ) from error
    raise NoTextError(why)


def _blocks(container: Any) -> Iterator[str]:
    """Yield paragraphs, and rows of tables, in their order."""
    for block in container.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                yield "\t".join(dict.fromkeys(cell.text.strip() for cell in row.cells))
        elif block.text.strip():
            yield block.text


def _library(module: str, ending: str, package: str) -> ModuleType:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(
            f"{ending} files are read by {package}, which is not here: pip install 'longform[files]'"
        ) from error


TEXTS: Mapping[str, Callable[[bytes], FileText]] = {
    ".txt": lambda content: FileText(None, decoded(content)),
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".docx": _docx,
}
"""Ending -> the reader of such files."""
