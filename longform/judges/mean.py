"""
The mean of several judges' numbers for the same pair; nobody is asked anew.

On SummHay's human labels the mean of a judge by shared words and of one chat model agrees with people better than
either: their errors differ. A pair has a mean only where every member judged it: an unknown is neither 0 nor the other
members' mean.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence

from longform.judges.kind import Kind, Verdict, unjudged
from longform.judges.meta_evaluation import CITED, text_index
from longform.rows import JudgementRow

VERSION = "1"
"""Changes with any change that moves an answer."""

_DIGITS = 6

Bounds = Sequence[float]
"""Numbers from which an answer is another."""


class MeanRow(JudgementRow):
    """A row of `verdicts`, but for its work id."""

    judge: str


def mean_rows(
    kind: Kind, members: Mapping[str, Sequence[JudgementRow]], *, judge: str, bounds: Bounds
) -> list[MeanRow]:
    """
    Return one verdict for each pair of one summary that any member judged, in the order the members name them.

    If each member chose its documents (mode cited), the pairs are those that all members judged.

    Args:
        kind: Of all members.
        members: Judge -> its verdicts on one summary in one mode.
        judge: The name of the mean.
        bounds: Means from which an answer is another.
    """
    by_pair = {name: {_pair(row): row for row in rows} for name, rows in members.items()}
    pairs = dict.fromkeys(pair for rows in by_pair.values() for pair in rows)
    if any(row["mode"] == CITED for rows in members.values() for row in rows):
        pairs = {pair: None for pair in pairs if all(pair in rows for rows in by_pair.values())}
    version = f"{kind.mean}@{VERSION}: {_members_version(members)}"
    return [
        _row(kind, {name: rows.get(pair) for name, rows in by_pair.items()}, judge, version, bounds=bounds)
        for pair in pairs
    ]


def mean_verdict(kind: Kind, given: Mapping[str, Verdict | None], bounds: Bounds) -> Verdict:
    """
    Return the mean of one pair; `reply` has the members' numbers.

    A member's number is its probability, else what its answer counts. If a member has none there is no mean: null, with
    the reason naming the member. The link is that of the first member that linked, if the mean says the target is said.
    """
    numbers = {name: None if one is None else kind.number(one.answer, one.probability) for name, one in given.items()}
    known = [number for number in numbers.values() if number is not None]
    reply = json.dumps(numbers)
    if missing := [f"{name}: {_why_unjudged(given[name])}" for name, number in numbers.items() if number is None]:
        return unjudged("; ".join(missing))._replace(reply=reply)
    verdict = kind.by_number(round(sum(known) / len(known), _DIGITS), bounds)
    links = (one.linked_unit for one in given.values() if one is not None and one.linked_unit is not None)
    said = verdict.answer is not None and kind.counts[verdict.answer] > 0
    return verdict._replace(reply=reply, linked_unit=next(links, None) if said else None)


def _pair(row: JudgementRow) -> Hashable:
    """Name a pair: a text that stands in two places is two."""
    return row.get("unit_index"), row["target_id"], _text(row)


def _text(row: JudgementRow) -> int | None:
    # what is judged by its whole summary is in no list of texts
    return None if row.get("unit_index") is None else text_index(row)


def _row(kind: Kind, given: Mapping[str, JudgementRow | None], judge: str, version: str, *, bounds: Bounds) -> MeanRow:
    verdicts = {name: None if row is None else verdict_of(row) for name, row in given.items()}
    mean = mean_verdict(kind, verdicts, bounds)
    first = next(row for row in given.values() if row is not None)
    return {
        "judge": judge,
        "summary_id": first["summary_id"],
        "unit_index": first.get("unit_index"),
        "target_kind": first["target_kind"],
        "target_id": first["target_id"],
        "mode": first["mode"],
        "doc_position": first.get("doc_position"),
        "chunk_index": None,  # windows are a member's own
        "repeat": 0,
        "answer": mean.answer,
        "probability": mean.probability,
        "linked_unit": mean.linked_unit,
        "failure": mean.failure,
        "reply": mean.reply,
        "prompt_version": version,
        "call_id": None,
        "text_index": _text(first),
    }


def verdict_of(row: JudgementRow) -> Verdict:
    """Read the verdict of a row."""
    return Verdict(
        answer=row.get("answer"),
        probability=row.get("probability"),
        failure=row.get("failure"),
        chunk_index=row.get("chunk_index"),
        reply=row.get("reply"),
        call_id=row.get("call_id"),
        linked_unit=row.get("linked_unit"),
    )


def _why_unjudged(one: Verdict | None) -> str:
    return "no_verdict" if one is None else one.failure or "no reason recorded"


def _members_version(members: Mapping[str, Sequence[JudgementRow]]) -> str:
    """Say what made the members' verdicts, each by its prompt or code, else by its name."""
    return " + ".join(_version(name, rows) for name, rows in members.items())


def _version(name: str, rows: Sequence[JudgementRow]) -> str:
    return next((str(row["prompt_version"]) for row in rows if row.get("prompt_version")), name)
