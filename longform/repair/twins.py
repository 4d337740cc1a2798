"""
A summary's twin: the same bullets, citing the documents that support them.

Such citations say that supporting documents were found, not that they were the source: a twin has a name that says so,
and stands below its original instead of being ranked. Bullets and their order stay, so judgements of coverage and links
stay true.
"""

from __future__ import annotations

from collections.abc import Iterable

from longform.keys import content_key
from longform.rows import SummaryRow
from longform.text.citations import Bullet, without_citations

LABEL = "supporting documents found"
METHOD = "repaired citations"
MATRIX = "matrix"
"""The driver of citations by words that bullets and documents share."""


def twin_id(summary_id: str, by: str) -> str:
    """Return the id of a summary's twin; *by* changes with any change of its citations."""
    return content_key("repaired", summary_id, by)


def twin_label(cited_by: str) -> str:
    """Return the name of twins, which stands behind the summarizer's; *cited_by* is `matrix` or a support judge."""
    return LABEL if cited_by == MATRIX else f"{LABEL} by {cited_by}"


def twin(summary: SummaryRow, text: str | None, *, by: str, cited_by: str = MATRIX) -> SummaryRow:
    """
    Return the twin of a row of the summaries table, with the original as its only parent.

    No call was made for a twin: what its text cost stands at its parent, and tokens, cost and seconds are null here.

    The *text* has the other citations; None: the summary failed, and so has its twin, for the same reason. `work_id`
    stays as it is, *by* is that of `twin_id`, and *cited_by* names what chose the citations: `matrix`, or a support
    judge.
    """
    return {
        **summary,
        "input_tokens": None,
        "cached_tokens": None,
        "output_tokens": None,
        "reasoning_tokens": None,
        "cost_usd": None,
        "seconds": None,
        "summary_id": twin_id(summary["summary_id"], by),
        "summarizer": f"{summary['summarizer']}, {twin_label(cited_by)}",
        "cited_by": cited_by,
        "method": METHOD,
        "parents": [summary["summary_id"]],
        "text": text,
    }


def is_header(line: Bullet) -> bool:
    """Return whether a line only announces others: it cites nothing, and a colon ends it."""
    return not line.citations and line.text.endswith(":")


def citing(line: str, numbers: Iterable[int]) -> str:
    """Return *line* with *numbers* for its citations; a line of nothing but citations stays as it is."""
    said = without_citations(line)
    return f"{said} {''.join(f'[{number}]' for number in numbers)}".rstrip() if said else line
