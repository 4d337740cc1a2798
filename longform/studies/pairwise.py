"""
Every pair of systems, or of rankers, by every measure: for a reader who picks two, and for a plan of the next run.

The tests are those of `longform.studies.comparisons`: the same pair has the same numbers in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isnan
from string import ascii_lowercase
from typing import Any

from longform.metrics.paired_differences import ALPHA, ENUMERATED, n_sign_changes, smallest_p
from longform.results.evidence import Evidence
from longform.results.pairs import MOST_SYSTEMS, WANTED, Best
from longform.studies.tested import Member, PairedFamily, each_tested
from longform.tables.table import DATASET, JUDGE, Column, Table

Row = Mapping[str, Any]
Parts = tuple[list[Row], list[Row], list[Row], list[Row]]
"""Rows of pairs, of their systems, of their families, and of plans."""
NAME = "pairwise"
BEST, PERHAPS, BEATEN = "best", "perhaps best", "no"
_DIGITS = 6  # of numbers of pairs, unless a verdict hangs on more
_KEY = ("judge", "dataset", "measure")
OTHER_UNIT = "measures that are not in points"
_TOO_MANY = "more than anyone has"
_OF = [DATASET, JUDGE, Column("measure")]
_WANTED = {"interval": "an interval of ±{:g}", "difference": "a lead of {:g}", "family": ""}
PLAN = [
    Column("n", "count", "independent", "queries or haystacks"),
    Column("spread", "points", told="standard deviation of the difference of two systems between these, the median of "
           "all pairs"),
    Column("power", "share", shown=False),
    Column("level", "p", shown=False),
    Column("critical", "number", told="the size over its error of a difference that the tests tell", shown=False),
    Column("detectable", "points", "one test", group="smallest difference shown"),
    Column("detectable_in_family", "points", "all pairs", group="smallest difference shown"),
    *(
        Column(f"{name}_{size:g}", "count", told.format(size), unknown=_TOO_MANY, group="wanted for", shown=bool(told))
        for size in WANTED
        for name, told in _WANTED.items()
    ),
]  # fmt: skip
"""The size of differences that a family can show, and what shows wanted ones (`longform.results.pairs.Pairs.plan`)."""

_PAIRS = [
    *_OF,
    Column("one", title="system"),
    Column("other"),
    Column("difference", "number", told="the first less the second, in the unit of the measure"),
    Column("p", "p", told="adjusted for all pairs of the family"),
    Column("p_alone", "p", told="not adjusted"),
]
_SYSTEMS = [
    *_OF,
    Column("system"),
    Column("summarizer"),
    Column("setting"),
    Column("same"),
    Column("score", "number", told="in the unit of the measure"),
    Column("standing", told="best: better than each other system; perhaps best: no other is better; no: some other is"),
    Column("letters", told="systems that share one cannot be told apart"),
    Column("ordered", "count", told="1: its documents were ordered on purpose"),
    Column("first_place", "count", told="of the places that the tests leave open"),
    Column("last_place", "count"),
]
_FAMILIES = [
    *_OF,
    Column("title"),
    Column("unit"),
    Column("better"),
    Column("cluster", told="what is taken as independent"),
    *(Column(name, "count") for name in ("n_clusters", "n_queries", "n_haystacks")),
    Column("n_sign_changes", "count"),
    Column("exact", "count", told="1: every change of sign was made; 0: some were drawn"),
    Column("smallest_p", "p", told="that is possible"),
    Column("level", "p"),
    Column("n_tests", "count"),
    Column("left_out", told="why no pair was tested"),
    Column("leader", told="the best score of those than which no other is shown to be better"),
    Column("leader_p", "p", told="the largest of its pairs"),
]
_PLANNED = [*_OF, Column("unit", shown=False), Column("cluster", title="of"), *PLAN, Column("aside", shown=False)]
_PLANNED_TOLD = (
    "What this run can show, in points. A smaller true difference is not detected with 80 % power at 5 %, by a single "
    "test chosen beforehand and among all pairs. An interval has that half width; a lead is shown by a single test."
)


class Pairwise:
    """All pairs of systems by each measure, what may be said of each system, and what the run can show at all."""

    name = NAME
    needs = ("scores", "summaries")

    def result(self, evidence: Evidence) -> list[Table]:
        """Return the tables of every judge, data set and measure; one system alone has no pair and no place."""
        families = (one for one in each_tested(evidence, evidence.measures) if len(one.known) > 1)
        return tables(NAME, "comparisons", parts(families))


def parts(families: Iterable[PairedFamily]) -> Parts:
    """Return the rows of families of two systems or more; one family is in memory at a time."""
    found: Parts = ([], [], [], [])
    for one in families:
        for rows, own in zip(found, (_pairs(one), _systems(one), _family(one), _plan(one)), strict=True):
            rows.extend(own)
    return found


def tables(name: str, section: str, rows: Parts) -> list[Table]:
    """
    Return the pairs, their systems and families, which a page offers to a reader's choice, and plans as a table.

    Args:
        name: Of the table of pairs, with which those of the others begin.
        section: The table below whose head a page offers them.
        rows: The rows.
    """

    def table(end: str, columns: Sequence[Column], found: Sequence[Row], *key: str) -> Table:
        return Table(f"{name}{end}", columns, (), key=[*_KEY, *key], section=section, shown=False).having(found)

    pairs, systems, families, plans = rows
    places = _places(pairs, systems, families)
    placed = [{**row, **places.get((*_family_of(row), row["system"]), {})} for row in systems]
    planned = table("_plans", _PLANNED, plans)
    return [
        table("", _PAIRS, pairs, "one", "other")._replace(title="All pairs"),
        table("_systems", _SYSTEMS, placed, "system"),
        table("_families", _FAMILIES, families),
        planned._replace(
            told=_PLANNED_TOLD,
            apart=["judge", "dataset"],
            page="comparisons",
            aside="aside",
            shown=name == NAME,
        ),
    ]


# ---------------------------------------------------------------- pairs


def _pairs(own: PairedFamily) -> Iterator[Row]:
    if own.all_pairs is None:
        return
    tests, names = own.all_pairs.tests, [member.words for member in own.known]
    columns = (one.tolist() for one in (tests.value, tests.half, tests.p, tests.p_alone, tests.n))
    for (one, other), value, half, p, p_alone, n in zip(combinations(names, 2), *columns, strict=True):
        known, low, high = _rounded(own.measure.factor * value, own.measure.factor * half)
        yield {
            **own.key,
            "one": one,
            "other": other,
            "difference": {"value": known, "low": low, "high": high, "n": n},
            "p": None if known is None else round(p, _DIGITS),
            "p_alone": None if known is None else round(p_alone, _DIGITS),
        }


def _rounded(value: float, half: float) -> tuple[float | None, float | None, float | None]:
    """Return a difference and its bounds in few digits, unless the interval would then say something else of 0."""
    if isnan(value):
        return None, None, None
    short = round(value, _DIGITS)
    if isnan(half):
        return short, None, None
    few = round(half, _DIGITS)
    known, width = (short, few) if (abs(short) > few) == (abs(value) > half) else (value, half)
    return known, known - width, known + width


# ---------------------------------------------------------------- systems


def _best(own: PairedFamily) -> Best | None:
    """Return the best of a family; None: nothing could be shown, or no value is better."""
    few = smallest_p(own.sample["n_clusters"]) > ALPHA
    return None if own.all_pairs is None or few or own.measure.better is None else own.best


def _systems(own: PairedFamily) -> Iterator[Row]:
    best, letters = _best(own), _letters(own)
    for place, member in enumerate(own.known):
        yield {
            **own.key,
            **{name: value for name, value in member.columns.items() if name != "elsewhere"},
            "same": member.same,
            "score": own.measure.factor * (member.mean or 0.0),
            "standing": _standing(best, place),
            "letters": None if letters is None else letters[member.words],
            "ordered": member.ordered,
        }


def _standing(best: Best | None, place: int) -> str | None:
    if best is None or place not in best.among:
        return None
    if best.named and place == best.leader:
        return BEST
    return PERHAPS if place in best.left else BEATEN


def _letters(own: PairedFamily) -> dict[str, str] | None:
    """Return the compact letters of each system, one for each of its groups; None: too many, or too few clusters."""
    groups: Sequence[Sequence[Member]] | None = own.groups
    if groups is None or len(groups) > len(ascii_lowercase) or smallest_p(own.sample["n_clusters"]) > ALPHA:
        return None
    found: dict[str, str] = {}
    for letter, group in zip(ascii_lowercase, groups, strict=False):
        for member in group:
            found[member.words] = found.get(member.words, "") + letter
    return found


def _places(
    pairs: Sequence[Row], systems: Sequence[Row], families: Sequence[Row]
) -> dict[tuple[Any, ...], dict[str, int]]:
    """Return the places of systems: behind those that are shown to be better, before those shown to be worse."""
    told = {
        _family_of(one): one["better"]
        for one in families
        if one["better"] and not one["left_out"] and one["smallest_p"] <= one["level"]
    }
    sizes = {
        (*_family_of(row), row["system"]): 1 + len(row["same"])
        for row in systems
        if _family_of(row) in told and not row["ordered"]
    }
    better, worse = dict.fromkeys(sizes, 0), dict.fromkeys(sizes, 0)
    n: dict[tuple[Any, ...], int] = {}
    for name, size in sizes.items():
        n[name[:-1]] = n.get(name[:-1], 0) + size
    for row in pairs:
        key, value = _family_of(row), row["difference"]["value"]
        if key in told and value is not None and row["p"] <= ALPHA:
            ends = (*key, row["one"]), (*key, row["other"])
            ahead, behind = ends if (value > 0) == (told[key] == "higher") else ends[::-1]
            if ahead in sizes and behind in sizes:
                better[behind] += sizes[ahead]
                worse[ahead] += sizes[behind]
    return {name: {"first_place": better[name] + 1, "last_place": n[name[:-1]] - worse[name]} for name in sizes}


def _family_of(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)


# ---------------------------------------------------------------- families


def _family(own: PairedFamily) -> Iterator[Row]:
    n, best = own.sample["n_clusters"], _best(own)
    tests = own.all_pairs
    many = f"{len(own.known)} systems are more than the {MOST_SYSTEMS} of which every pair is tested"
    yield {
        **own.key,
        "title": own.measure.title or own.measure.name,
        "unit": own.measure.unit,
        "better": own.measure.better,
        **own.sample,
        "n_sign_changes": n_sign_changes(n),
        "exact": n <= ENUMERATED,
        "smallest_p": smallest_p(n),
        "level": ALPHA,
        "n_tests": 0 if tests is None else len(tests.tests.value),
        "left_out": many if tests is None else None,
        "leader": None if best is None or best.p is None else own.known[best.leader].words,
        "leader_p": None if best is None or best.p is None else round(best.p, _DIGITS),
    }


def _plan(own: PairedFamily) -> Iterator[Row]:
    if own.all_pairs is not None and (found := own.all_pairs.plan(own.measure.factor)):
        aside = None if own.measure.unit == "points" else OTHER_UNIT
        yield {**own.key, "unit": own.measure.unit, "cluster": own.sample["cluster"], "aside": aside, **found}
