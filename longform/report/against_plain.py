"""The tables of methods and orders against the plain one, with what is found in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from longform.metrics.paired_differences import ALPHA
from longform.report.estimates import NO_SCORE
from longform.report.parts import by_judge, judge_line
from longform.report.tables import Column, Table
from longform.results.against_plain import AgainstFamily, AgainstRow
from longform.results.comparisons import NOT_DISTINGUISHABLE
from longform.results.faithfulness import Faithfulness
from longform.results.results import Results
from longform.tables.cells import Cell, count, number, words

_UNBOUNDED = "so few queries bound no difference"


def against_told(found: Faithfulness) -> list[str]:
    """Return a paragraph for each judge and data set: what each method and order does to faithfulness."""
    families = found.get("against_plain") or []
    return [
        f"{'' if judge.dataset is None else f'Data set {judge.dataset}. '}Judge {judge.judge}. {_told(family)}"
        for judge, own in by_judge(families)
        for family in own
    ]


def _told(family: AgainstFamily) -> str:
    found = Counter(row["finding"] for row in family["rows"])
    n = len(family["rows"])
    lead = f"Methods and orders against the plain one, {n} {'pair' if n == 1 else 'pairs'}: "
    counted = "; ".join(f"{times} {finding}" for finding, times in found.most_common())
    named = [
        f"{finding} than it: {'; '.join(_names(family, finding))}" for finding in ("better", "worse") if found[finding]
    ]
    alike = _names(family, NOT_DISTINGUISHABLE)
    told = [*named, *([f"{NOT_DISTINGUISHABLE} from it: {'; '.join(alike)}"] if alike and named else [])]
    return f"{lead}{counted}. {' '.join(f'{part[0].upper()}{part[1:]}.' for part in told)}".rstrip()


def _names(family: AgainstFamily, finding: str) -> list[str]:
    return [f"{row['summarizer']}, {row['setting']}" for row in family["rows"] if row["finding"] == finding]


def against_tables(results: Results, found: Faithfulness) -> Iterator[Table]:
    """Yield a table for each judge and data set."""
    columns = [Column(name, numeric=False) for name in ("summarizer", "setting", "plain")]
    columns += [Column(name) for name in ("score", "plain's score", "difference", "p", "queries")]
    columns += [Column("finding", numeric=False)]
    for judge, families in by_judge(found.get("against_plain") or []):
        for family in families:
            caption = (
                f"{judge_line(results, judge)}. Faithfulness of each method and order less that of the plain method "
                "with the documents as given, in points, over the queries that both have. p: two-sided, by "
                f"{family['n_sign_changes']:,} changes of sign of the queries' differences, adjusted for the rows of "
                f"this table (Holm). Brackets: an interval at the level at which Holm's procedure tests the row; it "
                f"excludes 0 exactly if p is at most {ALPHA:.2f}."
            )
            yield Table(caption, columns, [_cells(row) for row in family["rows"]])


def _cells(row: AgainstRow) -> list[Cell]:
    difference = number(
        row["difference"], sign=True, interval=(row["low"], row["high"]), reason="no query has a score in both"
    )
    if row["difference"] is not None and row["low"] is None:
        difference = difference._replace(detail=_UNBOUNDED)
    return [
        words(row["summarizer"]),
        words(row["setting"]),
        words(row["plain"]),
        number(row["score"], reason=NO_SCORE),
        number(row["plain_score"], reason=NO_SCORE),
        difference,
        number(row["p_holm"], digits=4, reason="no query has a score in both"),
        count(row["n_queries"]),
        words(row["finding"]),
    ]
