"""
Every pair of systems, or of rankers, by every measure: for a reader who picks two, and for a plan of the next run.

The tests are those of `longform.studies.comparisons`: the same pair has the same numbers in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Any

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.keys import content_key
from longform.metrics.measure import Described
from longform.metrics.paired_differences import ALPHA, ENUMERATED, n_sign_changes, smallest_p
from longform.results.aggregate import cluster_kind, systems_of
from longform.results.differences import signs_seed, values_of
from longform.results.evidence import Evidence, Family, families
from longform.results.pairs import MOST_SYSTEMS, WANTED, Best, Member, PairedFamily
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
"""The size of differences that a family can show, and what shows wanted ones, by `PairedFamily.plan`."""

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

    Their names begin with *name*, that of the table of pairs; a page offers them at the head of the table *section*.
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
    columns = ("first_system", "second_system", "value", "half", "p", "p_alone", "n_clusters")
    tests = own.tests.select(columns).iter_rows() if own.has_all_pairs else ()
    for one, other, value, half, p, p_alone, n in tests:
        known, low, high = _rounded(value, half, own.measure.factor)
        yield {
            **own.key,
            "one": one,
            "other": other,
            "difference": {"value": known, "low": low, "high": high, "n": n},
            "p": None if known is None else round(p, _DIGITS),
            "p_alone": None if known is None else round(p_alone, _DIGITS),
        }


def _rounded(value: float | None, half: float | None, factor: float) -> tuple[float | None, float | None, float | None]:
    """Return a difference and its bounds in few digits, unless the interval would then say something else of 0."""
    if value is None:
        return None, None, None
    known = round(factor * value, _DIGITS)
    if half is None:
        return known, None, None
    width = round(factor * half, _DIGITS)
    if (abs(known) > width) != (abs(value) > half):
        known, width = factor * value, factor * half
    return known, known - width, known + width


# ---------------------------------------------------------------- systems


def _best(own: PairedFamily) -> Best | None:
    """Return the best of a family; None: nothing could be shown, or no value is better."""
    return None if own.few or not own.has_all_pairs or own.measure.better is None else own.best


def _systems(own: PairedFamily) -> Iterator[Row]:
    best, letters = _best(own), _letters(own)
    for place, member in enumerate(own.known):
        yield {
            **own.key,
            **{name: value for name, value in member.columns.items() if name != "elsewhere"},
            "same": member.same,
            "score": own.measure.factor * own.scores[place],
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
    if groups is None or len(groups) > len(ascii_lowercase) or own.few:
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
    p = None if best is None else _largest_p(own, best)
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
        "n_tests": len(own.tests) if own.has_all_pairs else 0,
        "left_out": None if own.has_all_pairs else many,
        "leader": None if best is None or p is None else own.known[best.leader].words,
        "leader_p": None if p is None else round(p, _DIGITS),
    }


def _largest_p(own: PairedFamily, best: Best) -> float | None:
    """Return the largest p of the pairs of the best system; None: it has no other beside it."""
    pairs = [test for place, test in own.against(best.leader).items() if place in best.among]
    return max((1.0 if test["p"] is None else float(test["p"]) for test in pairs), default=None)


def _plan(own: PairedFamily) -> Iterator[Row]:
    if own.has_all_pairs and (found := own.plan(own.measure.factor)):
        aside = None if own.measure.unit == "points" else OTHER_UNIT
        yield {**own.key, "unit": own.measure.unit, "cluster": own.sample["cluster"], "aside": aside, **found}


# ---------------------------------------------------------------- systems of a run


def each_tested(
    evidence: Evidence, measures: Sequence[Described], *, compare_with: str | None = None
) -> Iterator[PairedFamily]:
    """Yield the families of each measure: those of every judge and data set."""
    held: dict[tuple[str | None, str | None], Systems] = {}
    for measure in measures:
        for own in families(evidence, measure.name):
            systems = held.setdefault((own.judge, own.dataset), Systems(own))
            yield systems.by(measure, compare_with=compare_with)


@dataclass(frozen=True)
class Systems:
    """The systems of one judge and data set, without twins and without snapshots that later ones replace."""

    own: Family

    @cached_property
    def facts(self) -> pl.DataFrame:
        return final(self.own.facts.filter(pl.col("twin_of").is_null()))

    @cached_property
    def members(self) -> list[Member]:
        """Systems, those that wrote the same for every query together."""
        contents = self.own.evidence.contents.with_columns(pl.col("summary_id").cast(self.facts.schema["summary_id"]))
        wrote = self.facts.join(contents, on="summary_id", how="left", maintain_order="left")
        found: dict[str, Member] = {}
        for name, own in systems_of(wrote).items():
            content = pl.coalesce("content", pl.col("summary_id").cast(pl.String))
            texts = own.select(pl.col("query_id").cast(pl.String), content)
            order, elsewhere = own.select("order", "elsewhere").row(0)
            alone = Member([], order not in (None, "given"), bool(elsewhere))
            found.setdefault(content_key(texts.sort(pl.all()).rows()), alone).names.append(name)
        return list(found.values())

    def by(self, measure: Described, *, compare_with: str | None = None) -> PairedFamily:
        """Return the family of a measure."""
        how, own = self.own.evidence.averaging, self.own
        scores = means(own.scores.filter(pl.col("measure") == measure.name))
        named = pl.concat_str("summarizer", "setting", separator=", ")
        values = values_of(with_facts(scores, self.facts).with_columns(system=named), how.aggregate)
        having = with_facts(scores.filter(pl.col("n") > 0), own.facts)
        sample = sample_of(having, cluster_kind(own.facts), values["cluster"].n_unique())
        seed = signs_seed(how.seed)
        return PairedFamily(measure, self.members, values, sample, seed, own.judge, own.dataset, compare_with)


def sample_of(having: pl.DataFrame, cluster: str, n_clusters: int) -> dict[str, Any]:
    """Return the queries of all summaries *having* a value: what is taken as independent, and counts."""
    counts = {f"n_{what}": having[name].n_unique() for what, name in _COUNTED.items()}
    return {"cluster": cluster, "n_clusters": n_clusters, **counts}


_COUNTED = {"queries": "query_id", "haystacks": "haystack_id"}
