"""
The account of a made benchmark, and it and the audit as tables that describe themselves: the content of `tables.json`.

Older benchmarks have `audit.json` and `synthesis.json` alone; a report of a run on one has its tables made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from longform.keys import in_groups
from longform.metrics.statistics import Estimate
from longform.synthesis.asking import Attempt
from longform.synthesis.key_points import account as key_points
from longform.synthesis.multi_source import recipe as multi_source
from longform.synthesis.written import account as written
from longform.tables.cells import NOT_RECORDED, number
from longform.tables.table import Axes, Column, Table, Value

Json = Mapping[str, Any]
"""An object of `audit.json` or `synthesis.json`, of this or an earlier version."""

_TITLE = "How far to trust this benchmark"
_NOT_AUDITED = (
    "Its gold documents follow from where its queries come from, and no judge has looked at them. What was rewritten "
    "or merged passed the checks below; `synthesis.json` beside the benchmark has the rest."
)
_UNKNOWN = "label noise is not known: the gold map has no cell of one kind"
_WIDE = 10  # points of a ceiling's interval
_STATEMENTS = ("planted", "found", "elsewhere")
_KINDS = {"distractor": "distractors", "contradiction": "contradictions"}
_NEAR = "pairs of documents that share half of their runs of five words; 0 is right"


def benchmark_tables(audit: Json | None, account: Json | None) -> dict[str, Any] | None:
    """
    Return what a benchmark says of itself in `audit.json` and `synthesis.json`; None if it has neither.

    Returns:
        `title`, a head; `told`, sentences below it; `tables` by name.
    """
    if not audit and not account:
        return None
    found = [*(_audited(audit) if audit else ()), *(_accounted(account, audited=bool(audit)) if account else ())]
    told = _told(audit) if audit else _NOT_AUDITED
    return {"title": _TITLE, "told": [told], "tables": {table.name: table.as_json() for table in found if table.rows}}


def _counts(names: Mapping[str, str], group: str = "", **told: str) -> list[Column]:
    """Return columns of counts by their names and titles, below one head, with what is told of some."""
    return [Column(name, "count", title, told.get(name, ""), group=group) for name, title in names.items()]


# ---------------------------------------------------------------- the audit


def _audited(audit: Json) -> Iterator[Table]:
    haystacks: Sequence[Json] = audit["haystacks"]
    yield _noise(audit)
    yield _haystacks(haystacks)
    yield _places(haystacks)
    yield _prose([row for row in haystacks if row.get("prose")])


def _told(audit: Json) -> str:
    ceiling = audit["joint_ceiling"]
    low, high = ceiling["low"], ceiling["high"]
    shown = number(ceiling["value"], interval=(low, high))
    cells, judged = audit["cells"], audit["judged"]
    reach = (
        f"A perfect system is expected to reach a joint score of {shown.text} {shown.detail}. " if shown.text else ""
    )
    told = (
        f"{reach}The gold map lists {cells['listed']:,} pairs of document and insight and leaves out "
        f"{cells['left_out']:,}. Judge {audit['judge']}, which had no part in making the documents, looked at each: it "
        f"rejects {judged['listed_rejected']:,} of those listed and accepts {judged['left_out_accepted']:,} of those "
        "left out, its own errors among them."
    )
    if shown.text and low is not None and high is not None and high - low > _WIDE:
        told += " So few pairs do not say more than that: on this benchmark, do not read much into a few points."
    return told


def _noise(audit: Json) -> Table:
    told = (
        "Label noise, and the ceiling it sets on the joint score (0 to 100) of a system without any error. Where the "
        "judge confuses what is stated with what is not, both shares are too high and the ceiling is too low."
    )
    wrongly = "share of the listed pairs whose document does not state the insight"
    missed = "share of the pairs left out whose document states it"
    columns = [
        Column("false_positives", "share", "wrongly listed", wrongly, "lower", digits=2),
        Column("missed", "share", told=missed, better="lower", digits=2),
        Column("joint_ceiling", "points", "ceiling on the joint score"),
    ]
    row = {column.name: _estimate(audit[column.name]) for column in columns}
    return Table("label_noise", columns, [row], told=told, reasons=[dict.fromkeys(row, _UNKNOWN)])


def _estimate(stated: Json) -> Estimate:
    return Estimate(stated["value"], stated["low"], stated["high"], stated.get("n", 0))


def _haystacks(haystacks: Sequence[Json]) -> Table:
    is_planted = any(row["planted"] is not None for row in haystacks)
    reason = "" if is_planted or not haystacks else haystacks[0]["reasons"].get("planted", NOT_RECORDED)
    unplanted = f" What was planted where is not known: {reason}." if reason else ""
    counted = "Documents an insight: how many the gold map gives each insight, fewest, mean and most."
    found = "planted statements that stand in their document word for word"
    elsewhere = "such statements in documents that the gold map does not give their insight; 0 is right"
    statements = _counts(dict.fromkeys(_STATEMENTS, ""), "statements", found=found, elsewhere=elsewhere)
    columns = [
        Column("haystack"),
        *_counts({"documents": "", "insights": ""}),
        *_counts({"least": "fewest"}, "documents an insight"),
        Column("mean", "number", group="documents an insight"),
        *_counts({"most": ""}, "documents an insight"),
        *(statements if is_planted else ()),
        *_counts({"near_duplicates": "near-duplicates"}, near_duplicates=_NEAR),
        *(_counts(dict.fromkeys(_KINDS.values(), "")) if is_planted else ()),
    ]
    rows: list[Mapping[str, Value]] = [
        {
            "haystack": row["haystack_id"],
            **{name: row[name] for name in ("documents", "insights")},
            **row["documents_per_insight"],
            **(_planted(row) if is_planted else {}),
            "near_duplicates": len(row["near_duplicates"]),
        }
        for row in haystacks
    ]
    told, reasons = f"Each haystack. {counted}{unplanted}", [_reasons(row["reasons"]) for row in haystacks]
    return Table("haystacks", columns, rows, told=told, key=["haystack"], reasons=reasons)


def _planted(row: Json) -> dict[str, Value]:
    search, planted = row["exact_search"] or {}, row["planted"]
    kinds = {name: None if planted is None else planted.get(kind, 0) for kind, name in _KINDS.items()}
    return {**{name: search.get(name) for name in _STATEMENTS}, **kinds}


def _reasons(stated: Mapping[str, str]) -> dict[str, str]:
    of_search = dict.fromkeys(_STATEMENTS, stated.get("exact_search", ""))
    return of_search | dict.fromkeys(_KINDS.values(), stated.get("planted", ""))


def _places(haystacks: Sequence[Json]) -> Table:
    told = "Where statements of insights stand: share of them in each tenth of their document. 10 % in each is even."
    names = [f"tenth_{number}" for number in range(1, 11)]
    tenths = [Column(name, "share", str(place), group="tenth of the document") for place, name in enumerate(names, 1)]
    rows: list[Mapping[str, Value]] = []
    for row in haystacks:
        total = sum(row["tenths"])
        shares = [n / total if total else None for n in row["tenths"]]
        located: dict[str, Value] = {"haystack": row["haystack_id"], "located_by": row["located_by"]}
        rows.append(located | dict(zip(names, shares, strict=True)))
    columns = [Column("haystack"), Column("located_by", title="located by"), *tenths]
    reasons = [dict.fromkeys(names, "no statement")] * len(rows)
    return Table("places", columns, rows, told=told, key=["haystack"], reasons=reasons)


def _prose(haystacks: Sequence[Json]) -> Table:
    told = (
        "Whose words stand around planted sentences. A passage is the model's where a reply kept its planted sentence "
        "word for word, told no other number or date and, by the offline support judge, no other insight; where no try "
        "did, the grammar's template stays. That judge reads shared words, as this audit does: a fact that is told in "
        "quite other words neither of them sees."
    )
    documents = {"by_model": "by the model", "in_part": "in part", "by_template": "template"}
    passages = {"kept": "by the model", "fallen_back": "template"}
    said = {
        "by_model": "documents whose passages are all the model's",
        "in_part": "documents where some passages are the model's",
        "by_template": "documents that fell back to it whole",
    }
    columns = [
        *(Column("haystack"), Column("model")),
        *_counts(documents, "documents", **said),
        *_counts(passages, "passages"),
        *_counts({"replies": "all", "rejected": ""}, "replies", rejected="how many replies, and for what"),
        Column("reasons", title="for", group="replies"),
    ]
    rows = [
        {
            "haystack": row["haystack_id"],
            **{name: row["prose"][name] for name in ("model", *documents, *passages, "replies")},
            "rejected": sum(row["prose"]["rejected"].values()),
            "reasons": _ranked(row["prose"]["rejected"]),
        }
        for row in haystacks
    ]
    return Table("prose", columns, rows, told=told, key=["haystack"])


def _ranked(reasons: Mapping[str, int]) -> str:
    ranked = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    return ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in ranked) or "none"


# ---------------------------------------------------------------- the account of chat models

_MADE: Mapping[str, Callable[[Sequence[Json]], Table]] = {
    "written": written.made,
    "multi_source": multi_source.made,
    "key_points": key_points.made,
}


def check_rows(attempts: Iterable[Attempt], checks: Mapping[str, str]) -> list[dict[str, Any]]:
    """Count for each of *checks* its attempts and what became of them: attempts = accepted + rejected + exhausted."""
    counts = Counter((attempt.check, attempt.verdict) for attempt in attempts)
    rows: list[dict[str, Any]] = []
    for check, meaning in checks.items():
        by_verdict = {verdict: counts[check, verdict] for verdict in ("accepted", "rejected", "exhausted")}
        rows.append({"check": check, "accepted_if": meaning, "attempts": sum(by_verdict.values()), **by_verdict})
    return rows


def exhausted_rows(haystack_id: str, attempts: Iterable[Attempt]) -> list[dict[str, Any]]:
    """Return the given-up items, with the last reason of each."""
    names = {"check": "check", "subject": "subject", "number": "attempt", "reason": "reason"}
    return [
        {"haystack_id": haystack_id, **{to: getattr(attempt, name) for name, to in names.items()}}
        for attempt in attempts
        if attempt.verdict == "exhausted"
    ]


def _accounted(account: Json, *, audited: bool) -> Iterator[Table]:
    yield from _made(account, audited=audited)
    yield checks_table(account)
    yield given_up_table(account)
    yield from _scores(account)


def _made(account: Json, *, audited: bool) -> Iterator[Table]:
    """Yield the table of what was made if the kind of the account is one of ours."""
    kind = str(account.get("config", {}).get("kind") or ("written" if audited else ""))
    if kind in _MADE:
        made = _MADE[kind](account["haystacks"])
        roles = in_groups((model, role) for role, model in account["models"].items())
        models = ", ".join(f"{' and '.join(names)} {model}" for model, names in roles.items())
        asked = f"What came of what chat models were asked for ({models})." if models else "No model was asked."
        yield made._replace(told=f"{asked} {made.told}".strip())


def checks_table(account: Json) -> Table:
    """Return the attempts of each check that had some."""
    counts = {"attempts": "", "accepted": "", "rejected": "", "exhausted": "given up"}
    said = {
        "accepted": "attempts that passed",
        "rejected": "attempts that did not",
        "exhausted": "rejected, and nothing more was tried",
    }
    columns = [Column("check"), Column("accepted_if", title="accepted if"), *_counts(counts, **said)]
    checks: Sequence[Json] = account.get("checks", ())
    rows = [{column.name: row[column.name] for column in columns} for row in checks if row["attempts"]]
    return Table("checks", columns, rows, told="The checks of the synthesis, all haystacks together.", key=["check"])


def given_up_table(account: Json) -> Table:
    """Return what was given up, each with the last reason."""
    told = (
        "What was given up: the check that it did not pass at its last attempt, and why. A document with leaks or "
        "omissions stays, and the gold map says what was found in it; a query becomes a plain question; what else "
        "was given up is left out of the benchmark. Insights are counted over the haystack, subtopic by subtopic."
    )
    columns = [
        Column("haystack"),
        Column("check"),
        Column("subject", title="given up"),
        Column("attempt", "count", "attempts"),
        Column("reason", title="last reason"),
    ]
    rows = [
        {"haystack": row.get("haystack_id"), **{column.name: row.get(column.name) for column in columns[1:]}}
        for row in account.get("exhausted", ())
    ]
    return Table("given_up", columns, rows, told=told, key=["haystack", "check", "subject"])


def _scores(account: Json) -> Iterator[Table]:
    """Yield the distribution of the scores by which key points were kept, beside even ones (LONG2RAG, figure 13)."""
    axes = [Column("score", "points", "P(YES) at most"), Column("share", "points", "share of points")]
    for haystack in account["haystacks"]:
        if steps := haystack.get("scores"):
            points = [(100 * step["score"], 100 * step["share"]) for step in steps]
            rows: list[Mapping[str, Value]] = [
                *({"series": "points", "score": at, "share": share} for at, share in points),
                *({"series": "even", "score": at, "share": at} for at, _ in points),
            ]
            farthest = haystack.get("farthest_from_diagonal")
            even = "" if farthest is None else f" Farthest from the diagonal: {farthest:.2f}."
            told = f"Points before the threshold by their score; the diagonal is what even scores have.{even}"
            name, plot = f"scores_{haystack['haystack_id']}", Axes("line", "score", "share", by="series")
            yield Table(name, [Column("series"), *axes], rows, told=told, plot=plot)
