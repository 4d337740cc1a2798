"""A report as tests read it: tables of the page and of its Markdown."""

import re
from html.parser import HTMLParser
from pathlib import Path

from longform.repair.twins import LABEL, MATRIX
from longform.report import page as of_report
from longform.report.page import check, sections_html
from longform.report.sections import figures, sections
from longform.studies.schema_1 import with_tables

FIXTURE = Path(__file__).parent / "data" / "report_results.json"
HOSTILE = "</script><img src=x onerror=alert(1)>"
MOST_WORDS = {"p": 60, "li": 60, "figcaption": 60, "td": 45}
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Tables as lists of rows of texts by section, and what a browser would act upon."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.titles: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.section = ""
        self.script = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = values["id"]
        elif tag == "table":
            self.tables.setdefault(self.section, []).append([])
        elif tag == "tr":
            self.tables[self.section][-1].append([])
        elif tag in {"td", "th"}:
            self.tables[self.section][-1][-1].append("")
            if "title" in values:
                self.titles.append(values["title"])

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open[-1] == tag, f"<{self.open[-1]}> is closed by </{tag}>"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.script += data
        elif self.open and set(self.open) & {"td", "th"}:
            self.tables[self.section][-1][-1][-1] += data


class Texts(HTMLParser):
    """The words of paragraphs, items, captions and cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.within = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag in MOST_WORDS:
            self.within = tag
            self.found.append((tag, ""))

    def handle_endtag(self, tag):
        self.within = "" if tag == self.within else self.within

    def handle_data(self, data):
        if self.within:
            self.found[-1] = (self.within, self.found[-1][1] + data)


def long_texts(page: str) -> list[str]:
    """Return what has more words than a reader takes in at once."""
    return [text for tag, text in Texts(page).found if len(text.split()) > MOST_WORDS[tag]]


def html(results, **given):
    """Return all sections of a report on one page; rows may stand as older results had them."""
    results = with_tables(results)
    check(results)
    shown = [(section, figures(section.anchor, results)) for section in sections(results)]
    return sections_html(results["title"], shown, **given)


def markdown(results):
    """Return a report as Markdown, from rows as `html` takes them."""
    return of_report.markdown(with_tables(results))


def only(results, *lists):
    """Results with some of their lists: the fewer figures, the faster."""
    return {name: results[name] for name in ("title", "aggregate", *lists)}


def pipe_rows(block: str) -> list[list[str]]:
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.splitlines()]


def pipe_tables(report: str) -> list[list[list[str]]]:
    return [pipe_rows(block) for block in report.split("\n\n") if block.startswith("|")]


def with_twins(cells):
    """Each cell and a twin of it that has a far higher score, as repair makes them."""
    more = [
        cell
        | {
            "summarizer": f"{cell['summarizer']}, {LABEL}",
            "twin_of": cell["summarizer"],
            "joint": 99.0,
            "cited_by": MATRIX,
        }
        for cell in cells
    ]
    return [*more, *(cell | {"twin_of": None} for cell in cells)]
