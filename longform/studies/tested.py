"""
The systems of one judge, data set and measure, each pair of them tested: what studies of differences are tables of.

All pairs are one family (`longform.results.pairs`), whichever of them a table shows: the same pair has the same numbers
everywhere. A twin is no member: it is held against its original (the study `repair`). Systems whose summaries are the
same are one member.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
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
from longform.settings.system_names import SystemName, named_system


class Member(NamedTuple):
    """
    A system of a family, with those whose summaries are the same.

    Attributes:
        names: Its name, then theirs.
        sums: Totals and counts of every cluster, shape (clusters, 2).
        ordered: Whether its documents were ordered on purpose.
        elsewhere: Whether it was written elsewhere, in a run that writes, too.
    """

    names: Sequence[SystemName | str]
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


class Sample(NamedTuple):
    """The queries behind a family."""

    cluster: str
    n_clusters: int
    n_queries: int
    n_haystacks: int


class PairedFamily(NamedTuple):
    """
    A family, of which pairs and the best tell systems by their places in *known*.

    Attributes:
        judge: None: the measure needs none.
        dataset: None: it is not stated.
        measure: The measure of all its tests.
        members: In the configuration's order.
        known: Those that have a score.
        sample: The queries of summaries that have one.
        pairs: None if there are none, or too many to be tested without a reference.
        reference: None: no system has a score, or the named one has none.
        best: None if no system has a score.
    """

    judge: str | None
    dataset: str | None
    measure: Described
    members: Sequence[Member]
    known: Sequence[Member]
    sample: Sample
    pairs: Pairs | None
    reference: int | None
    best: Best | None

    @property
    def key(self) -> dict[str, Any]:
        """Return the columns that tell families apart."""
        return {"judge": self.judge, "dataset": self.dataset, "measure": self.measure.name}

    @property
    def all_pairs(self) -> Pairs | None:
        """Return the tests of all pairs; None: only those with a reference were made, or none."""
        return self.pairs if self.pairs is not None and self.pairs.reference is None else None

    @property
    def groups(self) -> list[list[Member]] | None:
        """Return the groups that cannot be told apart, best first; None: too many, or not every pair was tested."""
        if self.all_pairs is None:
            return [list(self.known)] if len(self.known) == 1 else None
        sign = 1.0 if self.measure.better == "lower" else -1.0
        order = sorted(range(len(self.known)), key=lambda place: sign * (self.known[place].mean or 0.0))
        rank = {place: number for number, place in enumerate(order)}
        apart = [(rank[one], rank[other]) for one, other in self.all_pairs.apart()]
        found = groups_apart(len(self.known), apart)
        return None if found is None else [[self.known[order[number]] for number in group] for group in found]


def all_tested(
    measure: Described,
    members: Sequence[Member],
    sample: Sample,
    *,
    seed: int,
    judge: str | None = None,
    dataset: str | None = None,
    compare_with: str | None = None,
) -> PairedFamily:
    """
    Test the systems of a family.

    Args:
        measure: The measure.
        members: Its systems.
        sample: The queries of their summaries.
        seed: Of drawn sign changes.
        judge: Its judge.
        dataset: Its data set.
        compare_with: Names the reference; None: the best system.
    """
    known = [member for member in members if member.mean is not None]
    named = None if compare_with is None else _named(compare_with, members, known)
    family = PairedFamily(judge, dataset, measure, members, known, sample, None, None, None)
    if not known:
        return family
    scores = [member.mean or 0.0 for member in known]
    best_among = partial(best_of, scores=scores, among=_contestants(known), better=measure.better or "higher")
    reference = best_among(None).leader if compare_with is None else named
    pairs = all_pairs([member.sums for member in known], seed=signs_seed(seed), reference=reference)
    best = best_among(pairs)
    if compare_with is None and (pairs is None or pairs.reference is None):
        reference = best.leader
    return family._replace(pairs=pairs, reference=reference, best=best)


def _named(wanted: str, members: Sequence[Member], known: Sequence[Member]) -> int | None:
    """Return the place of a system that is named; None: it has no score."""
    names = [name for member in members for name in member.names if isinstance(name, SystemName)]
    found = named_system(wanted, names) if len(names) > 1 else None
    return next((place for place, one in enumerate(known) if found in one.names), None)


def _contestants(known: Sequence[Member]) -> list[int]:
    """
    Return the places of the systems among which the best is sought.

    Systems whose documents were ordered on purpose are arms of an experiment: they take part if there are no others.
    """
    return [place for place, member in enumerate(known) if not member.ordered] or list(range(len(known)))


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
    def alike(self) -> list[list[SystemName]]:
        """Systems by what they wrote for every query."""
        contents = self.own.evidence.contents.with_columns(pl.col("summary_id").cast(self.facts.schema["summary_id"]))
        wrote = self.facts.join(contents, on="summary_id", how="left", maintain_order="left")
        found: dict[str, list[SystemName]] = {}
        for name, own in systems_of(wrote).items():
            content = pl.coalesce("content", pl.col("summary_id").cast(pl.String))
            texts = own.select(pl.col("query_id").cast(pl.String), content)
            found.setdefault(content_key(texts.sort(pl.all()).rows()), []).append(name)
        return list(found.values())

    def by(self, measure: Described, *, compare_with: str | None = None) -> PairedFamily:
        """Return the family of a measure."""
        aggregate, seed, _ = self.own.evidence.averaging
        scores = means(self.own.scores.filter(pl.col("measure") == measure.name))
        rows = with_facts(scores, self.facts)
        clusters = clusters_in(rows)
        of_system = {name: sums_of(own, clusters, aggregate) for name, own in systems_of(rows).items()}
        first = self.facts.group_by("summarizer", "setting", maintain_order=True).first()
        marks = {
            SystemName(summarizer, setting): (order not in (None, "given"), bool(elsewhere))
            for summarizer, setting, order, elsewhere in first.select(
                "summarizer", "setting", "order", "elsewhere"
            ).iter_rows()
        }
        nothing = np.zeros((len(clusters), 2))
        members = [Member(names, of_system.get(names[0], nothing), *marks[names[0]]) for names in self.alike]
        return all_tested(
            measure,
            members,
            self._sample(scores, len(clusters)),
            seed=seed,
            judge=self.own.judge,
            dataset=self.own.dataset,
            compare_with=compare_with,
        )

    def _sample(self, scores: pl.DataFrame, n_clusters: int) -> Sample:
        """Count the queries of all summaries with a value."""
        having = with_facts(scores.filter(pl.col("n") > 0), self.own.facts)
        kind = cluster_kind(self.own.facts)
        return Sample(kind, n_clusters, having["query_id"].n_unique(), having["haystack_id"].n_unique())
