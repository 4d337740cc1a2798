"""Holds several judges against the same labels, and writes their page, their cards and one document of all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from actors.storage.folder import Folder
from jobs.calibration.card import calibrate
from jobs.calibration.labelled import Calibration, Compared, Measured
from jobs.calling import Calling
from jobs.cluster import Cluster
from jobs.runs.cards import card_bytes
from longform.errors import LongformError, StoppedError
from longform.judges.card_columns import Card
from longform.judges.support_meta import SupportMeta
from longform.judges.target_meta import TargetMeta
from longform.report.judge_page import JudgePage, judge_html, judge_markdown
from longform.report.judge_parts import FailedJudge

PAGE, DOCUMENT, CARDS = "judges", "judges.json", "cards"


class Several(NamedTuple):
    """
    The findings on several judges.

    Attributes:
        measured: Judge -> its findings, of those that could be held against the labels.
        failed: The others.
        compared: All of them beside each other; None: every judge failed.
    """

    measured: Mapping[str, Measured]
    failed: Sequence[FailedJudge]
    compared: Compared | None


class SeveralDocument(TypedDict):
    """The same as JSON."""

    benchmark: str
    task: str
    cards: dict[str, Card | None]
    of_targets: TargetMeta | None
    of_support: SupportMeta | None
    failed: list[FailedJudge]


def calibrate_all(calibrations: Sequence[Calibration], *, run: Folder, cluster: Cluster, calling: Calling) -> Several:
    """
    Hold each judge against the labels; one that fails is named, and the others go on.

    Args:
        calibrations: One a judge, all of one task and of the same labels.
        run: Where verdicts are, and are found.
        cluster: Where judges run that have much to do.
        calling: Where calls are recorded, and what they may cost.

    Raises:
        UsageError: There are no labels.
        StoppedError: The command is over.
    """
    _ = calibrations[0].labelled.chosen
    measured: dict[str, Measured] = {}
    failed: list[FailedJudge] = []
    for one in calibrations:
        try:
            measured[one.judge] = calibrate(one, run=run, cluster=cluster, calling=calling)
        except StoppedError:
            raise
        except LongformError as error:
            failed.append({"judge": one.judge, "reason": str(error), "exit_code": error.exit_code})
    first = calibrations[0]
    compared = first.labelled.compared(list(measured.values()), first.kind.task) if measured else None
    return Several(measured, failed, compared)


def document_of(calibrations: Sequence[Calibration], found: Several) -> SeveralDocument:
    """Return all findings as one document."""
    return {
        "benchmark": calibrations[0].labelled.url,
        "task": calibrations[0].kind.task,
        "cards": {name: one.card for name, one in found.measured.items()},
        "of_targets": found.compared.of_targets if found.compared else None,
        "of_support": found.compared.of_support if found.compared else None,
        "failed": list(found.failed),
    }


def page_of(calibrations: Sequence[Calibration], found: Several) -> JudgePage:
    """Return the content of the page."""
    first = calibrations[0].labelled
    name = first.url.rstrip("/").rpartition("/")[2]
    facts = {
        "labels": name,
        "data set hash": str(first.place.benchmark.manifest["dataset_hash"]),
        "annotators": ", ".join(first.chosen),
        "task": calibrations[0].kind.task,
        "intervals": f"95 %, {first.resamples:,} resamples, seed {first.seed}",
        "unreadable or missing answers": "unknown: in no figure, and counted as unjudged",
    }
    notes = {one.note for one in calibrations if one.note}
    return {
        "title": f"Judges of {calibrations[0].kind.task} against people: {name}",
        "facts": facts | ({"note": "; ".join(sorted(notes))} if notes else {}),
        "failed": list(found.failed),
        "of_targets": found.compared.of_targets if found.compared else None,
        "of_support": found.compared.of_support if found.compared else None,
    }


def write_page(folder: Folder, document: SeveralDocument, page: JudgePage) -> list[str]:
    """Write `judges.html`, `judges.md`, `judges.json` and a card a judge; return their names."""
    names = card_names([name for name, card in document["cards"].items() if card])
    for name, file in names.items():
        card = document["cards"][name]
        assert card is not None, "only judges with a card have a file"
        folder.write_bytes(file, card_bytes(card))
    folder.write_bytes(DOCUMENT, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
    folder.write_bytes(f"{PAGE}.md", judge_markdown(page).encode())
    folder.write_bytes(f"{PAGE}.html", judge_html(page).encode())
    return [f"{PAGE}.html", f"{PAGE}.md", DOCUMENT, *names.values()]


def card_names(judges: Sequence[str]) -> dict[str, str]:
    """Return the file of each judge's card; names that differ in signs alone are numbered."""
    found: dict[str, str] = {}
    for judge in judges:
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", judge).strip("._") or "judge"
        taken = sum(file.startswith(f"{CARDS}/{plain}.") for file in found.values())
        found[judge] = f"{CARDS}/{plain}{f'.{taken + 1}' if taken else ''}.json"
    return found
