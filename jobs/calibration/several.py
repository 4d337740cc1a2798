"""Holds several judges against the same labels, and writes their cards; they answer in one document and page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from actors.storage.folder import Folder
from jobs.calibration.card import calibrate
from jobs.calibration.labelled import Calibration, Measured
from jobs.calling import Calling
from jobs.cluster import Cluster
from jobs.runs.cards import card_bytes
from longform.errors import LongformError, StoppedError
from longform.results.answer import VerbAnswer
from longform.tables.table import Column, Table

PAGE, CARDS = "judges", "cards"


class Several(NamedTuple):
    """
    The findings on several judges.

    Attributes:
        measured: Judge -> its findings, of those that could be held against the labels.
        failed: The others, each with the reason and the exit code that it alone would give.
        compared: All of them beside each other; None: every judge failed.
    """

    measured: Mapping[str, Measured]
    failed: Sequence[Mapping[str, Any]]
    compared: VerbAnswer | None


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
    failed = []
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


def answer_of(calibrations: Sequence[Calibration], found: Several) -> VerbAnswer:
    """Return all findings as an answer."""
    first, task = calibrations[0].labelled, calibrations[0].kind.task
    name = first.url.rstrip("/").rpartition("/")[2]
    facts = {
        "labels": name,
        "data set hash": str(first.place.benchmark.manifest["dataset_hash"]),
        "annotators": ", ".join(first.chosen),
        "task": task,
        "intervals": f"95 %, {first.resamples:,} resamples, seed {first.seed}",
        "unreadable or missing answers": "unknown: in no figure, and counted as unjudged",
        "note": "; ".join(sorted({one.note for one in calibrations if one.note})),
    }
    rows = [{"what": what, "value": value} for what, value in facts.items() if value]
    made = Table("made", [Column("what"), Column("value")], rows, "How the numbers were made", key=["what"])
    nothing = VerbAnswer("", [], [], beside={"of_targets": None, "of_support": None})
    compared = found.compared or nothing
    cards = {judge: one.card for judge, one in found.measured.items()}
    return compared._replace(
        title=f"Judges of {task} against people: {name}",
        told=[*compared.told, *(f"Missing: {one['judge']}: {one['reason']}" for one in found.failed)],
        tables=[*compared.tables, made],
        beside={"benchmark": first.url, "task": task, "cards": cards, **compared.beside, "failed": [*found.failed]},
    )


def write_cards(folder: Folder, measured: Mapping[str, Measured]) -> list[str]:
    """Write a card a judge; return their names."""
    cards = {name: one.card for name, one in measured.items() if one.card}
    names = card_names([*cards])
    for name, file in names.items():
        folder.write_bytes(file, card_bytes(cards[name]))
    return [*names.values()]


def card_names(judges: Sequence[str]) -> dict[str, str]:
    """Return the file of each judge's card; names that differ in signs alone are numbered."""
    found: dict[str, str] = {}
    for judge in judges:
        plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", judge).strip("._") or "judge"
        taken = sum(file.startswith(f"{CARDS}/{plain}.") for file in found.values())
        found[judge] = f"{CARDS}/{plain}{f'.{taken + 1}' if taken else ''}.json"
    return found
