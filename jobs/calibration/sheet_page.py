"""
An annotation sheet as a page that is filled in a browser without a network, and gives the CSV that is read back.

Texts of summaries and documents are anyone's. They stand in the page as JSON, reach it as text nodes, and its policy
lets its own script run and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from longform.judges.kind import SheetKind
from longform.judges.sheets import SheetPair, guide, offered
from longform.keys import content_key
from longform.metrics.verdict_means import LABEL_SEPARATOR, NO_LABEL
from longform.report.page import rendered

_SCRIPTS = ("element.js", "sheet.js")
_STYLES = ("report.css", "sheet.css")
_KEYS = 9  # digits that choose an answer


def sheet_page(
    kind: SheetKind, pairs: Sequence[SheetPair], annotator: str, *, file: str, documents: Mapping[str, str]
) -> bytes:
    """
    Return the page of an annotator's sheet.

    Args:
        kind: Of the labels.
        pairs: The rows, in their order.
        annotator: Whose sheet it is.
        file: The name of the download.
        documents: Name of a file of documents -> its text.
    """
    answers = [NO_LABEL, *kind.labels] if kind.labels else offered(kind)
    data = {
        "sheet": content_key(kind.task, annotator, [pair.key for pair in pairs]),
        "annotator": annotator,
        "file": file,
        "columns": list(kind.columns),
        "answers": answers,
        "words": [answer.replace("_", " ") for answer in answers],
        "several": bool(kind.labels),
        "separator": LABEL_SEPARATOR,
        "none": NO_LABEL,
        "links": kind.links,
        "counted": [answer for answer, number in kind.counts.items() if number] if kind.links else [],
        "justified": kind.is_justified,
        "pairs": [
            {"key": pair.key, "n_units": pair.n_units, "shown": [[name, text] for name, text in pair.shown.items()]}
            for pair in pairs
        ],
        "documents": dict(documents),
    }
    told = (
        f"{len(pairs):,} rows for {annotator}. Answers stay in this browser, if it allows that, and leave it only as "
        f"the download {file}, which longform annotate --filled reads. Save it in the folder of this page. Leave a row "
        "without an answer that you cannot judge."
    )
    page = rendered(
        "sheet.html.j2",
        f"Sheet of {annotator}: {kind.task.replace('_', ' ')}",
        None,
        scripts=_SCRIPTS,
        styles=_STYLES,
        told=told,
        n_answers=min(_KEYS, len(answers)),
        links=kind.links,
        guide=guide(kind),
        data=json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"),
    )
    return page.encode()
