"""
One verdict for each pair out of the repeats of a judge.

A judge with repeats is asked the same question several times, in calls of their own. Measures are scored for each
repeat and averaged within the summary. Readers that need one verdict a pair (places, citations of twins, means of
judges, cards) take the answer of most repeats and the mean of their numbers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from longform.judges.kind import Kind
from longform.judges.meta_evaluation import text_index
from longform.keys import in_groups
from longform.metrics.agreement import RepeatedPair
from longform.rows import JudgementRow

_DIGITS = 6

Row = TypeVar("Row", bound=JudgementRow)


def merged_repeats(kind: Kind, rows: Iterable[Row]) -> list[Row]:
    """
    Return one row for each pair of one summary and judge, in order of appearance; the only row of a pair as it is.

    The answer is that of most repeats that have one; of several such answers the one that counts nearest to the mean,
    then the one that counts less. The number is the mean of the repeats' numbers. The link is that of most repeats
    with that answer. A pair is unjudged only if every repeat is.

    Args:
        kind: Of the judge.
        rows: Verdicts on one summary in one mode.
    """
    pairs = in_groups((pair_of(row), row) for row in rows)
    return [of_pair[0] if len(of_pair) == 1 else _merged(kind, of_pair) for of_pair in pairs.values()]


def pair_of(row: JudgementRow) -> Hashable:
    """Name the pair that a verdict is about, whichever repeat it is: a text that stands in two places is two."""
    unit = row.get("unit_index")
    return row["summary_id"], row["mode"], unit, row["target_id"], None if unit is None else text_index(row)


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
    Return the answers of one judge to each of its questions.

    Args:
        kind: Of the judge.
        rows: Its verdicts; those of pairs with one repeat are left out.
        clusters: Summary id -> what is resampled.
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
