"""
One verdict for each pair out of several: of the repeats of a judge, or of judges of which another is the mean.

A judge with repeats is asked the same question several times, in calls of their own. Measures are scored for each
repeat and averaged within the summary. Readers that need one verdict a pair (places, citations of twins, means of
judges, cards) take the answer of most repeats and the mean of their numbers.

A mean of judges asks nobody anew. On SummHay's human labels the mean of a judge by shared words and of one chat model
agrees with people better than either: their errors differ. A pair has a mean only if every member judged it: an unknown
is neither 0 nor the other members' mean.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from longform.judges.kind import Kind, Verdict, unjudged
from longform.judges.merges import CITED, text_index
from longform.keys import in_groups
from longform.metrics.agreement import RepeatedPair
from longform.rows import JudgementRow

_DIGITS = 6

Row = TypeVar("Row", bound=JudgementRow)


def merged_repeats(kind: Kind, rows: Iterable[Row]) -> list[Row]:
    """
    Return one row for each pair of one summary and judge, in order of appearance; the only row of a pair as it is.

    The answer is that of most repeats that have one; of several such answers the one that counts nearest to the mean,
    then the one that counts less. The number is the mean of the repeats' numbers. The link is that of most repeats with
    that answer. A pair is unjudged only if every repeat is. The rows are verdicts on one summary in one mode.
    """
    pairs = in_groups((pair_of(row), row) for row in rows)
    return [of_pair[0] if len(of_pair) == 1 else _merged(kind, of_pair) for of_pair in pairs.values()]


def pair_of(row: JudgementRow) -> Hashable:
    """Name the pair that a verdict is about, whichever repeat it is: a text that stands in two places is two."""
    return row["summary_id"], row["mode"], row.get("unit_index"), row["target_id"], _text(row)


def _text(row: JudgementRow) -> int | None:
    # what is judged by its whole summary is in no list of texts
    return None if row.get("unit_index") is None else text_index(row)


def _merged(kind: Kind, repeats: Sequence[Row]) -> Row:
    repeats = sorted(repeats, key=_repeat)
    reply = json.dumps([row.get("reply") for row in repeats])
    judged = [row for row in repeats if row["answer"] is not None]
    first = (judged or repeats)[0].copy()
    first["repeat"], first["reply"] = 0, reply
    if not judged:
        return first
    numbers = [kind.number(row["answer"], row["probability"]) or 0.0 for row in judged]
    mean = sum(numbers) / len(numbers)
    first["answer"] = answer = majority(kind, [str(row["answer"]) for row in judged], mean)
    graded = any(row["probability"] is not None for row in judged) or len(set(numbers)) > 1
    first["probability"] = round(mean, _DIGITS) if graded else None
    if "linked_unit" in first:
        links = Counter(row["linked_unit"] for row in judged if row["answer"] == answer)
        first["linked_unit"] = links.most_common(1)[0][0]
    return first


def _repeat(row: JudgementRow) -> int:
    return row.get("repeat") or 0


def majority(kind: Kind, answers: Sequence[str], mean: float) -> str:
    """Return the answer of most repeats; ties go to the one that counts nearest to the *mean*, then to the lower."""
    votes = Counter(answers)
    most = max(votes.values())
    tied = [answer for answer, n in votes.items() if n == most]

    def distance(answer: str) -> tuple[float, float]:
        counts = kind.number(answer, None) or 0.0
        return round(abs(counts - mean), _DIGITS), counts

    return min(tied, key=distance)


def repeated_pairs(kind: Kind, rows: Iterable[JudgementRow], clusters: Mapping[str, Hashable]) -> list[RepeatedPair]:
    """
    Return the answers of one judge to each of its questions that has several repeats.

    *clusters* maps a summary id to what is resampled.
    """
    pairs = in_groups((pair_of(row), row) for row in rows)
    return [
        RepeatedPair(
            clusters[of_pair[0]["summary_id"]],
            [row["answer"] for row in of_pair],
            [kind.number(row["answer"], row["probability"]) for row in of_pair],
        )
        for of_pair in pairs.values()
        if len(of_pair) > 1
    ]


# ---------------------------------------------------------------- means of judges

MEAN_VERSION = "1"
"""Changes with any change that moves an answer."""

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

    Each member has its verdicts on one summary in one mode. *judge* names the mean; *bounds* are the means at which the
    answer changes.
    """
    by_pair = {name: {pair_of(row): row for row in rows} for name, rows in members.items()}
    pairs = dict.fromkeys(pair for rows in by_pair.values() for pair in rows)
    if any(row["mode"] == CITED for rows in members.values() for row in rows):
        pairs = {pair: None for pair in pairs if all(pair in rows for rows in by_pair.values())}
    # what made the members' verdicts, each by its prompt or code, else by its name
    made = [
        next((str(row["prompt_version"]) for row in rows if row.get("prompt_version")), name)
        for name, rows in members.items()
    ]
    version = f"{kind.mean}@{MEAN_VERSION}: {' + '.join(made)}"
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


def _row(kind: Kind, given: Mapping[str, JudgementRow | None], judge: str, version: str, *, bounds: Bounds) -> MeanRow:
    verdicts = {
        name: None
        if row is None
        else Verdict(row["answer"], row["probability"], row.get("failure"), linked_unit=row.get("linked_unit"))
        for name, row in given.items()
    }
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


def _why_unjudged(one: Verdict | None) -> str:
    return "no_verdict" if one is None else one.failure or "no reason recorded"
