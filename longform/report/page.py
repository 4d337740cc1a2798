"""
Results as pages: Markdown for a terminal or a repository, HTML that needs no network.

The drill-down stands in the report's own page if both have room there, else on pages of their own beside it, so that no
page grows with the run.

`results` is one JSON object: `title`, `aggregate`, `benchmark`, `run`, and the lists `cells`, `per_summary_cells`,
`unscored` (sentences), `position`, `retrieval`, `curve`, `failure_modes`, `rouge_bootstrap`, `judges`, `comparisons`,
`calls` (what each stage called and spent), with `audit` and `synthesis` (the benchmark's own), `repair` (rows, changes
and examples of citations before and after their repair) and `drilldown`. What is empty or missing leaves its section
out. `cells` are averaged as `aggregate` says. Scores are in 0 to 100, retrieval measures and shares in 0 to 1; None is
unknown, and its reason may stand in the row's `reasons` by field.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from itertools import accumulate, groupby
from typing import NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from longform.errors import LongformError
from longform.report.figures import Figure, figures
from longform.report.measures import all_heads
from longform.report.parts import Section
from longform.report.repair import SIDES, chips, evidence_line, example_head, markdown_examples
from longform.report.sections import sections
from longform.report.tables import Cell, Column, Table
from longform.results.drilldown import PackedPage, Packing, unfolded_of
from longform.results.results import Results

UNKNOWN = "–"

_REQUIRED = ("title", "aggregate")

_SCRIPTS = ("element.js", "tables.js", "summaries.js", "comparisons.js", "start.js")
_STYLES = ("report.css",)
"""Files that each page holds, in this order."""


def markdown(results: Results) -> str:
    """
    The report as GitHub-flavoured Markdown: every table, no figure and no drill-down.

    Raises:
        LongformError: `results` lack a title, or say something that cannot be reported, such as a NaN.
    """
    _check(results)
    return sections_markdown(results["title"], sections(results))


def sections_markdown(title: str, shown: Iterable[Section]) -> str:
    """
    Sections of any page as Markdown.

    Raises:
        LongformError: A number is no number.
    """
    parts = [f"# {_escaped(title)}"]
    for section in shown:
        parts.append(f"## {section.title}")
        parts += [_escaped(paragraph) for paragraph in section.paragraphs]
        for table in section.tables:
            parts.append(_escaped(table.caption))
            parts += [_pipe_table(part) for part in _by_group(table)]
            parts += [_escaped(line) for line in unknowns(table)]
        for head, lines in markdown_examples(section):
            parts += [f"### {_escaped(head)}", *(_escaped(line) for line in lines)]
        if section.listing is not None:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", section.listing)), default=0))
            parts.append(f"{fence}json\n{section.listing}\n{fence}")
    return "\n\n".join(parts) + "\n"


class SummaryPage(NamedTuple):
    """A page of summaries, as the report's own page links to it."""

    file: str
    n_summaries: int
    first: str
    last: str


def html(
    results: Results,
    *,
    embedded: str | None = None,
    pages: Sequence[SummaryPage] = (),
    file_of: Mapping[str, str] | None = None,
) -> str:
    """
    The report as one HTML page with figures, sortable tables and the drill-down; it loads nothing.

    Args:
        results: What is shown; their `drilldown` is embedded if nothing else is given.
        embedded: Packed data of the drill-down.
        pages: That hold it instead.
        file_of: Summary id -> the page that holds it, of those that `linked` names.

    Raises:
        LongformError: As `markdown`, or the drill-down names a query or a target that it does not list.
    """
    _check(results)
    return sections_html(
        results["title"],
        [(section, figures(section.anchor, results)) for section in sections(results)],
        drilldown=None if pages else embedded or _drilldown(results),
        pages=pages,
        file_of=file_of,
    )


def sections_html(
    title: str,
    shown: Sequence[tuple[Section, Sequence[Figure]]],
    *,
    drilldown: str | None = None,
    pages: Sequence[SummaryPage] = (),
    file_of: Mapping[str, str] | None = None,
) -> str:
    """
    Sections of any page, each with its figures, as one HTML page that loads nothing.

    Args:
        title: Of the page.
        shown: Its sections.
        drilldown: Packed data of summaries that unfold; None: there are none.
        pages: That hold summaries instead.
        file_of: Summary id -> the page that holds it.
    """
    return _template("report.html.j2").render(
        title=title,
        sections=shown,
        heads=heads,
        group_starts=group_starts,
        unknowns=unknowns,
        example_head=example_head,
        chips=chips,
        sides=SIDES,
        evidence_line=evidence_line,
        unknown=UNKNOWN,
        drilldown=drilldown,
        pages=pages,
        n_summaries=sum(page.n_summaries for page in pages),
        place_of=partial(_place_of, file_of or {}),
        **_script_and_style(),
    )


def _place_of(file_of: Mapping[str, str], summary_id: str) -> str:
    return file_of.get(summary_id, "")


def summaries_html(
    results: Results, page: PackedPage, *, number: int, main: str, before: str | None, after: str | None
) -> str:
    """
    A page of summaries of its *number*, which loads nothing.

    Args:
        results: Of the report.
        page: What it unfolds.
        number: Of the page, from 1.
        main: The file of the report's own page.
        before: The file of the page before this one; None: it is the first.
        after: The file of the page after it; None: it is the last.
    """
    return _template("summaries.html.j2").render(
        title=results["title"],
        number=number,
        main=main,
        before=before,
        after=after,
        drilldown=page.data,
        **_script_and_style(),
    )


def linked(results: Results) -> frozenset[str]:
    """Return the ids of the summaries that the report's own page links to."""
    repair = results.get("repair")
    examples = repair["examples"] if repair else []
    return frozenset(id_ for example in examples for id_ in (example["summary_id"], example["repaired_id"]))


def points(results: Results) -> list[str]:
    """Return the measures that are shown in points."""
    return [head.name for head in all_heads(results) if head.in_points]


def _drilldown(results: Results) -> str | None:
    packing = Packing(points(results))
    for one in unfolded_of(results.get("drilldown") or {"queries": {}, "summaries": []}):
        packing.add(one)
    return packing.json() if len(packing) else None


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("longform.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


@cache
def _script_and_style() -> Mapping[str, str]:
    script, style = ("\n".join(map(_template_text, names)) for names in (_SCRIPTS, _STYLES))
    return {
        "script": script,
        # The page's policy lets this one script run and no other, whatever a text may smuggle in.
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "style": style,
    }


def _check(results: Results) -> None:
    if missing := [field for field in _REQUIRED if not results.get(field)]:
        msg = f"results: expected the fields {list(_REQUIRED)}, found nothing in {missing}; aggregate the run again"
        raise LongformError(msg)


def _template_text(name: str) -> str:
    return resources.files("longform.report").joinpath("templates", name).read_text("utf-8")


def unknowns(table: Table) -> list[str]:
    """One line a reason: how many cells of the table are unknown, and why."""
    reasons = Counter(cell.reason for row in table.rows for cell in row if cell.text is None)
    return [f"{UNKNOWN} ({times} {'cell' if times == 1 else 'cells'}): {reason}" for reason, times in reasons.items()]


def heads(table: Table) -> list[tuple[str, int]]:
    """The upper row of a table's head: each group and the number of its columns."""
    return [(group, len(list(columns))) for group, columns in groupby(table.columns, key=lambda column: column.group)]


def group_starts(table: Table) -> set[int]:
    """Places of the columns that a group begins with, or the columns behind the last group."""
    return set(accumulate(span for _, span in heads(table)))


def _by_group(table: Table) -> list[Table]:
    """
    A table for each group of columns, as Markdown has no upper heads.

    The columns before all groups stand in each table, those behind a group in the first alone.
    """
    groups = [group for group, _ in heads(table) if group]
    if not groups:
        return [table]
    parts = []
    begin = next(place for place, column in enumerate(table.columns) if column.group)
    for group in groups:
        alone = {"", group} if group == groups[0] else {group}
        places = [place for place, column in enumerate(table.columns) if place < begin or column.group in alone]
        columns = [_with_group(table.columns[place]) for place in places]
        parts.append(Table(table.caption, columns, [[row[place] for place in places] for row in table.rows]))
    return parts


def _with_group(column: Column) -> Column:
    return column._replace(name=f"{column.group}: {column.name}") if column.group else column


def _pipe_table(table: Table) -> str:
    lines = [
        [_escaped(column.name) for column in table.columns],
        ["---:" if column.numeric else "---" for column in table.columns],
        *([_cell_text(cell) for cell in row] for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell_text(cell: Cell) -> str:
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
