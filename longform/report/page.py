"""
Sections as pages: Markdown for a terminal or a repository, HTML that needs no network.

`site` lays the results of a run out over several HTML pages; the Markdown is one page.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import accumulate, groupby, takewhile
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from longform.errors import LongformError
from longform.keys import in_groups
from longform.report.findings import findings
from longform.report.parts import Section, sentences_in
from longform.report.plots import Plot
from longform.report.sections import SIDES, DocumentOf, chips, evidence_line, example_head, markdown_examples, sections
from longform.report.tables import ShownTable, whole_head
from longform.results.results import Results
from longform.results.run_status import banner
from longform.tables.cells import TextCell

UNKNOWN = "–"

INDEX = "index.html"
"""The first page of a site."""

_REQUIRED = ("title", "aggregate")

_SCRIPTS = ("element.js", "tables.js", "copies.js", "summaries.js", "matrix.js", "documents.js", "compare.js")
_STYLES = ("report.css",)
"""Files that each page holds, in this order; the last script starts it."""


class PageLink(NamedTuple):
    """A page as its site's navigation and contents name it."""

    file: str
    title: str
    line: str  # what stands there


class Here(NamedTuple):
    """A page's place in a site, with the line at its head."""

    nav: Sequence[PageLink] = ()  # the first page first
    here: str = ""  # the file in `nav`: of the page, or of the first one of its kind
    subtitle: str | None = None  # None: it is the first page, which has the site's title
    banner: str | None = None
    refresh: str | None = None  # when the page loads itself anew, as HTML states it


def markdown(results: Results) -> str:
    """
    The report as GitHub-flavoured Markdown: its findings and every table, no figure and no drill-down.

    Raises:
        LongformError: `results` lack a title, or say something that cannot be reported, such as a NaN.
    """
    check(results)
    above = [banner(results["so_far"])] if "so_far" in results else []
    found = [told for one in findings(results) for told in (*filter(None, [one.about]), *one.told)]
    return sections_markdown(
        results["title"], [Section("findings", "Findings", found, []), *sections(results)], above=above
    )


def sections_markdown(title: str, shown: Iterable[Section], *, above: Sequence[str] = ()) -> str:
    """
    Sections of any page as Markdown, below the paragraphs *above*.

    Raises:
        LongformError: A number is no number.
    """
    parts = [f"# {_escaped(title)}", *map(_escaped, above)]
    for section in shown:
        parts.append(f"## {section.title}")
        parts += [_escaped(paragraph) for paragraph in section.paragraphs]
        for table in section.tables:
            parts += [_escaped(table.caption)] if table.caption else []
            parts += ["\n".join(f"- {_escaped(told)}" for told in sentences_in(table.how))] if table.how else []
            parts += [_pipe_table(part) for part in _by_group(table)]
            parts += [_escaped(line) for line in unknowns(table)]
        for head, lines in markdown_examples(section):
            parts += [f"### {_escaped(head)}", *(_escaped(line) for line in lines)]
        if section.listing is not None:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", section.listing)), default=0))
            parts.append(f"{fence}json\n{section.listing}\n{fence}")
    return "\n\n".join(parts) + "\n"


def sections_html(
    title: str,
    shown: Sequence[tuple[Section, Sequence[Plot]]],
    *,
    here: Here | None = None,
    file_of: Mapping[str, str] | None = None,
    document_of: DocumentOf | None = None,
    parts: Sequence[str] = (),
) -> str:
    """
    Sections of any page, each with its figures, as one HTML page that loads nothing.

    Without *here* it stands alone. *file_of* names the page of a summary by its id; the others are not linked to.
    *parts* are the files of the pages that this one is one of; none: it is whole.
    """
    examples: dict[str, Any] = {"file_of": file_of or {}, "document_of": document_of}
    return rendered("report.html.j2", title, here, sections=shown, parts=parts, **examples)


def rendered(
    template: str,
    title: str,
    here: Here | None,
    *,
    scripts: tuple[str, ...] = _SCRIPTS,
    styles: tuple[str, ...] = _STYLES,
    **parts: object,
) -> str:
    """
    Return a page that loads nothing, made from one of the templates that extend `base.html.j2`.

    Without *here* it stands alone. Files in *scripts* and *styles* make its script and style, in this order; the
    template names *parts* besides.
    """
    placed = (here or Here())._asdict()
    return _template(template).render(title=title, home=INDEX, **placed, **_script_and_style(scripts, styles), **parts)


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("longform.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentences"] = sentences_in
    environment.globals |= {
        "heads": heads,
        "group_starts": group_starts,
        "unknowns": unknowns,
        "unknown": UNKNOWN,
        "example_head": example_head,
        "chips": chips,
        "sides": SIDES,
        "evidence_line": evidence_line,
    }
    return environment.get_template(name)


@cache
def _script_and_style(scripts: tuple[str, ...], styles: tuple[str, ...]) -> Mapping[str, str]:
    templates = resources.files("longform.report") / "templates"
    script, style = ("\n".join((templates / name).read_text("utf-8") for name in names) for names in (scripts, styles))
    return {
        "script": script,
        # The page's policy lets this one script run and no other, whatever a text may smuggle in.
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "style": style,
    }


def check(results: Results) -> None:
    """Raise a LongformError if `results` lack what every report needs."""
    if missing := [field for field in _REQUIRED if not results.get(field)]:
        msg = f"results: expected the fields {list(_REQUIRED)}, found nothing in {missing}; aggregate the run again"
        raise LongformError(msg)


def unknowns(table: ShownTable) -> list[str]:
    """Return a line for each reason of unknown cells: which columns have such cells, and how many."""
    cells = ((row[column.name], column.group or column.head) for row in table.rows for column in table.columns)
    told = []
    for reason, names in in_groups((cell.reason, name) for cell, name in cells if cell.text is None).items():
        times = [f"{name}: {UNKNOWN} in {n} {'cell' if n == 1 else 'cells'}" for name, n in Counter(names).items()]
        told.append(f"{', '.join(times)} ({reason}).")
    return told


def heads(table: ShownTable) -> list[tuple[str, int]]:
    """The upper row of a table's head: each group and the number of its columns."""
    return [(group, len(list(columns))) for group, columns in groupby(table.columns, key=lambda column: column.group)]


def group_starts(table: ShownTable) -> set[int]:
    """Places of the columns that a group begins with, or the columns behind the last group."""
    return set(accumulate(span for _, span in heads(table)))


def _by_group(table: ShownTable) -> Iterator[ShownTable]:
    """
    Yield a table for each group of columns, as Markdown has no upper heads.

    The columns before all groups stand in each table, those behind a group in the first alone.
    """
    before = [*takewhile(lambda column: not column.group, table.columns)]
    groups = [group for group, _ in heads(table) if group]
    for place, group in enumerate(groups or [""]):
        own = [one for one in table.columns[len(before) :] if one.group == group or not (one.group or place)]
        yield table._replace(columns=[*before, *own])


def _pipe_table(table: ShownTable) -> str:
    lines = [
        [_escaped(whole_head(column)) for column in table.columns],
        ["---" if column.unit == "text" else "---:" for column in table.columns],
        *([*map(_cell_text, row)] for row in table.cells),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell_text(cell: TextCell) -> str:
    if cell.text is None:
        return UNKNOWN
    text = _escaped(cell.text)
    shown = text if cell.link is None else f"[{text}](<{quote(cell.link)}>)"
    return shown if cell.detail is None else f"{shown} {_escaped(cell.detail)}"


def _escaped(text: str) -> str:
    """
    Text that Markdown shows as it is: no table cell, tag, emphasis, code or link begins or ends in it.

    Brackets stay, as citations and intervals have them; without the parenthesis behind it a bracket is no link.
    """
    one_line = " ".join(text.split())
    marked = re.sub(r"[\\`*_|~]|\](?=[(:\[])", r"\\\g<0>", one_line)
    return marked.replace("&", "&amp;").replace("<", "&lt;")
