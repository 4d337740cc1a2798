"""Tables of the worth of a run's judges: its card, how it agrees with itself, and perturbed summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.judges.adversarial import row_words, should_words
from longform.judges.card_columns import Adversarial, AdversarialRow
from longform.judges.cards import retest_words
from longform.tables.table import JUDGE, Column, Table

NO_CARD = "no card: its agreement with people is not known"
_NONE_JUDGED = "no insight was judged on both sides"
Row = Mapping[str, Any]


def judges_tables(judges: Sequence[Row], retests: Sequence[Any] = ()) -> list[Table]:
    """
    Return the cards of judges, and below them what their cards say of perturbed summaries; none without judges.

    Rows of *judges* are `longform.results.results.JudgeRow`; *retests* has the rows of those that were asked again.
    """
    asked = {row["judge"]: [one for one in retests if one["judge"] == row["judge"]] for row in judges}
    cards = Table(
        "judges",
        [JUDGE, Column("card")],
        [
            {"judge": row["judge"], "card": part}
            for row in judges
            for part in (*(row.get("card_parts") or [card_words(row)]), *_asked_again(asked[row["judge"]]))
        ],
        title="Judges",
        told="What each judge is worth: its agreement with people's labels.",
        key=["judge", "card"],
        page="judges",
    )
    return [cards, *perturbed_tables({row["judge"]: row.get("adversarial") for row in judges})] if judges else []


def card_words(row: Row) -> str:
    """Return the line of a judge's card, or why it has none."""
    reason = f" ({row['card_reason']})" if row.get("card_reason") else ""
    return str(row.get("card") or f"{NO_CARD}{reason}")


def _asked_again(rows: Sequence[Any]) -> list[str]:
    """Return the agreement of a judge with itself, in words for each data set."""
    return [(f"{row['dataset']}: " if len(rows) > 1 and row["dataset"] else "") + retest_words(row) for row in rows]


_PERTURBED = [
    JUDGE,
    Column(
        "perturbation",
        told="the same in other words, in one bullet, at more length or with more citations must keep its score; what "
        "was denied or what the query alone says must not count",
    ),
    Column("rows", title="insights", told="those that count, fully covered as people say, or all"),
    Column("before", "number", told="mean score over these insights", digits=2, unknown=_NONE_JUDGED),
    Column("after", "number", digits=2, unknown=_NONE_JUDGED),
    Column("drop", "number", digits=2, unknown=_NONE_JUDGED),
    Column("n", "count"),
    Column("n_summaries", "count", "summaries", "labelled ones that the judge was not fitted on, if there are some"),
    Column("in_words", title="in words"),
]


def perturbed_tables(found: Mapping[str, Adversarial | None]) -> list[Table]:
    """Return each judge's score of perturbed summaries as its card states it; none if no card has such a section."""
    known = {judge: one for judge, one in found.items() if one is not None}
    rows = [{"judge": judge, **_effect(row)} for judge, one in known.items() for row in one["rows"]]
    missing = [{"judge": judge, **row} for judge, one in known.items() for row in _missing(one)]
    numbers = [column.name for column in _PERTURBED if column.unit != "text"]
    table = Table(
        "judges_perturbed",
        _PERTURBED,
        (),
        title="Perturbed summaries",
        told="Each judge's score of summaries before and after they were perturbed.",
        key=["judge", "perturbation"],
        reasons=[*({} for _ in rows), *(dict.fromkeys(["rows", *numbers], row["why"]) for row in missing)],
        section="judges",
        page="judges",
    )
    kept = [{name: value for name, value in row.items() if name != "why"} for row in missing]
    return [table.having([*rows, *kept])] if known else []


def _effect(row: AdversarialRow) -> Row:
    name = row["perturbation"] if row["measure"] == "score" else f"{row['perturbation']}: {row['measure']}"
    effect = {"before": row["before"], "after": row["after"], "drop": row["drop"]}
    counts = {"n": row["drop"]["n"], "n_summaries": row["n_summaries"]}
    words = row_words(row) if row["before"]["value"] is None else should_words(row)
    return {"perturbation": name, "rows": row["rows"], **effect, **counts, "in_words": words}


def _missing(one: Adversarial) -> Iterator[dict[str, str]]:
    for name, why in ({"all": one["reason"]} if one["reason"] else one["missing"]).items():
        yield {"perturbation": name, "in_words": f"not measured: {why}", "why": why}
