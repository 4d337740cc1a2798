"""
Every pair of rankers by every measure of rankings, with the tests of `longform.studies.pairwise`.

A measure and cutoff is a family of its own, as a measure of summaries is. The independent units are those of the
summaries: queries, or haystacks if there are enough of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.evidence.scan import pl
from longform.metrics.measure import Described
from longform.metrics.retrieval import AT_BUDGET, MEASURES
from longform.results.aggregate import cluster_kind
from longform.results.differences import NOT_DISTINGUISHABLE, TOO_FEW, datasets_of, of_dataset, signs_seed, values_of
from longform.results.evidence import Evidence
from longform.results.pairs import Member, PairedFamily
from longform.results.ranked import packed_values, ranked_values
from longform.studies import pairwise
from longform.tables.table import DATASET, Axes, Column, Table

Row = Mapping[str, Any]
NAME = "retrieval_pairs"
BEST = f"{NAME}_best"
_FAMILY = ("dataset", "measure")


class RetrievalPairs:
    """All pairs of rankers by each measure and cutoff, and the best ranker of each against the others."""

    name = NAME
    needs = ("rankings", "contexts", "qrels", "summaries")

    def result(self, evidence: Evidence) -> list[Table]:
        """Return the tables of every data set, measure and cutoff; none of fewer than two rankers with gold."""
        rankings, contexts = evidence.rankings(), evidence.contexts()
        judged = evidence.gold if len(rankings) + len(contexts) else {}
        texts = pl.col("query_id", "dataset", "haystack_id", "cluster").cast(pl.String)
        every = evidence.frames.summaries.select(texts, "summary_id", "summary_repeat").collect()
        queries = every.unique("query_id", keep="last", maintain_order=True)
        listed = [measure for measure in evidence.ranking_measures if measure in MEASURES]
        values = ranked_values(rankings, judged, queries, listed, evidence.cutoffs)
        if AT_BUDGET in evidence.ranking_measures:
            packed = packed_values(contexts, judged).filter(pl.col("n") > 0).join(queries, on="query_id")
            budget = pl.format("{} tokens", pl.col("budget_tokens").map_elements("{:,}".format, pl.String))
            named = pl.format("{}, {}", "system", pl.coalesce(budget, pl.lit("no limit")))
            values = pl.concat([values, packed.with_columns(system=named)], how="diagonal_relaxed")
        found = [
            _family(own, seed=evidence.averaging.seed)
            for dataset in datasets_of(queries)
            for own in of_dataset(values, dataset).partition_by("measure", maintain_order=True)
            if own["system"].n_unique() > 1
        ]
        return tables(pairwise.tables(NAME, BEST, pairwise.parts(found)))


def _family(values: pl.DataFrame, *, seed: int) -> PairedFamily:
    """Test the rankers of one data set and measure."""
    members = [Member([str(system)]) for system in values["system"].unique(maintain_order=True)]
    name = values.item(0, "measure")
    measure = Described(name, title=AT_BUDGET.title if name == AT_BUDGET.name else "")
    sample = pairwise.sample_of(values, cluster_kind(values), values["cluster"].n_unique())
    of_queries = values_of(values, "pooled")
    return PairedFamily(measure, members, of_queries, sample, signs_seed(seed), dataset=values.item(0, "dataset"))


def tables(found: Sequence[Table]) -> list[Table]:
    """Return tables of pairs, and the one that a page shows: the best ranker of each measure against each other one."""
    pairs, systems, families, _ = found
    last: dict[tuple[Any, ...], Row] = {}
    for row in families.rows:  # of each measure the largest cutoff stands last
        if not row["left_out"]:
            last[row["dataset"], str(row["measure"]).partition("@")[0]] = row
    shown = [row for family in last.values() for row in _best_rows(family, pairs.rows, systems.rows)]
    best = Table(
        BEST,
        [
            DATASET,
            Column("measure", shown=False),
            Column("title", title="measure"),
            Column("best"),
            Column("other"),
            Column(
                "difference",
                "difference",
                told="the first less the second, in points",
                unknown="no query in common",
                brackets="intervals that hold all differences of a measure together",
            ),
            Column("p", "p", told="adjusted for all pairs of the measure (max-T of Westfall and Young)"),
            Column("n_queries", "count", "queries"),
            Column("finding"),
        ],
        (),
        title="Rankers by pairs",
        told="The best ranker of each measure, at its largest cutoff, against each other one.",
        key=["dataset", "measure", "other"],
        plot=Axes("forest", "difference", "other", apart=["dataset", "measure", "best"]),
        page="retrieval",
    ).having(shown)
    return [*found, best]


def _best_rows(family: Row, pairs: Sequence[Row], systems: Sequence[Row]) -> Iterator[Row]:
    scores = {row["system"]: row["score"] for row in systems if _family_of(row) == _family_of(family)}
    best = family["leader"] or max(scores, key=lambda system: scores[system])
    for row in pairs:
        if _family_of(row) == _family_of(family) and best in (row["one"], row["other"]):
            difference = row["difference"] if row["one"] == best else _turned(row["difference"])
            yield {
                **{name: family[name] for name in (*_FAMILY, "title", "n_queries")},
                "best": best,
                "other": row["other"] if row["one"] == best else row["one"],
                "difference": difference,
                "p": row["p"],
                "finding": _finding(difference, family),
            }


def _family_of(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _FAMILY)


def _turned(difference: Any) -> Any:
    value, low, high = (one if one is None else -one for one in difference[:3])
    return difference._replace(value=value, low=high, high=low)


def _finding(difference: Any, family: Row) -> str:
    if difference.value is None:
        return "no query in common"
    if family["smallest_p"] > family["level"]:
        return TOO_FEW
    if difference.low is None or difference.low <= 0 <= difference.high:
        return NOT_DISTINGUISHABLE
    return "better" if difference.value > 0 else "worse"
