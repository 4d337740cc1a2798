"""Files of every kind give their words and their title, or say why they give none."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

import pytest

from longform.errors import UsageError
from longform.formats import texts
from longform.formats.texts import NoTextError, text_of


def pdf(*pages: str, title: str = "", password: str = "") -> bytes:
    """A PDF of one line a page in Helvetica; an empty line is a page without text, as a scan has it."""
    pypdf = pytest.importorskip("pypdf")
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = pypdf.PdfWriter()
    name = NameObject
    font = DictionaryObject(
        {name("/Type"): name("/Font"), name("/Subtype"): name("/Type1"), name("/BaseFont"): name("/Helvetica")}
    )
    for line in pages:
        page = writer.add_blank_page(612, 792)
        if line:
            stream = DecodedStreamObject()
            stream.set_data(f"BT /F1 12 Tf 72 700 Td ({line}) Tj ET".encode())
            page[name("/Contents")] = writer._add_object(stream)
            page[name("/Resources")] = DictionaryObject({name("/Font"): DictionaryObject({name("/F1"): font})})
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def docx(*paragraphs: str, title: str = "", row: tuple[str, ...] = ()) -> bytes:
    library = pytest.importorskip("docx")
    document = library.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if row:
        table = document.add_table(rows=1, cols=len(row))
        for cell, text in zip(table.rows[0].cells, row, strict=True):
            cell.text = text
    document.core_properties.title = title
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


HTML = """<html><head><title>Town
 news</title><style>p {color: red}</style></head><body><nav>Home | About</nav><!-- draft -->
<h1>Bridge</h1><p>The council
 voted <b>7 to 2</b>.<br>It rained &amp; blew.</p><script>track()</script>
<ul><li>one</li><li>two</li></ul></body></html>"""


def test_html_loses_scripts_styles_and_navigation_and_keeps_blocks_apart() -> None:
    found = text_of("a/News.HTML", HTML.encode())

    assert found.title == "Town news"
    assert found.text == "Bridge\nThe council voted 7 to 2.\nIt rained & blew.\none\ntwo"


def test_encoding_of_html_is_found() -> None:
    html = '<html><head><meta charset="iso-8859-1"></head><body>Café</body></html>'
    assert text_of("a.htm", html.encode("latin-1")).text == "Café"


@pytest.mark.parametrize(
    ("content", "title", "text"),
    [
        ("---\ntitle: 'March'\ntags: x\n---\nText.\n", "March", "Text."),
        ("# March #\n\nText.", "March", "# March #\n\nText."),
        ("```\n# no heading\n```\nText.", None, "```\n# no heading\n```\nText."),
        ("---\nText after a rule, no front matter.", None, "---\nText after a rule, no front matter."),
    ],
)
def test_markdown_stays_as_it_is_but_for_front_matter(content: str, title: str | None, text: str) -> None:
    assert text_of("a.md", content.encode()) == (title, text)


def test_pdf_gives_the_text_of_its_pages_and_its_title() -> None:
    found = text_of("a.pdf", pdf("The bridge is closed.", "", "It opens in May.", title="Works"))

    assert found == ("Works", "The bridge is closed.\n\nIt opens in May.")


def test_word_gives_paragraphs_and_rows_of_tables_in_order() -> None:
    found = text_of("a.docx", docx("The bridge is closed.", "It opens.", title="Works", row=("cost", "3.4 million")))

    assert found == ("Works", "The bridge is closed.\nIt opens.\ncost\t3.4 million")


@pytest.mark.parametrize(
    "content", ["Café".encode("utf-8-sig"), "Café".encode("utf-16"), "Café".encode(), b"Caf\xc3\xa9\r\n"]
)
def test_text_is_utf_8_or_what_its_mark_says(content: bytes) -> None:
    assert text_of("a.txt", content).text == "Café"


@pytest.mark.parametrize(
    ("path", "content", "told"),
    [
        ("a.txt", "Café".encode("cp1252"), "no UTF-8 (byte 0xe9 at 3, in line 1), maybe Windows' cp1252"),
        ("a.txt", b"\x7fELF\x00\x01", "binary content"),
        ("a.md", b"---\ntitle: x\n---\n", "no words"),
        ("a.md", b" \n", "the file is empty"),
        ("a.html", b"<script>x()</script>", "no words"),
        ("a.xls", b"x", "expected a file of .txt, .md"),
        ("Makefile", b"x", "found no ending"),
        ("a.pdf", b"hello", "no PDF, whatever its ending says"),
        ("a.pdf", b"%PDF-1.4 broken", "the PDF cannot be read"),
        ("a.docx", b"hello", "no Word file that can be read"),
    ],
)
def test_a_file_without_text_says_why(path: str, content: bytes, told: str) -> None:
    with pytest.raises(NoTextError, match=re.escape(told)):
        text_of(path, content)


def test_scanned_and_locked_pdfs_say_what_to_do() -> None:
    with pytest.raises(NoTextError, match="2 pages without text, likely scanned; run OCR"):
        text_of("a.pdf", pdf("", ""))
    with pytest.raises(NoTextError, match="encrypted; save it without a password"):
        text_of("a.pdf", pdf("The bridge.", password="secret"))


def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pypdf", None)
    with pytest.raises(UsageError, match=r"pypdf, which is not here: pip install 'longform\[files\]'"):
        text_of("a.pdf", b"%PDF-1.4")


def test_each_ending_has_a_reader() -> None:
    assert {".txt", ".md", ".html", ".pdf", ".docx"} <= set(texts.TEXTS)


def test_deep_and_flat_html_is_read_to_its_end() -> None:
    """Each page took minutes: a tree looks for the place of each tag among its siblings."""
    n = 20_000

    assert text_of("a.html", b"<div>" * n + b"word").text == "word"
    assert text_of("a.html", b"<p>word" * n).text.count("word") == n
    assert text_of("a.html", b"<nav><i>no</nav>yes" * n).text == "yes" * n


def test_html_keeps_space_in_pre_and_leaves_an_unclosed_head_at_the_body() -> None:
    found = text_of("a.html", b"<head><title>T<body><pre>a\n  b</pre><table><tr><td>c<td>d</table>&lt;e&gt;<br/>f")

    assert (found.title, found.text) == ("T", "a\nb\nc d\n<e>\nf")


def rebuilt(change: Callable[[bytes], bytes]) -> bytes:
    """A Word file with its text as XML changed."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(docx("MARK"))) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name == "word/document.xml" else content)
    return made.getvalue()


ENTITIES = b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 9))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda xml: xml.replace(b"MARK", b"word " * 14_000_000), "its text comes to 6. MB, and at most 64 are read"),
        (lambda xml: xml.replace(b"MARK", b"<w:r>" * 9_000 + b"</w:r>" * 9_000), "xcessive depth"),
        (
            lambda xml: xml.replace(
                b"<w:p>",
                b'<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="900000000"/></w:tcPr><w:p/></w:tc></w:tr></w:tbl><w:p>',
                1,
            ),
            "spans thousands of columns",
        ),
        (
            lambda xml: (
                b'<!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">'
                + ENTITIES
                + b"]>"
                + xml[xml.index(b"<w:document") :].replace(b"MARK", b"&a8;")
            ),
            "no Word file that can be read",
        ),
    ],
)
def test_a_word_file_that_would_fill_memory_is_refused(change: Callable[[bytes], bytes], told: str) -> None:
    """A file of 1.5 MB took 3 GB."""
    content = rebuilt(change)
    assert len(content) < 500_000

    with pytest.raises(NoTextError, match=told):
        text_of("a.docx", content)
