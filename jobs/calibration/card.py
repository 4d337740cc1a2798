"""Holds judges of any kind against labels, and makes their cards; several answer in one document and page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from actors.judges.opening import card_bytes
from actors.storage.folder import Folder
from jobs.calibration.asking import ask, requests, verdicts_of
from jobs.calibration.labelled import Calibration, Verdicts
from jobs.calibration.measured import NOTHING_OLDER, Measured, compared, measured
from jobs.command.calling import Calling
from jobs.spending.plan import opened_ledger
from jobs.stages.cluster import Cluster
from longform.chat.call import call_id
from longform.errors import LongformError, StoppedError
from longform.judges.card_columns import CostColumns
from longform.judges.cards import STUDY_SUMMARIES, TABLE_1, card_of
from longform.judges.means import mean_rows, merged_repeats, repeated_pairs
from longform.metrics.agreement import Retest, retest
from longform.results.results import VerbAnswer
from longform.rows import JudgementRow
from longform.settings.chat import ChatSettings
from longform.tables.table import Column, Table


def calibrate(calibration: Calibration, *, run: Folder, cluster: Cluster, calling: Calling) -> Measured:
    """
    Hold the judge against the labels.

    Verdicts are kept in *run* and found there again. The cluster is started only for a judge that has much to do.

    Raises:
        UsageError: There are no labels or predictions, or the judge cannot be used.
        BudgetReachedError: The command may not spend what is left to do.
    """
    labelled = calibration.labelled
    calibration.check()
    ask(calibration, run=run, cluster=cluster, calling=calling)
    asked = {
        name: verdicts_of(calibration, name, run) if name in calibration.made else labelled.released(name)
        for name in calibration.members
    }
    versions = {name: made.version for name, made in calibration.made.items()}
    frame = card_of(calibration.judge, calibration.judges, versions, task=calibration.kind.task)
    frame["cost"], frame["note"] = cost_of(calibration, asked, calling), calibration.note
    if (found := _retest(calibration, asked)) is not None:
        frame["retest"] = found
    given = {
        name: {place: merged_repeats(calibration.kind, rows) for place, rows in verdicts.items()}
        for name, verdicts in asked.items()
    }
    return measured(calibration, _own(calibration, given), frame)


def _retest(calibration: Calibration, asked: Mapping[str, Verdicts]) -> Retest | None:
    """Return the agreement of the judge with itself, over labelled and other pairs; None if it was asked once."""
    settings, labelled = calibration.settings, calibration.labelled
    if settings is None or not (times := _times(calibration)):
        return None
    written = {name: labelled.as_written(verdicts) for name, verdicts in asked.items()}
    if settings.members:
        again = [_own(calibration, {name: _nth(of, repeat) for name, of in written.items()}) for repeat in range(times)]
        of_repeats = [(repeat, row) for repeat, one in enumerate(again) for of in one.values() for row in of]
        rows: list[JudgementRow] = [{**row, "repeat": repeat} for repeat, row in of_repeats]
    else:
        rows = [row for of_place in written[calibration.judge].values() for row in of_place]
    pairs = repeated_pairs(calibration.kind, rows, {row["summary_id"]: row["summary_id"] for row in rows})
    return retest(pairs, **labelled.scoring.settings)


def _times(calibration: Calibration) -> int:
    """Return how often the judge was asked; a mean as often as the least asked of its members with repeats; 0: once."""
    times = [one.times for one in calibration.members.values() if one is not None and one.times > 1]
    return min(times, default=0)


def _nth(verdicts: Verdicts, repeat: int) -> Verdicts:
    """Return the answers of one repeat; those of a judge that was asked once are the same for all."""
    return {
        place: [row for row in rows if (row.get("repeat") or 0) == repeat]
        if any(row.get("repeat") for row in rows)
        else rows
        for place, rows in verdicts.items()
    }


def _own(calibration: Calibration, given: Mapping[str, Verdicts]) -> Verdicts:
    """Return the judge's own verdicts, or the means of its members'."""
    settings = calibration.settings
    if settings is None or not settings.members:
        return given[calibration.judge]
    places = dict.fromkeys(place for verdicts in given.values() for place in verdicts)
    return {
        place: mean_rows(
            calibration.kind,
            {name: verdicts.get(place, ()) for name, verdicts in given.items()},
            judge=calibration.judge,
            bounds=settings.bounds,
        )
        for place in places
    }


# ---------------------------------------------------------------- cost


def cost_words(cost: CostColumns) -> str:
    """Say the dollars, and where the number is from."""
    usd = cost["usd"]
    return f"{'unknown' if usd is None else f'${usd:,.4f}'} ({cost['why']})"


def cost_of(calibration: Calibration, given: dict[str, Verdicts], calling: Calling) -> CostColumns:
    """Return the cost of a judge's verdicts: its own, or its members'."""
    parts = {name: _member_cost(calibration, name, verdicts, calling) for name, verdicts in given.items()}
    if len(parts) == 1:
        return next(iter(parts.values()))
    known = [part["usd"] for part in parts.values() if part["usd"] is not None]
    whys = "; ".join(f"{name}: {part['why']}" for name, part in parts.items())
    return {"usd": sum(known) if len(known) == len(parts) else None, "why": f"its members' ({whys})"}


def _member_cost(calibration: Calibration, name: str, verdicts: Verdicts, calling: Calling) -> CostColumns:
    if chat := calibration.chats.get(name):
        return _spent(calibration, name, chat, verdicts, calling)
    if name in calibration.made:
        return {"usd": 0.0, "why": "no model service is called"}
    if name in TABLE_1:
        return {"usd": TABLE_1[name].usd, "why": f"{STUDY_SUMMARIES} summaries, SummHay, table 1"}
    return {"usd": None, "why": "the release does not say what its predictions cost"}


def _spent(
    calibration: Calibration, name: str, chat: ChatSettings, verdicts: Verdicts, calling: Calling
) -> CostColumns:
    """Return the cost of the calls behind the verdicts, whichever command made them."""
    pieces = calibration.labelled.pieces(calibration.made[name])
    asked = {call_id(chat, request) for request in requests(calibration, name, chat, pieces)}
    asked |= {row["call_id"] for rows in verdicts.values() for row in rows if row["call_id"]}
    with opened_ledger(calling) as ledger:
        if ledger is None:
            return {"usd": None, "why": f"there is no ledger at {calling.ledger}"}
        totals = ledger.totals_of_calls(sorted(asked))
    why = f"{totals.calls} calls in the ledger {calling.ledger}"
    if totals.n_unknown_usd:
        return {"usd": None, "why": f"{why}, {totals.n_unknown_usd} of them of unknown price; state it with --prices"}
    return {"usd": totals.known_usd, "why": why}


# ---------------------------------------------------------------- several judges

PAGE, CARDS = "judges", "cards"


Failed = Mapping[str, Any]
"""A judge that could not be held against the labels, with the reason and the exit code that it alone would give."""


def calibrate_all(
    calibrations: Sequence[Calibration], *, run: Folder, cluster: Cluster, calling: Calling
) -> tuple[dict[str, Measured], list[Failed]]:
    """
    Hold each judge against the labels; one that fails is named, and the others go on.

    All calibrations are of one task and of the same labels. Verdicts are kept in *run* and found there again.

    Raises:
        UsageError: There are no labels.
        StoppedError: The command is over.
    """
    _ = calibrations[0].labelled.chosen
    found: dict[str, Measured] = {}
    failed: list[Failed] = []
    for one in calibrations:
        try:
            found[one.judge] = calibrate(one, run=run, cluster=cluster, calling=calling)
        except StoppedError:
            raise
        except LongformError as error:
            failed.append({"judge": one.judge, "reason": str(error), "exit_code": error.exit_code})
    return found, failed


def answer_of(
    calibrations: Sequence[Calibration], found: Mapping[str, Measured], failed: Sequence[Failed]
) -> VerbAnswer:
    """Return all findings as an answer, the judges beside each other."""
    first, kind = calibrations[0].labelled, calibrations[0].kind
    name = first.url.rstrip("/").rpartition("/")[2]
    facts = {
        "labels": name,
        "data set hash": str(first.place.benchmark.manifest["dataset_hash"]),
        "annotators": ", ".join(first.chosen),
        "task": kind.task,
        "intervals": f"95 %, {first.scoring.resamples:,} resamples, seed {first.scoring.seed}",
        "unreadable or missing answers": "unknown: in no figure, and counted as unjudged",
        "note": "; ".join(sorted({one.note for one in calibrations if one.note})),
    }
    rows = [{"what": what, "value": value} for what, value in facts.items() if value]
    made = Table("made", [Column("what"), Column("value")], rows, "How the numbers were made", key=["what"])
    nothing = VerbAnswer("", [], [], beside=NOTHING_OLDER)
    answer = compared(first, list(found.values()), kind) if found else nothing
    cards = {judge: one.card for judge, one in found.items()}
    return answer._replace(
        title=f"Judges of {kind.task} against people: {name}",
        told=[*answer.told, *(f"Missing: {one['judge']}: {one['reason']}" for one in failed)],
        tables=[*answer.tables, made],
        beside={"benchmark": first.url, "task": kind.task, "cards": cards, **answer.beside, "failed": [*failed]},
    )


def write_cards(folder: Folder, found: Mapping[str, Measured]) -> list[str]:
    cards = {name: one.card for name, one in found.items() if one.card}
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
