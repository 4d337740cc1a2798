"""
Systems against one reference system: how far from it each stands, and what can be said of the difference.

All pairs of the systems of one judge, data set and measure are a family (`longform.results.pairs`); the comparisons
with the reference are some of its tests, and so are those that say which systems cannot be told apart. Compared are
joint scores; in a run that has none, all measures in points that it lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.metrics.measure import Described
from longform.metrics.paired_differences import ALPHA, n_sign_changes, smallest_p
from longform.results.differences import MEASURE, finding_words, interval
from longform.results.evidence import Evidence
from longform.results.pairs import PairedFamily
from longform.studies.pairwise import PLAN, each_tested
from longform.tables.table import DATASET, JUDGE, SYSTEM, Axes, Column, Table

Row = Mapping[str, Any]
NAME = "comparisons"
FAMILIES, GROUPS = f"{NAME}_families", f"{NAME}_groups"
_POINTS = 100.0
_FEW = "fewer than three systems, or too few queries or haystacks to tell any apart"
PLANNED = "plan_{}"  # a column of what the family plans for
_KEY = ("judge", "dataset", "measure")
_MARKS = SYSTEM[4:]
_TOGETHER = f"hold all differences of a family together in {100 * (1 - ALPHA):.0f} of 100 cases"
_P = (
    "two-sided, by changes of sign of the differences of queries, or of haystacks if there are enough of them, "
    f"against the largest of the family (max-T of Westfall and Young); at most {ALPHA:.2f} if the interval excludes 0"
)
SAME = Column("same", title="the same summaries", shown=False)
_ROWS = [
    DATASET,
    JUDGE,
    Column("measure"),
    Column("reference", title="compared with"),
    *SYSTEM[:2],
    *_MARKS,
    Column("system", shown=False),
    SAME,
    Column("score", "points"),
    Column(
        "difference",
        "difference",
        told="the system's score less that of the reference, over the queries or haystacks that both have",
        unknown="no query in common",
        brackets=f"intervals that {_TOGETHER}",
    ),
    Column("p", "p", told=_P, unknown="no query in common"),
    Column("p_alone", "p", told="not adjusted for the family", shown=False),
    Column("finding", beside="same"),
]
_FAMILIES = [
    DATASET,
    JUDGE,
    Column("measure"),
    *SYSTEM[:2],
    *_MARKS,
    Column("reference", shown=False),
    Column("reference_score", "points", "score", unknown="it has no score"),
    Column("chosen", title="chosen as", told="best: of the best score on these same data, which flatters it, as part "
           "of its lead is luck; named: beforehand, by the configuration (compare_with)", beside="tied,reference_same"),
    Column("tied", title="the same score", shown=False),
    Column("reference_same", title="the same summaries", shown=False),
    Column("n_systems", "count", "systems", "those of the same summaries count once", beside="without_score"),
    Column("without_score", title="without a score", shown=False),
    Column("n_ordered", "count", told="systems whose documents were ordered on purpose", shown=False),
    Column("cluster", title="of", told="what is taken as independent"),
    Column("n_clusters", "count", "independent", "queries or haystacks"),
    Column("n_tests", "count", "tests", "differences of the family, which are adjusted together"),
    Column("n_sign_changes", "count", "sign changes", "all that there are, or so many drawn ones"),
    *(column._replace(name=PLANNED.format(column.name), shown=False) for column in PLAN),
    Column("left_out", told="why nothing was compared", shown=False),
]  # fmt: skip
_GROUPS = [
    DATASET,
    JUDGE,
    Column("measure"),
    Column("group", "count"),
    Column("systems", told="a system may stand in several groups", beside="same"),
    SAME,
    Column("aside", shown=False),
]


class Comparisons:
    """Each system against one reference, which of them cannot be told apart, and what was compared how."""

    name = NAME
    needs = ("scores", "summaries")
    measures = (MEASURE,)

    def result(self, evidence: Evidence) -> list[Table]:
        """Return the tables of every judge and data set."""
        found = each_tested(evidence, _compared(evidence), compare_with=evidence.compare_with)
        how = "best" if evidence.compare_with is None else "named"
        families = [one for one in found if sum(len(member.names) for member in one.members) > 1]
        return tables(
            [row for one in families for row in rows(one)],
            [family(one, how, evidence.compare_with) for one in families],
            [row for one in families for row in groups(one)],
        )


def _compared(evidence: Evidence) -> Sequence[Described]:
    table = evidence.score_table
    if any(MEASURE in table.measures(judge) for judge in table.judges):
        return [Described(MEASURE)]
    return [one for one in evidence.measures if one.unit == "points" and one.better is not None]


def tables(found: Sequence[Row], families: Sequence[Row], alike: Sequence[Row]) -> list[Table]:
    """Return the comparisons, below them the groups of systems that cannot be told apart, and how both were tested."""
    compared = Table(
        NAME,
        _ROWS,
        (),
        title="Comparisons with one system",
        key=[*_KEY, "system"],
        plot=Axes("forest", "difference", "system"),
        apart=["judge", "dataset", "measure", "reference"],
        page=NAME,
    ).having(found)
    grouped = Table(
        GROUPS,
        _GROUPS,
        (),
        told="Groups of systems that cannot be told apart, all pairs tested together, the best first.",
        key=[*_KEY, "group"],
        section=NAME,
        page=NAME,
        aside="aside",
    ).having(alike)
    how = Table(
        FAMILIES,
        _FAMILIES,
        (),
        told="The system that others are compared with, and the family of tests.",
        key=_KEY,
        section=NAME,
        page=NAME,
    ).having(families)
    return [compared, grouped, how]


def rows(own: PairedFamily) -> list[Row]:
    """Return a row for each system but the reference, the best score first."""
    if own.reference is None:
        return []
    reference, sign = own.known[own.reference].words, 1.0 if own.measure.better == "lower" else -1.0
    tests = own.against(own.reference)
    found = [
        {
            **own.key,
            "reference": reference,
            **own.known[place].columns,
            "same": own.known[place].same,
            "score": _POINTS * own.scores[place],
            "difference": interval(test, test["n_clusters"], _POINTS).as_json(),
            "p": test["p"],
            "p_alone": test["p_alone"],
            "finding": finding_words(test, own.measure.better),
        }
        for place, test in sorted(tests.items())
    ]
    return sorted(found, key=lambda row: sign * row["score"])


def family(own: PairedFamily, chosen: str, compare_with: str | None) -> Row:
    """Return what was compared how."""
    reference = None if own.reference is None else own.known[own.reference]
    tied = [] if chosen == "named" or own.best is None else [own.known[place] for place in own.best.tied]
    return {
        **own.key,
        "chosen": chosen,
        **({} if reference is None else {name: told for name, told in reference.columns.items() if name != "system"}),
        "reference": compare_with if reference is None else reference.words,
        "reference_score": None if own.reference is None else _POINTS * own.scores[own.reference],
        "reference_same": [] if reference is None else reference.same,
        "tied": [member.words for member in tied],
        "n_systems": len(own.members),
        "n_ordered": sum(member.ordered for member in own.members),
        "without_score": [member.words for member in own.members if member not in own.known],
        "cluster": own.sample["cluster"],
        "n_clusters": own.sample["n_clusters"],
        "n_sign_changes": n_sign_changes(own.sample["n_clusters"]),
        "n_tests": len(own.tests),
        **as_planned(own.plan(_POINTS)),
    }


def as_planned(plan: Row) -> Row:
    """Return the columns of what the spread of a family plans for."""
    return {PLANNED.format(name): value for name, value in plan.items()}


def aside(n_systems: int, n_clusters: int) -> str | None:
    """Say why the groups of so many systems are not shown; None: they are."""
    return _FEW if n_systems < 3 or smallest_p(n_clusters) > ALPHA else None


def groups(own: PairedFamily) -> Iterator[Row]:
    """Yield the groups of systems that cannot be told apart."""
    why = aside(len(own.known), own.sample["n_clusters"])
    for number, group in enumerate(own.groups or (), start=1):
        yield {
            **own.key,
            "group": number,
            "systems": [member.words for member in group],
            "same": [name for member in group for name in member.same],
            "aside": why,
        }
