"""
The systems of one judge, data set and measure, each pair of them tested: what studies of differences are tables of.

All pairs are one family (`longform.results.pairs`), whichever of them a table shows: the same pair has the same numbers
everywhere. A twin is no member: it is held against its original (the study `repair`). Systems whose summaries are the
same are one member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.keys import content_key
from longform.metrics.measure import Described
from longform.metrics.statistics import Array
from longform.results.aggregate import cluster_kind, clusters_in, sums_of, systems_of
from longform.results.evidence import Evidence, Family, families
from longform.results.pairs import Best, Pairs, all_pairs, best_of, groups_apart, signs_seed
from longform.settings.systems import SystemName, named_system


class Member(NamedTuple):
    """
    A system of a family, with those whose summaries are the same.

    Attributes:
        names: Its name, then theirs.
        sums: Totals and counts of every cluster, shape (clusters, 2).
        ordered: Whether its documents were ordered on purpose.
        elsewhere: Whether it was written elsewhere, in a run that writes, too.
    """

    names: list[SystemName | str]
    sums: Array
    ordered: bool = False
    elsewhere: bool = False

    @property
    def words(self) -> str:
        return str(self.names[0])

    @property
    def same(self) -> list[str]:
        return [str(name) for name in self.names[1:]]

    @property
    def mean(self) -> float | None:
        """Return the mean on the scale of the totals: a share if the measure is in points."""
        total, n = self.sums.sum(axis=0)
        return float(total / n) if n else None

    @property
    def columns(self) -> dict[str, Any]:
        """Return what names it in a row: a writer has a summarizer and a setting, a ranker has not."""
        name = self.names[0]
        if isinstance(name, str):
            return {"system": name}
        marked = {"elsewhere": True} if self.elsewhere else {}
        return {"system": str(name), "summarizer": name.summarizer, "setting": name.setting, **marked}


@dataclass(frozen=True)
class PairedFamily:
    """
    A family, of which pairs and the best tell systems by their places in *known*.

    Attributes:
        measure: The measure of all its tests.
        members: In the configuration's order.
        sample: The queries of summaries that have a score: what is taken as independent, and counts.
        seed: The seed of the run.
        judge: None: the measure needs none.
        dataset: None: it is not stated.
        compare_with: Names the reference; None: it is the best system.
    """

    measure: Described
    members: Sequence[Member]
    sample: Mapping[str, Any]
    seed: int
    judge: str | None = None
    dataset: str | None = None
    compare_with: str | None = None

    @property
    def key(self) -> dict[str, Any]:
        """Return the columns that tell families apart."""
        return {"judge": self.judge, "dataset": self.dataset, "measure": self.measure.name}

    @cached_property
    def known(self) -> list[Member]:
        """The systems that have a score."""
        return [member for member in self.members if member.mean is not None]

    @cached_property
    def _named(self) -> int | None:
        """The place of the system that is named; None: it has no score."""
        names = [name for member in self.members for name in member.names if isinstance(name, SystemName)]
        found = named_system(self.compare_with or "", names) if len(names) > 1 else None
        return next((place for place, one in enumerate(self.known) if found in one.names), None)

    @cached_property
    def pairs(self) -> Pairs | None:
        """The tests; None if there is no pair, or too many to be tested without a reference."""
        if not self.known:
            return None
        leader = self._named if self.compare_with else self._best_among(None).leader
        return all_pairs([member.sums for member in self.known], seed=signs_seed(self.seed), reference=leader)

    @cached_property
    def best(self) -> Best | None:
        """The best system; None if none has a score."""
        return self._best_among(self.pairs) if self.known else None

    def _best_among(self, pairs: Pairs | None) -> Best:
        """Systems whose documents were ordered on purpose, arms of an experiment, take part if there are no others."""
        among = [place for place, member in enumerate(self.known) if not member.ordered]
        scores = [member.mean or 0.0 for member in self.known]
        return best_of(pairs, scores, among or [*range(len(scores))], self.measure.better or "higher")

    @property
    def reference(self) -> int | None:
        """Return the place of the system that others are compared with; None: none has a score, or the named not."""
        if self.compare_with or self.best is None:
            return self._named if self.compare_with else None
        only = None if self.pairs is None else self.pairs.reference
        return self.best.leader if only is None else only

    @property
    def all_pairs(self) -> Pairs | None:
        """Return the tests of all pairs; None: only those with a reference were made, or none."""
        return self.pairs if self.pairs is not None and self.pairs.reference is None else None

    @property
    def groups(self) -> list[list[Member]] | None:
        """Return the groups that cannot be told apart, best first; None: too many, or not every pair was tested."""
        if self.all_pairs is None:
            return [self.known] if len(self.known) == 1 else None
        sign = 1.0 if self.measure.better == "lower" else -1.0
        order = sorted(range(len(self.known)), key=lambda place: sign * (self.known[place].mean or 0.0))
        found = groups_apart(self.all_pairs.apart[np.ix_(order, order)])
        return None if found is None else [[self.known[order[number]] for number in group] for group in found]


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
        """Systems without sums, those that wrote the same for every query together."""
        contents = self.own.evidence.contents.with_columns(pl.col("summary_id").cast(self.facts.schema["summary_id"]))
        wrote = self.facts.join(contents, on="summary_id", how="left", maintain_order="left")
        found: dict[str, Member] = {}
        for name, own in systems_of(wrote).items():
            content = pl.coalesce("content", pl.col("summary_id").cast(pl.String))
            texts = own.select(pl.col("query_id").cast(pl.String), content)
            order, elsewhere = own.select("order", "elsewhere").row(0)
            alone = Member([], np.zeros((0, 2)), order not in (None, "given"), bool(elsewhere))
            found.setdefault(content_key(texts.sort(pl.all()).rows()), alone).names.append(name)
        return list(found.values())

    def by(self, measure: Described, *, compare_with: str | None = None) -> PairedFamily:
        """Return the family of a measure."""
        aggregate, seed, _ = self.own.evidence.averaging
        scores = means(self.own.scores.filter(pl.col("measure") == measure.name))
        rows = with_facts(scores, self.facts)
        clusters = clusters_in(rows)
        sums: dict[SystemName | str, Array] = {
            name: sums_of(own, clusters, aggregate) for name, own in systems_of(rows).items()
        }
        nothing = np.zeros((len(clusters), 2))
        members = [one._replace(sums=sums.get(one.names[0], nothing)) for one in self.members]
        having = with_facts(scores.filter(pl.col("n") > 0), self.own.facts)
        sample = sample_of(having, cluster_kind(self.own.facts), len(clusters))
        return PairedFamily(measure, members, sample, seed, self.own.judge, self.own.dataset, compare_with)


def sample_of(having: pl.DataFrame, cluster: str, n_clusters: int) -> dict[str, Any]:
    """Return the queries of all summaries *having* a value: what is taken as independent, and counts."""
    counts = {f"n_{what}": having[name].n_unique() for what, name in _COUNTED.items()}
    return {"cluster": cluster, "n_clusters": n_clusters, **counts}


_COUNTED = {"queries": "query_id", "haystacks": "haystack_id"}
