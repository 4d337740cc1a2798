"""Bullets before and after their citations were repaired, drawn so that nobody picks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from longform.evidence.scan import pl
from longform.keys import content_key
from longform.metrics.coverage import citation_quality
from longform.repair.by_matrix import best_evidence
from longform.results.evidence import Evidence, SummaryFacts
from longform.support.index import SupportIndex
from longform.text.citations import without_citations

SHOWN = {"better": 3, "worse": 2, "unchanged": 1}
"""Examples of each kind; drawn by a hash of what they are, so that nobody picks them."""

_TWINS_AT_ONCE = 128


Example = Mapping[str, Any]
"""
A bullet before and after, as a row of a table: `kind` is better, worse or unchanged; `before`, `after` and `gold` are
numbers of documents as texts; `evidence` stands in `evidence_document`, null if no document supports the bullet.
"""


def drawn(evidence: Evidence, twins: pl.DataFrame, judge: str | None) -> tuple[Mapping[str, int], list[Example]]:
    """Return how many changes of each kind there are by the links of *judge*, and some of each; None: no change."""
    counted: Counter[str] = Counter()
    kept: list[Change] = []
    for found in _changes(evidence, twins, judge) if judge else ():
        counted.update(change.kind for change in found)
        kept = drawn_examples([*kept, *found])
    shown = {change.original_id for change in kept}
    facts = {summary["summary_id"]: summary for summary in evidence.unfolded(shown)}
    return {kind: counted[kind] for kind in SHOWN}, list(_rows(evidence, kept, facts))


def examples_in(tables: Mapping[str, Mapping[str, Any]]) -> list[Example]:
    """Return the examples that stand in the tables of results."""
    return list(tables.get("repair_examples", {}).get("rows", []))


def _changes(evidence: Evidence, twins: pl.DataFrame, judge: str) -> Iterator[list[Change]]:
    """Yield the changes of some twins at a time."""
    for some in twins.select("summary_id", "original").iter_slices(_TWINS_AT_ONCE):
        originals = dict(some.iter_rows())
        ids = {*originals, *originals.values()}
        facts = {summary["summary_id"]: summary for summary in evidence.unfolded(ids)}
        queries = {summary["query_id"] for summary in facts.values()}
        gold = {target["target_id"]: target["gold"] for query in queries for target in evidence.query(query)["targets"]}
        yield changes(facts, originals, gold, judge=judge)


class Change(NamedTuple):
    """A bullet that covers an insight, and what repair did to its citations."""

    original_id: str
    twin_id: str
    unit: int
    target_id: str
    before: tuple[int, ...]  # document numbers
    after: tuple[int, ...]
    gold: tuple[int, ...]  # of the documents that state the insight

    @property
    def f1(self) -> tuple[float, float]:
        """Citation score before and after, in [0, 1]."""
        return citation_quality(self.before, self.gold).f1, citation_quality(self.after, self.gold).f1

    @property
    def kind(self) -> str:
        """better, worse or unchanged."""
        before, after = self.f1
        if after == before:
            return "unchanged"
        return "better" if after > before else "worse"


def changes(
    summaries: Mapping[str, SummaryFacts],
    originals: Mapping[str, str],
    gold: Mapping[str, Sequence[int]],
    *,
    judge: str,
) -> list[Change]:
    """
    Every bullet that *judge* linked to a covered insight whose documents are known.

    *summaries* and *originals*, those of twins, stand by summary id; *gold* has numbers of documents by target id.
    """
    return [
        Change(
            original_id=original_id,
            twin_id=twin_id,
            unit=unit,
            target_id=verdict["target_id"],
            before=tuple(before[unit]["citations"]),
            after=tuple(after[unit]["citations"]),
            gold=tuple(gold[verdict["target_id"]]),
        )
        for twin_id, original_id in originals.items()
        for before, after in [(summaries[original_id]["bullets"], summaries[twin_id]["bullets"])]
        for verdict in summaries[original_id]["verdicts"]
        if verdict["judge"] == judge
        and verdict["answer"] in ("full", "partial")
        and (unit := verdict["linked_unit"]) is not None
        and unit in range(len(before))
        and gold.get(verdict["target_id"])
    ]


def drawn_examples(found: Iterable[Change]) -> list[Change]:
    """A few changes of each kind, the same ones for the same changes in any order."""
    ordered = sorted(found, key=lambda change: content_key(change.original_id, change.unit, change.target_id))
    return [change for kind, n in SHOWN.items() for change in [other for other in ordered if other.kind == kind][:n]]


def _rows(evidence: Evidence, kept: Sequence[Change], facts: Mapping[str, SummaryFacts]) -> Iterator[Example]:
    sources = lru_cache(maxsize=2)(partial(_sources, evidence))
    for change in kept:
        summary = facts[change.original_id]
        bullet, query = summary["bullets"][change.unit]["text"], evidence.query(summary["query_id"])
        (insight,) = (target["text"] for target in query["targets"] if target["target_id"] == change.target_id)
        best = best_evidence(bullet, change.after, *sources(query["haystack"]))
        before, after = change.f1
        yield {
            "kind": change.kind,
            "summarizer": summary["summarizer"],
            "setting": summary["setting"],
            "summary_id": change.original_id,
            "repaired_id": change.twin_id,
            "bullet": without_citations(bullet),
            "insight": insight,
            "f1_before": before,
            "f1_after": after,
            "before": list(map(str, change.before)),
            "after": list(map(str, change.after)),
            "gold": list(map(str, change.gold)),
            "evidence_document": None if best is None else best.number,
            "evidence": None if best is None else best.text,
        }


def _sources(evidence: Evidence, haystack_id: str) -> tuple[SupportIndex, list[int]]:
    documents = evidence.documents(haystack_id)
    return SupportIndex([document.text for document in documents]), [document.number for document in documents]
