"""Bullets before and after their citations were repaired, drawn so that nobody picks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypedDict

from longform.keys import content_key
from longform.metrics.coverage import citation_quality
from longform.repair.by_matrix import best_evidence
from longform.results.drilldown import SummaryFacts
from longform.results.evidence import Evidence, Twins
from longform.support.index import SupportIndex
from longform.text.citations import without_citations

SHOWN = {"better": 3, "worse": 2, "unchanged": 1}
"""Examples of each kind; drawn by a hash of what they are, so that nobody picks them."""

_TWINS_AT_ONCE = 128


class CitedDocument(TypedDict):
    number: int
    right: bool  # whether it states the insight


class Quoted(CitedDocument):
    text: str


class Example(TypedDict):
    """A bullet before and after."""

    kind: str  # better, worse, unchanged
    summarizer: str
    setting: str
    summary_id: str
    repaired_id: str
    bullet: str
    insight: str
    f1: list[float]  # before and after
    before: list[CitedDocument]
    after: list[CitedDocument]
    gold: list[int]
    evidence: Quoted | None  # null: no document supports it


class Drawn(NamedTuple):
    """
    Changes of bullets.

    Attributes:
        changes: How many there are of each kind.
        examples: Some of each.
    """

    changes: Mapping[str, int]
    examples: Sequence[Example]


def drawn(evidence: Evidence, twins: Twins, judge: str | None) -> Drawn:
    """Return the changes of bullets by the links of *judge*; None: there are none."""
    counted: Counter[str] = Counter()
    kept: list[Change] = []
    for found in _changes(evidence, twins, judge) if judge else ():
        counted.update(change.kind for change in found)
        kept = drawn_examples([*kept, *found])
    shown = {change.original_id for change in kept}
    facts = {summary["summary_id"]: summary for summary in evidence.unfolded(shown)}
    writer = _Writer(evidence)
    return Drawn({kind: counted[kind] for kind in SHOWN}, [writer.row(one, facts[one.original_id]) for one in kept])


def example_row(example: Example) -> dict[str, Any]:
    """Return an example as a row of a table."""
    names = ("kind", "summarizer", "setting", "summary_id", "repaired_id", "bullet", "insight")
    kept: dict[str, Any] = {name: value for name, value in example.items() if name in names}
    evidence = example["evidence"]
    return {
        **kept,
        "f1_before": example["f1"][0],
        "f1_after": example["f1"][1],
        "before": [str(one["number"]) for one in example["before"]],
        "after": [str(one["number"]) for one in example["after"]],
        "gold": [str(number) for number in example["gold"]],
        "evidence_document": None if evidence is None else evidence["number"],
        "evidence": None if evidence is None else evidence["text"],
    }


def example_of(row: Mapping[str, Any]) -> Example:
    """Return the example that `example_row` wrote."""
    gold = [int(number) for number in row["gold"]]
    number = row.get("evidence_document")
    return {
        "kind": row["kind"],
        "summarizer": row["summarizer"],
        "setting": row["setting"],
        "summary_id": row["summary_id"],
        "repaired_id": row["repaired_id"],
        "bullet": row["bullet"],
        "insight": row["insight"],
        "f1": [row["f1_before"], row["f1_after"]],
        "before": _marked([int(cited) for cited in row["before"]], gold),
        "after": _marked([int(cited) for cited in row["after"]], gold),
        "gold": gold,
        "evidence": None if number is None else {"number": number, "right": number in gold, "text": row["evidence"]},
    }


def examples_in(tables: Mapping[str, Mapping[str, Any]]) -> list[Example]:
    """Return the examples that stand in the tables of results."""
    return [example_of(row) for row in tables.get("repair_examples", {}).get("rows", [])]


def _changes(evidence: Evidence, twins: Twins, judge: str) -> Iterator[list[Change]]:
    """Yield the changes of some twins at a time."""
    pairs = iter(twins.originals.items())
    while originals := dict(islice(pairs, _TWINS_AT_ONCE)):
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

    Args:
        summaries: Summary id -> its `bullets` (with `citations`) and `verdicts`.
        originals: Summary id of each twin -> of its original.
        gold: Target id -> numbers of the documents that state it.
        judge: Whose links count.
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


class _Writer:
    """Holds the sentences of the last haystacks it found evidence in."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._sources = lru_cache(maxsize=2)(self._read)

    def row(self, change: Change, summary: SummaryFacts) -> Example:
        bullet, query = summary["bullets"][change.unit]["text"], self._evidence.query(summary["query_id"])
        (insight,) = (target["text"] for target in query["targets"] if target["target_id"] == change.target_id)
        index, numbers = self._sources(query["haystack"])
        evidence = best_evidence(bullet, change.after, index, numbers)
        before, after = change.f1
        return {
            "kind": change.kind,
            "summarizer": summary["summarizer"],
            "setting": summary["setting"],
            "summary_id": change.original_id,
            "repaired_id": change.twin_id,
            "bullet": without_citations(bullet),
            "insight": insight,
            "f1": [before, after],
            "before": _marked(change.before, change.gold),
            "after": _marked(change.after, change.gold),
            "gold": list(change.gold),
            "evidence": None
            if evidence is None
            else {"number": evidence.number, "right": evidence.number in change.gold, "text": evidence.text},
        }

    def _read(self, haystack_id: str) -> tuple[SupportIndex, list[int]]:
        documents = self._evidence.documents(haystack_id)
        return SupportIndex([document.text for document in documents]), [document.number for document in documents]


def _marked(cited: Sequence[int], gold: Sequence[int]) -> list[CitedDocument]:
    return [{"number": number, "right": number in gold} for number in cited]
