"""
The systems of one judge, data set and measure, each pair of them tested: what studies of differences are tables of.

All pairs are one family, whichever of them a table shows: the same pair has the same interval, p-value and finding
everywhere, and which system is the best follows from the same findings. A twin is no member: it is held against its
original (the study `repair`). Systems whose summaries are the same are one member. Among more than MOST_SYSTEMS only
pairs with one reference are tested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import inf
from typing import Any, NamedTuple

import numpy as np

from longform.evidence.scan import pl
from longform.metrics.measure import Described
from longform.metrics.paired_differences import ALPHA, smallest_p
from longform.metrics.power import POWER, Sized, clusters_for_interval
from longform.metrics.statistics import Array
from longform.results.differences import differences
from longform.settings.systems import SystemName, named_system

MOST_SYSTEMS = 100
"""4,950 pairs: a second of tests for each measure, and a tenth of a megabyte of results."""
MOST_GROUPS = 200
"""More groups than a reader would follow, and their number may grow with 3 to the third of the systems."""
WANTED = (2.0, 5.0)
"""Differences in points that a plan is told for: near the lead of a good system over the next, and a plain one."""
_TIED = 1e-11  # of a share


class Member(NamedTuple):
    """A system of a family, with those whose summaries are the same."""

    names: list[SystemName | str]  # its name, then theirs
    ordered: bool = False  # its documents were ordered on purpose
    elsewhere: bool = False  # it was written elsewhere, in a run that writes, too

    @property
    def words(self) -> str:
        return str(self.names[0])

    @property
    def same(self) -> list[str]:
        return [str(name) for name in self.names[1:]]

    @property
    def columns(self) -> dict[str, Any]:
        """Return what names it in a row: a writer has a summarizer and a setting, a ranker has not."""
        name = self.names[0]
        if isinstance(name, str):
            return {"system": name}
        marked = {"elsewhere": True} if self.elsewhere else {}
        return {"system": str(name), "summarizer": name.summarizer, "setting": name.setting, **marked}


class Best(NamedTuple):
    """The best of the systems *among* all, as far as a family's pairs show it; systems by their places."""

    among: Sequence[int]
    leader: int  # the best score of `left`; if each system is beaten by some other, of all
    tied: list[int]  # others of `left` with the leader's score
    left: list[int]  # systems than which no other is shown to be better, ascending
    named: bool  # the leader is shown to be better than each other system


@dataclass(frozen=True)
class PairedFamily:
    """A family, of which pairs and the best tell systems by their places in *known*."""

    measure: Described
    members: Sequence[Member]  # in the configuration's order
    # the part of each query in the mean of a system in words, by `longform.results.differences.values_of`
    values: pl.DataFrame
    sample: Mapping[str, Any]  # counts of the queries, clusters and haystacks of summaries that have a score
    seed: int
    judge: str | None = None  # None: the measure needs none
    dataset: str | None = None  # None: it is not stated
    compare_with: str | None = None  # names the reference; None: it is the best system
    most: int = MOST_SYSTEMS  # the most systems of which all pairs are tested

    @property
    def key(self) -> dict[str, Any]:
        """Return the columns that tell families apart."""
        return {"judge": self.judge, "dataset": self.dataset, "measure": self.measure.name}

    @property
    def few(self) -> bool:
        """Return whether there are too few clusters for any difference to be shown."""
        return smallest_p(self.sample["n_clusters"]) > ALPHA

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean of each system that has a score, by its words: a share if the measure is in points."""
        sums = self.values.group_by("system").agg(mean=pl.col("total").sum() / pl.col("n").sum())
        return dict(sums.iter_rows())

    @cached_property
    def known(self) -> list[Member]:
        """The systems that have a score."""
        return [member for member in self.members if member.words in self.means]

    @cached_property
    def scores(self) -> list[float]:
        """The means of `known`."""
        return [self.means[member.words] for member in self.known]

    @cached_property
    def _named(self) -> int | None:
        """The place of the system that is named; None: it has no score."""
        names = [name for member in self.members for name in member.names if isinstance(name, SystemName)]
        found = named_system(self.compare_with or "", names) if len(names) > 1 else None
        return next((place for place, one in enumerate(self.known) if found in one.names), None)

    @cached_property
    def _only(self) -> int | None:
        """The one system with which all others are paired, if there are too many; None: every pair is tested."""
        if len(self.known) <= self.most:
            return None
        return self._named if self.compare_with else self._best_of(np.zeros((len(self.known),) * 2)).leader

    @property
    def has_all_pairs(self) -> bool:
        """Return whether there are pairs, and each is tested."""
        return 1 < len(self.known) <= self.most

    @cached_property
    def tests(self) -> pl.DataFrame:
        """A row for each pair that is tested, as `longform.results.differences.differences` has it."""
        names, only = [member.words for member in self.known], self._only
        with_it = [(name, names[only]) for name in names if name != names[only]] if only is not None else []
        pairs = combinations(names, 2) if len(names) <= self.most else with_it
        asked = pl.DataFrame([*pairs], schema=dict.fromkeys(_ENDS, pl.String), orient="row")
        return differences(self.values, asked, seed=self.seed)

    def against(self, reference: int) -> dict[int, dict[str, Any]]:
        """Return the test of each system with the *reference*, by the system's place, as the system less it."""
        places = {member.words: place for place, member in enumerate(self.known)}
        name, found = self.known[reference].words, {}
        for row in self.tests.filter(pl.any_horizontal(pl.col(_ENDS) == name)).iter_rows(named=True):
            turned, value = row["first_system"] == name, row["value"]
            other = places[row["second_system" if turned else "first_system"]]
            found[other] = {**row, "value": -value if turned and value is not None else value}
        return found

    @cached_property
    def apart(self) -> Array:
        """The first less the second of systems that are told apart, 0 for others; shape (systems, systems)."""
        places = {member.words: place for place, member in enumerate(self.known)}
        found = np.zeros((len(places),) * 2)
        for first, second, value, half in self.tests.select(*_ENDS, "value", "half").iter_rows():
            if value is not None and half is not None and abs(value) > half:
                found[places[first], places[second]], found[places[second], places[first]] = value, -value
        return found

    @cached_property
    def best(self) -> Best | None:
        """The best system; None if none has a score."""
        return self._best_of(self.apart) if self.known else None

    def _best_of(self, apart: Array) -> Best:
        """Systems whose documents were ordered on purpose, arms of an experiment, take part if there are no others."""
        among = [place for place, member in enumerate(self.known) if not member.ordered] or [*range(len(self.known))]
        sign = -1.0 if self.measure.better == "lower" else 1.0
        shown = sign * apart > 0
        left = [place for place in among if not shown[among, place].any()]
        top = max(sign * self.scores[place] for place in left or among)
        first, *tied = [place for place in left or among if sign * self.scores[place] > top - _TIED]
        others = [place for place in among if place != first]
        return Best(among, first, tied, left, named=bool(others) and bool(shown[first, others].all()))

    @property
    def reference(self) -> int | None:
        """Return the place of the system that others are compared with; None: none has a score, or the named not."""
        if self.compare_with or self.best is None:
            return self._named if self.compare_with else None
        return self.best.leader if self._only is None else self._only

    @property
    def groups(self) -> list[list[Member]] | None:
        """Return the groups that cannot be told apart, best first; None: too many, or not every pair was tested."""
        if len(self.known) > self.most:
            return None
        sign = 1.0 if self.measure.better == "lower" else -1.0
        order = sorted(range(len(self.known)), key=lambda place: sign * self.scores[place])
        alike = [
            {*np.flatnonzero(row == 0).tolist()} - {place} for place, row in enumerate(self.apart[np.ix_(order, order)])
        ]
        sets = list(islice(largest_sets(alike), MOST_GROUPS + 1))
        named = [[self.known[order[number]] for number in group] for group in sorted(map(sorted, sets))]
        return None if len(sets) > MOST_GROUPS else named

    def plan(self, factor: float) -> dict[str, Any]:
        """
        Return the size of differences that the family's tests can show, in the measure's unit; *factor* makes it.

        Beside these stand the clusters for differences of WANTED sizes, None for more than anyone has: for an interval
        of a single difference, and for a difference told from chance by a single test and by those of the family.
        Empty: no pair has a spread.
        """
        most = pl.col("n_clusters") == pl.col("n_clusters").max()
        known = self.tests.filter(most, pl.col("n_clusters") > 1, pl.col("error") > 0)
        if known.is_empty():
            return {}
        clusters, critical = known.item(0, "n_clusters"), known.item(0, "critical")
        spread = factor * float(np.median(known["error"])) * clusters**0.5
        size = Sized(spread, clusters, critical)
        found = {"n": clusters, "spread": spread, "power": POWER, "level": ALPHA}
        found |= {"critical": None if critical == inf else critical, **size.shown()}
        for wanted in WANTED if factor != 1.0 else ():
            found[f"interval_{wanted:g}"] = clusters_for_interval(wanted, spread=spread)
            found[f"difference_{wanted:g}"], found[f"family_{wanted:g}"] = size.needed(wanted)
        return found


_ENDS = ["first_system", "second_system"]


def largest_sets(alike: Sequence[Collection[int]]) -> Iterator[frozenset[int]]:
    """
    Yield each largest set of places that are all alike (Bron and Kerbosch, 1973, with a pivot).

    *alike* holds for each place the other places that are like it, and is symmetric.
    """

    def extended(chosen: frozenset[int], open_: set[int], done: set[int]) -> Iterator[frozenset[int]]:
        if not open_ and not done:
            yield chosen
            return
        pivot = max(sorted(open_ | done), key=lambda place: len(open_.intersection(alike[place])))
        for place in sorted(open_.difference(alike[pivot])):
            near = alike[place]
            yield from extended(chosen | {place}, open_.intersection(near), done.intersection(near))
            open_ = open_ - {place}
            done = done | {place}

    if alike:
        yield from extended(frozenset(), set(range(len(alike))), set())
